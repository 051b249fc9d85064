#include "contacts/contact_law.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kInLine = 1e-12;  // sine of an angle that is rounding: its direction, too

// The nearest vector of at most that length.
Vec3 within(double limit, const Vec3& v) {
    const double size = norm(v);
    return size > limit ? (limit / size) * v : v;
}

// s where a point slips: |s| = ρ, and what the way w adds along s is lost, ds = dw − ŝ (ŝ · dw). On a straight way the
// angle φ of s to it falls by tan(φ/2) = tan(φ₀/2) exp(−|w|/ρ).
Vec3 dragged(const Vec3& s, const Vec3& way, double limit) {
    const double length = norm(way), size = norm(s);
    if (!(size > 0.0)) return (length > 0.0 ? limit / length : 0.0) * way;
    if (!(length > 0.0)) return (limit / size) * s;
    const Vec3 along = (1.0 / length) * way, before = (1.0 / size) * s;
    const double cosine = dot(before, along);
    const Vec3 aside = before - cosine * along;
    const double sine = norm(aside);
    if (sine < kInLine) return (cosine < 0.0 ? -limit : limit) * along;
    const double half = cosine < 0.0 ? (1.0 - cosine) / sine : sine / (1.0 + cosine);
    const double angle = 2.0 * std::atan(half * std::exp(-length / limit));
    return (limit * std::cos(angle)) * along + (limit * std::sin(angle) / sine) * aside;
}

}  // namespace

// With the tangential stiffness kₜ = r dF/dδ = r n F/δ, friction reaches μ F at |s| = μ δ / (r n): a length that
// depends on the depth alone, and grows with it. So whether a point slips is a matter of positions and velocities.
ContactForce contact_force(const ContactLaw& law, const TouchingPoint& at) {
    ContactForce out{0.0, {0.0, 0.0, 0.0}, true, {0.0, 0.0, 0.0}, 0.0, 0.0, 0.0};
    const double friction = at.slips ? law.kinetic_friction : law.static_friction;
    const double per_depth = friction / (law.shear_ratio * law.exponent);
    const double depth = std::max(0.0, at.depth);
    const double first = law.exponent == 1.0 ? law.stiffness : law.stiffness * std::pow(depth, law.exponent - 1.0);
    const double limit = per_depth * depth;
    const double damped = std::max(0.0, 1.0 + law.dissipation * at.approach);
    out.normal = first * depth * damped;
    out.stored_energy = first * depth * depth / (law.exponent + 1.0);
    if (friction == 0.0) return out;
    const Vec3 free = at.shear + at.way;
    const double size = norm(free);
    out.shear = !(limit > 0.0) ? Vec3{0.0, 0.0, 0.0} : at.slips ? dragged(at.shear, at.way, limit) : free;
    out.reach = limit > 0.0 ? size / limit : size > 0.0 ? 2.0 : 1.0;
    const double held = norm(out.shear);
    out.sliding = (held > 0.0 ? dot(at.slip, out.shear) / held : norm(at.slip)) - per_depth * at.approach;
    const Vec3 spring = within(limit, out.shear);
    const double stiffness = law.shear_ratio * law.exponent * first * damped;
    const Vec3 wanted = -stiffness * (spring + law.shear_time * at.slip);
    out.sticks = !at.slips && out.reach < 1.0 && norm(wanted) <= friction * out.normal;
    out.friction = within(friction * out.normal, wanted);
    out.stored_energy += 0.5 * stiffness * dot(out.shear, out.shear);
    return out;
}

}  // namespace bellcrank
