// Components of the relative position r in marker-1 axes: x, y, z.
#include "joints/coordinate.hpp"

namespace bellcrank {

namespace {

template <int axis>
void position(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    const double r[3] = {m.r.x, m.r.y, m.r.z};
    out.value = r[axis];
    out.dr = {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    out.domega = {0.0, 0.0, 0.0};
    out.quadratic = 0.0;
}

const CoordinateRegistration x("x", position<0>);
const CoordinateRegistration y("y", position<1>);
const CoordinateRegistration z("z", position<2>);

}  // namespace

}  // namespace bellcrank
