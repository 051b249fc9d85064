// Twist angle about a marker axis: theta_x, theta_y, theta_z. It is the rotation about axis k in the split of q into a
// rotation about k after a swing about an axis normal to k, and the joint angle where only that axis is free:
//   θ = 2 atan2(e_k, e0).
// With n = e0² + e_k²,  θ̇ = 2 (e0 ė_k − e_k ė0)/n. Put in q̇ = ½ ω q (joints/jet.hpp) and split v = e_k i + p, p ⟂ i:
//   θ̇ = ω·(i + (e0 p×i + e_k p)/n).
// The quadratic parts of q̈ are −¼|ω|² q, parallel to q, and cancel in e0 ë_k − e_k ë0; what is left is
//   quadratic = −θ̇ ṅ/n,   ṅ = 2 (e0 ė0 + e_k ė_k).
// Valid for any swing below π. At a swing of π (n = 0) no twist is defined: the value is 0, the gradient i.
#include "joints/coordinate.hpp"
#include "joints/pole.hpp"

namespace bellcrank {

namespace {

template <int axis, class S>
void twist(const RelativeMotionT<S>& m, std::span<const S>, CoordinateValueT<S>& out) {
    using std::atan2;
    const Vec3T<S> i{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    const Vec3T<S> v{m.q.x, m.q.y, m.q.z};
    const S e0 = m.q.w, ek = dot(v, i);
    const S n = e0 * e0 + ek * ek;
    out.dr = {0.0, 0.0, 0.0};
    if (n < 1e-300) {
        out.value = 0.0;
        out.domega = i;
        out.quadratic = 0.0;
        return;
    }
    const Vec3T<S> p = v - ek * i;
    out.value = 2.0 * atan2(ek, e0);
    out.domega = i + (1.0 / n) * (e0 * cross(p, i) + ek * p);
    const S e0_rate = -0.5 * dot(v, m.omega);
    const S ek_rate = 0.5 * dot(e0 * i + cross(v, i), m.omega);
    out.quadratic = -2.0 * dot(out.domega, m.omega) * (e0 * e0_rate + ek * ek_rate) / n;
}

template <int axis>
Expression twist_formula(SymbolicPose& pose, std::span<const Expression>) {
    return 2.0 * atan2(pose.quaternion(axis + 1), pose.quaternion(0));
}

template <int k>
constexpr auto kComponent = [](auto&& pose) { return pose.quaternion(k); };

const CoordinateRegistration theta_x({"theta_x", twist<0, double>, twist<0, Dual4>, twist_formula<0>,
                                      Angle::of_bodies});
const CoordinateRegistration theta_y({"theta_y", twist<1, double>, twist<1, Dual4>, twist_formula<1>,
                                      Angle::of_bodies});
const CoordinateRegistration theta_z({"theta_z", twist<2, double>, twist<2, Dual4>, twist_formula<2>,
                                      Angle::of_bodies});
const DirectionRegistration half_x("theta_x", {direction_along<kComponent<1>, kComponent<0>>, AtPole::goes_on, 0b1100});
const DirectionRegistration half_y("theta_y", {direction_along<kComponent<2>, kComponent<0>>, AtPole::goes_on, 0b1010});
const DirectionRegistration half_z("theta_z", {direction_along<kComponent<3>, kComponent<0>>, AtPole::goes_on, 0b0110});

}  // namespace

}  // namespace bellcrank
