// Components of the relative position r in marker-1 axes: x, y, z.
#include "joints/formula.hpp"

namespace bellcrank {

namespace {

template <int axis>
constexpr auto kPosition = [](auto&& pose, auto) { return pose.position(axis); };

const CoordinateRegistration x(kind_of<kPosition<0>>("x"));
const CoordinateRegistration y(kind_of<kPosition<1>>("y"));
const CoordinateRegistration z(kind_of<kPosition<2>>("z"));

}  // namespace

}  // namespace bellcrank
