// Rotations as unit quaternions: exponential map, logarithm, and the differential of the exponential (body-frame
// rates).
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

}  // namespace bellcrank
