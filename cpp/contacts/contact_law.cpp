#include "contacts/contact_law.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/dual.hpp"

namespace bellcrank {

namespace {

// The nearest vector of at most that length.
template <class S>
Vec3T<S> within(const S& limit, const Vec3T<S>& v) {
    const S size = norm(v);
    return size > limit ? (limit / size) * v : v;
}

// h(a) from h and h' at a number.
double chain(double, double h, double) { return h; }
Dual4 chain(const Dual4& a, double h, double h1) { return Dual4::chain(a, h, h1); }

double power(double base, double exponent) { return std::pow(base, exponent); }
Dual4 power(const Dual4& base, const Dual4& exponent) {
    const double h = std::pow(base.value, exponent.value);
    if (!(base.value > 0.0)) return h;
    return Dual4::chain(base, exponent, h, exponent.value * h / base.value, std::log(base.value) * h);
}
// Most contacts are linear springs, whose derivative by the exponent counts all the same.
bool is_linear(double exponent) { return exponent == 1.0; }
bool is_linear(const Dual4&) { return false; }

// s where a point slips: |s| = ρ, and what the way w adds along s is lost, ds = dw − ŝ (ŝ · dw). On a straight way the
// angle φ of s to it falls by tan(φ/2) = tan(φ₀/2) exp(−|w|/ρ). With g = 1 − exp(−|w|/ρ) and a = g cos φ₀,
//   s = ρ ((2 − (g − a)) g w/|w| + 2 (1 − g) ŝ₀) / (2 − (2 − g)(g − a)),
// where nothing cancels on short ways.
template <class S>
Vec3T<S> dragged(const Vec3T<S>& s, const Vec3T<S>& way, const S& limit) {
    const S size = norm(s);
    const bool moves = dot(way, way) > 0.0;
    if (!(size > 0.0)) return moves ? (limit / norm(way)) * way : way;
    const Vec3T<S> before = (1.0 / size) * s;
    S lost = 0.0, by_way = 1.0 / limit;  // g, and g/|w|
    if (moves) {
        const S length = norm(way), part = -length / limit;
        lost = -chain(part, std::expm1(value_part(part)), std::exp(value_part(part)));
        by_way = lost / length;
    }
    const S aside = lost - by_way * dot(before, way), n = 2.0 - (2.0 - lost) * aside;
    if (!(n > 0.0)) return -limit * before;  // against s, and ρ is nothing beside it
    return (limit / n) * ((2.0 - aside) * by_way * way + 2.0 * (1.0 - lost) * before);
}

}  // namespace

// With the tangential stiffness kₜ = r dF/dδ = r n F/δ, friction reaches μ F at |s| = μ δ / (r n): a length that
// depends on the depth alone, and grows with it. So whether a point slips is a matter of positions and velocities.
template <class S>
ContactForceT<S> contact_force(const ContactLawT<S>& law, const TouchingPointT<S>& at) {
    using std::max;
    const Vec3T<S> none{0.0, 0.0, 0.0};
    ContactForceT<S> out{0.0, none, true, none, 0.0, 0.0, 0.0};
    const S friction = at.slips ? law.kinetic_friction : law.static_friction;
    const S per_depth = friction / (law.shear_ratio * law.exponent);
    const S depth = max(S(0.0), at.depth);
    const S first = is_linear(law.exponent) ? law.stiffness : law.stiffness * power(depth, law.exponent - 1.0);
    const S limit = per_depth * depth;
    const S damped = max(S(0.0), 1.0 + law.dissipation * at.approach);
    out.normal = first * depth * damped;
    out.stored_energy = first * depth * depth / (law.exponent + 1.0);
    if (!(friction > 0.0)) return out;
    const Vec3T<S> free = at.shear + at.way;
    const S size = norm(free);
    out.shear = !(limit > 0.0) ? none : at.slips ? dragged(at.shear, at.way, limit) : free;
    out.reach = limit > 0.0 ? size / limit : size > 0.0 ? S(2.0) : S(1.0);
    const S held = norm(out.shear);
    out.sliding = (held > 0.0 ? dot(at.slip, out.shear) / held : norm(at.slip)) - per_depth * at.approach;
    const Vec3T<S> spring = within(limit, out.shear);
    const S stiffness = law.shear_ratio * law.exponent * first * damped;
    const Vec3T<S> wanted = -stiffness * (spring + law.shear_time * at.slip);
    out.sticks = !at.slips && out.reach < 1.0 && norm(wanted) <= friction * out.normal;
    out.friction = within<S>(friction * out.normal, wanted);
    out.stored_energy += 0.5 * stiffness * dot(out.shear, out.shear);
    return out;
}

template ContactForce contact_force(const ContactLaw&, const TouchingPoint&);
template ContactForceT<Dual4> contact_force(const ContactLawT<Dual4>&, const TouchingPointT<Dual4>&);

}  // namespace bellcrank
