// The part of a rope between two wheels, tangent to both, with what it takes from their arcs. ρ = R₁ − R₂ is the only
// parameter: the difference of the signed radii, positive where the rope passes counter-clockwise about z. With the
// distance D of the origins and that of their projections, d, on marker 1's xy-plane, the rope leaves the line of
// centres by the angle asin(ρ/d), and its tangent is √(D² − ρ²) long. A rope over wheels is
//   L = Σ φ + Σ R (azimuth of where it goes − azimuth of where it comes from),  φ = √(D² − ρ²) + ρ asin(ρ/d)
// (docs/theory/ropes.md): the sum over wheels takes azimuths of centres, so that no arc depends on two neighbours.
// With p = d²,  dφ/dp = ½/√(D² − ρ²) − ½ ρ²/(p √(p − ρ²)),  which is √(p − ρ²)/(2p) in the plane.
// Where d ≤ |ρ| one wheel is within the other, and there is no tangent: φ then has the value of the nearest place that
// has one, and no derivatives.
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "joints/jet.hpp"

namespace bellcrank {

namespace {

template <class S>
void tangent_span(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    using std::atan2, std::sqrt;
    const JetPose<S> pose(m);
    const JetT<S> x = pose.position(0), y = pose.position(1), z = pose.position(2);
    const S rho = params[0], square = rho * rho;
    const JetT<S> p = x * x + y * y, straight = p + z * z;
    if (!(p.value > square) || !(straight.value > 1e-300)) {
        constexpr double quarter_turn = 0.5 * std::numbers::pi;
        out = {S((rho < 0.0 ? -quarter_turn : quarter_turn) * rho), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0};
        return;
    }
    const S length = sqrt(straight.value - square), w = sqrt(p.value - square);
    const JetT<S> tangent = chain(straight, length, 0.5 / length, -0.25 / (length * length * length));
    const S slope = -0.5 * square / (p.value * w);
    const S bend = -slope * (1.0 / p.value + 0.5 / (w * w));
    assign(out, tangent + chain(p, rho * atan2(rho, w), slope, bend));
}

Expression tangent_span_formula(SymbolicPose& pose, std::span<const Expression> params) {
    const Vec3T<Expression>& r = pose.position();
    const Expression rho = params[0], left = r.x * r.x + r.y * r.y - rho * rho;
    return sqrt(left + r.z * r.z) + rho * atan2(rho, sqrt(left));
}

void check_span(std::span<const double> params) {
    if (params.size() != 1 || !std::isfinite(params[0]))
        throw std::invalid_argument("a tangent span needs the difference of two radii");
}

const CoordinateRegistration registration({"tangent_span", tangent_span<double>, tangent_span<Dual4>,
                                           tangent_span_formula, Angle::none, check_span});

}  // namespace

}  // namespace bellcrank
