// Components rot_x, rot_y, rot_z of the rotation vector φ = log q on its principal branch, |φ| < π.
//
// For ω in marker-1 axes (q = exp φ, q̇ = ½ ω q) the differential of the logarithm gives, with a = |φ|,
//   φ̇ = ω − ½ φ×ω + c φ×(φ×ω),   c(a) = (1 − (a/2) cot(a/2))/a²,
// Bortz's equation with the sign of the middle term for axes that do not turn. Its row k is, moved onto ω,
//   domega = i_k + ½ φ×i_k + c φ×(φ×i_k).
// The quadratic part is the derivative of that map along the motion, applied to ω:
//   −½ φ̇×ω + d (φ·ω) φ×(φ×ω) + c (φ̇×(φ×ω) + φ×(φ̇×ω)),   d = c'(a)/a,
// where ȧ = φ·ω/a was used (φ·φ̇ = φ·ω).
// Where parameters give the components of a vector nearby, turned_x, turned_y and turned_z are those of the logarithm
// (a + 2πn) φ/a that is nearest to it: a rotation that is followed past half a turn. Whole turns (a + 2πn a multiple of
// 2π, where no direction can be seen) are passed along the axis that they were made about.
// Near a = 0 both c and d come from  c = Σ_n 2ζ(2n)/(2π)^{2n} a^{2n−2}, the cotangent's series; at a = π c is 1/π².
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "joints/logarithm.hpp"
#include "joints/pole.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kFullTurn = 2.0 * std::numbers::pi;
constexpr double kPole = 1e-6;  // rad: that near to a whole turn its axis is the one before

Vec3 principal_log(const Quat& q) { return quaternion_log(q); }

// d log q = ω − ½ φ×ω + c φ×(φ×ω), the map of the head of this file, for the small turn ω = 2 vec(dq q*).
Vec3T<Dual4> principal_log(const QuatT<Dual4>& q) {
    const Quat at{q.w.value, q.x.value, q.y.value, q.z.value};
    const Vec3 phi = quaternion_log(at);
    double c, d;
    log_coefficients(dot(phi, phi), c, d);
    Vec3T<Dual4> out{phi.x, phi.y, phi.z};
    for (int k = 0; k < 4; ++k) {
        const Quat turn = Quat{q.w.d[k], q.x.d[k], q.y.d[k], q.z.d[k]} * conjugate(at);
        const Vec3 omega{2.0 * turn.x, 2.0 * turn.y, 2.0 * turn.z}, across = cross(phi, omega);
        const Vec3 moved = omega - 0.5 * across + c * cross(phi, across);
        out.x.d[k] = moved.x, out.y.d[k] = moved.y, out.z.d[k] = moved.z;
    }
    return out;
}

// The logarithm of q nearest to `near`, and whether it is so near to a whole turn that q has no axis.
template <class S>
std::pair<Vec3T<S>, bool> nearest_log(const QuatT<S>& q, const Vec3T<S>& near) {
    const Vec3T<S> phi = principal_log(q);
    if (std::sqrt(value_part(dot(phi, phi))) >= kPole) {
        const S a = norm(phi);
        const double turns = std::round(value_part((dot(near, phi) / a - a) / kFullTurn));
        return {(1.0 + kFullTurn * turns / a) * phi, false};
    }
    const double turns = std::round(std::sqrt(value_part(dot(near, near))) / kFullTurn);
    if (turns == 0.0) return {phi, false};
    return {phi + (kFullTurn * turns / norm(near)) * near, true};
}

