// The angle asin(ρ/d) from the line of centres to the rope between a wheel about marker 1's z axis and origin 2, or a
// wheel there: ρ = R₁ − R₂ is the difference of the signed radii as in tangent_span, and d the distance of origin 2
// from the axis. With p = d² and w = √(p − ρ²),
//   d asin(ρ/d)/dp = −ρ/(2 p w).
// Where d ≤ |ρ| there is no tangent: the angle is then that of the nearest place that has one.
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "joints/jet.hpp"

namespace bellcrank {

namespace {

template <class S>
void tangent_slant(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    using std::atan2, std::sqrt;
    const JetPose<S> pose(m);
    const JetT<S> x = pose.position(0), y = pose.position(1), p = x * x + y * y;
    const S rho = params[0], square = rho * rho;
    if (!(p.value > square)) {
        out = {S((rho < 0.0 ? -0.5 : 0.5) * std::numbers::pi), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0};
        return;
    }
    const S w = sqrt(p.value - square), slope = -0.5 * rho / (p.value * w);
    const S bend = -slope * (1.0 / p.value + 0.5 / (w * w));
    assign(out, chain(p, atan2(rho, w), slope, bend));
}

Expression tangent_slant_formula(SymbolicPose& pose, std::span<const Expression> params) {
    const Vec3T<Expression>& r = pose.position();
    return atan2(params[0], sqrt(r.x * r.x + r.y * r.y - params[0] * params[0]));
}

void check_slant(std::span<const double> params) {
    if (params.size() != 1 || !std::isfinite(params[0]))
        throw std::invalid_argument("a tangent slant needs the difference of two radii");
}

const CoordinateRegistration slant_registration({"tangent_slant", tangent_slant<double>, tangent_slant<Dual4>,
                                                 tangent_slant_formula, Angle::none, check_slant});

}  // namespace

}  // namespace bellcrank
