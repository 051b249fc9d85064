// Components log_x, log_y, log_z of the logarithm of a relative pose: with rot_x, rot_y, rot_z they are the strain,
// times the length, of a rod that is bent alike everywhere.
#include "joints/logarithm.hpp"

namespace bellcrank {

namespace {

// v×r, component `axis`.
template <int axis>
constexpr auto kAcross = [](auto&& pose) {
    constexpr int j = (axis + 1) % 3, k = (axis + 2) % 3;
    return pose.quaternion(j + 1) * pose.position(k) - pose.quaternion(k + 1) * pose.position(j);
};

template <int axis>
constexpr auto kLogPosition = [](auto&& pose, auto) {
    constexpr int j = (axis + 1) % 3, k = (axis + 2) % 3;
    const auto v = [&](int i) { return pose.quaternion(i + 1); };
    const auto C = v(0) * v(0) + v(1) * v(1) + v(2) * v(2);
    const auto twice = v(j) * kAcross<k>(pose) - v(k) * kAcross<j>(pose);
    return pose.position(axis) - function_f(C) * (pose.quaternion(0) * kAcross<axis>(pose)) + function_k(C) * twice;
};

const CoordinateRegistration log_x(kind_of<kLogPosition<0>>("log_x"));
const CoordinateRegistration log_y(kind_of<kLogPosition<1>>("log_y"));
const CoordinateRegistration log_z(kind_of<kLogPosition<2>>("log_z"));

}  // namespace

}  // namespace bellcrank
