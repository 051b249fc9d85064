// Coordinates that only development builds contain: "rig_radius_squared", the squared distance of origin 2 from a line
// parallel to marker 1's z axis, at x = a (parameter a):
//   φ = (r_x − a)² + r_y²,
// and the same without a formula.
#include <stdexcept>

#include "joints/formula.hpp"

namespace bellcrank {

namespace {

constexpr auto kRadiusSquared = [](auto&& pose, auto params) {
    const auto x = pose.position(0), y = pose.position(1);
    return x * x + y * y - 2.0 * params[0] * x + params[0] * params[0];
};

void check_radius(std::span<const double> p) {
    if (p.size() != 1) throw std::invalid_argument("one number is needed: the line's place on marker 1's x axis");
}

CoordinateKind without_formula() {
    CoordinateKind kind = kind_of<kRadiusSquared>("rig_radius_without_formula", Angle::none, check_radius);
    kind.formula = nullptr;
    return kind;
}

const CoordinateRegistration radius(kind_of<kRadiusSquared>("rig_radius_squared", Angle::none, check_radius));
const CoordinateRegistration refused(without_formula());

}  // namespace

}  // namespace bellcrank