template <int axis, class S>
void rotation_vector(const RelativeMotionT<S>& m, std::span<const S> near, CoordinateValueT<S>& out) {
    const Vec3T<S> i{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    const auto [phi, pole] =
        near.empty() ? std::pair(principal_log(m.q), false) : nearest_log<S>(m.q, {near[0], near[1], near[2]});
    if (pole) {
        out = {dot(phi, i), {0.0, 0.0, 0.0}, i, 0.0};
        return;
    }
    S c, d;
    log_coefficients(dot(phi, phi), c, d);
    const Vec3T<S> w = cross(phi, m.omega), ww = cross(phi, w);
    const Vec3T<S> rate = m.omega - 0.5 * w + c * ww;
    const Vec3T<S> turned = cross(phi, i);
    out.value = dot(phi, i);
    out.dr = {0.0, 0.0, 0.0};
    out.domega = i + 0.5 * turned + c * cross(phi, turned);
    out.quadratic = dot(i, -0.5 * cross(rate, m.omega) + (d * dot(phi, m.omega)) * ww +
                               c * (cross(rate, w) + cross(phi, cross(rate, m.omega))));
}

// φ = 2 atan2(n, e0) v/n with n = |v|, the sign of q such that e0 ≥ 0; near n = 0 by the series of arcsin n / n.
// near: as above; none for the principal one.
template <int axis>
Expression rotation_vector_formula(SymbolicPose& pose, std::span<const Expression> near) {
    const QuatT<Expression>& q = pose.quaternion();
    const Expression sign = where_less(q.w, 0.0, -1.0, 1.0);
    const Expression n2 = q.x * q.x + q.y * q.y + q.z * q.z, n = sqrt(n2);
    // (2k)!/(4^k k!² (2k + 1)), highest first; below n² = 0.01 the terms left out are under 1e-17.
    double coefficient[10], central = 1.0;
    for (int k = 0; k < 10; ++k) {
        coefficient[k] = central / (2 * k + 1);
        central *= (2.0 * k + 1.0) / (2.0 * k + 2.0);
    }
    Expression series = coefficient[8] + coefficient[9] * n2;
    for (int k = 7; k >= 0; --k) series = series * n2 + coefficient[k];
    const Expression ratio = where_less(n2, 0.01, series, atan2(n, sign * q.w) / n);
    const Expression principal = 2.0 * (sign * ratio * pose.quaternion(axis + 1));
    if (near.empty()) return principal;
    const Expression a = 2.0 * ratio * n, along = near[0] * q.x + near[1] * q.y + near[2] * q.z;
    const Expression turns = (sign * along / n - a) / kFullTurn + 0.5;
    const Expression whole{turns.graph, turns.graph->apply(Op::floor, turns.ref)};
    const Expression before = sqrt(near[0] * near[0] + near[1] * near[1] + near[2] * near[2] + 1e-30);
    const Expression turned = before / kFullTurn + 0.5;
    const Expression wholes{turned.graph, turned.graph->apply(Op::floor, turned.ref)};
    return where_less(n2, 0.25 * kPole * kPole, principal + kFullTurn * wholes * near[axis] / before,
                      principal * (1.0 + kFullTurn * whole / a));
}

void check_near(std::span<const double> near) {
    if (!near.empty() && near.size() != 3) throw std::invalid_argument("a rotation vector nearby has three components");
}

template <int axis>
CoordinateKind turned(const char* name) {
    return {name,
            rotation_vector<axis, double>,
            rotation_vector<axis, Dual4>,
            rotation_vector_formula<axis>,
            Angle::of_bodies,
            check_near};
}

const CoordinateRegistration rot_x({"rot_x", rotation_vector<0, double>, rotation_vector<0, Dual4>,
                                    rotation_vector_formula<0>});
const CoordinateRegistration rot_y({"rot_y", rotation_vector<1, double>, rotation_vector<1, Dual4>,
                                    rotation_vector_formula<1>});
const CoordinateRegistration rot_z({"rot_z", rotation_vector<2, double>, rotation_vector<2, Dual4>,
                                    rotation_vector_formula<2>});
const CoordinateRegistration turned_x(turned<0>("turned_x"));
const CoordinateRegistration turned_y(turned<1>("turned_y"));
const CoordinateRegistration turned_z(turned<2>("turned_z"));

}  // namespace

int turned_axis(const CoordinateKind& kind) {
    static const CoordinateKind* const kinds[] = {&coordinate_kind("turned_x"), &coordinate_kind("turned_y"),
                                                  &coordinate_kind("turned_z")};
    for (int axis = 0; axis < 3; ++axis)
        if (&kind == kinds[axis]) return axis;
    return -1;
}

}  // namespace bellcrank
