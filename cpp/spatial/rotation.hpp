// Rotations as unit quaternions: exponential map, logarithm, the differential of the exponential (body-frame rates),
// and where an angular velocity leads that is a polynomial of time.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

Quat normalized(const Quat& q);

// exp: rotation vector φ (rad, local axes) to the unit quaternion (cos |φ|/2, sin(|φ|/2) φ/|φ|).
Quat quaternion_exp(const Vec3& phi);

// log: inverse of quaternion_exp on |φ| ≤ π; q and −q give the same vector.
Vec3 quaternion_log(const Quat& q);

// Quaternion of a proper rotation matrix (the branch with the largest pivot), scalar part ≥ 0.
Quat quaternion_from_matrix(const Mat3& r);

// Rate of the rotation vector φ in R = R0 exp(φ) for body-frame angular velocity ω (Bortz equation):
//   φ̇ = ω + ½ φ×ω + c(|φ|) φ×(φ×ω),  c = (1 − (|φ|/2) cot(|φ|/2)) / |φ|².
Vec3 rotation_vector_rate(const Vec3& phi, const Vec3& omega);

// The inverse of rotation_vector_rate: ω for the rate φ̇,
//   ω = φ̇ − A φ×φ̇ + B φ×(φ×φ̇),  A = (1 − cos|φ|)/|φ|²,  B = (|φ| − sin|φ|)/|φ|³.
Vec3 angular_velocity(const Vec3& phi, const Vec3& rate);

// φ̈ for the rate φ̇ and the body-frame angular acceleration ω̇: the time derivative of the relation above, solved for φ̈.
Vec3 rotation_vector_acceleration(const Vec3& phi, const Vec3& rate, const Vec3& omega_dot);

// A quaternion of nearly unit norm scaled to unit norm by one step of Newton's method.
template <class T>
inline QuatT<T> renormalized(const QuatT<T>& p) {
    const T k = 1.5 - 0.5 * (p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    return {k * p.w, k * p.x, k * p.y, k * p.z};
}

// |φ|² up to which advanced_by_series is exact to rounding.
inline constexpr double kSeriesReach = 2.5e-3;

// q exp(φ) for a small rotation vector φ, of unit norm to rounding, by series of the sine and the cosine.
template <class T>
inline QuatT<T> advanced_by_series(const QuatT<T>& q, const Vec3T<T>& phi) {
    const T h = 0.25 * dot(phi, phi);
    const T s = 0.5 * (1.0 - h / 6.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0 * (1.0 - h / 72.0))));
    const T c = 1.0 - h / 2.0 * (1.0 - h / 12.0 * (1.0 - h / 30.0 * (1.0 - h / 56.0 * (1.0 - h / 90.0))));
    return renormalized(q * QuatT<T>{c, s * phi.x, s * phi.y, s * phi.z});
}

// q exp(φ) for the rotation vector φ of a step, of unit norm to rounding.
inline Quat advanced(const Quat& q, const Vec3& phi) {
    if (dot(phi, phi) < kSeriesReach) return advanced_by_series(q, phi);
    return renormalized(q * quaternion_exp(phi));
}

inline constexpr int kMostRates = 20;  // coefficients of a polynomial

// q(1) of q̇ = ½ q ω, ω = Σ θʲ ω_j for j = 0 … degree, with ω in the axes that turn; of unit norm.
Quat advanced_along(const Quat& q, const Vec3* rates, int degree);

}  // namespace bellcrank
