// Components e0..e3 of the relative quaternion q = (e0, v): what the lock formulation locks (docs/theory/lagrange.md).
#include "joints/formula.hpp"

namespace bellcrank {

namespace {

template <int k>
constexpr auto kQuaternion = [](auto&& pose, auto) { return pose.quaternion(k); };

const CoordinateRegistration e0(kind_of<kQuaternion<0>>("e0"));
const CoordinateRegistration e1(kind_of<kQuaternion<1>>("e1"));
const CoordinateRegistration e2(kind_of<kQuaternion<2>>("e2"));
const CoordinateRegistration e3(kind_of<kQuaternion<3>>("e3"));

}  // namespace

}  // namespace bellcrank
