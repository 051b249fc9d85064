// Linear maps of quaternion kinematics (Tasora, section 2), quaternions stacked (e0, e1, e2, e3).
// For a rotation q from local to world axes with angular velocity ω_l in local and ω_w in world axes:
//   q̇ = ½ q ω_l = ½ ω_w q = ¼ G_lᵀ ω_l = ¼ G_wᵀ ω_w,   ω_l = G_l q̇,   ω_w = G_w q̇.
// (eq. 10, 12, 21, 22; eq. 10 and 12 are printed with ω* = −ω, which contradicts eq. 21 and 22: a slip of sign.)
#pragma once

#include <Eigen/Core>

#include "spatial/algebra.hpp"

namespace bellcrank {

// [q]₊ with a b = [a]₊ b (eq. 6).
Eigen::Matrix4d left_product_matrix(const Quat& q);

// [q]₋ with a b = [b]₋ a (eq. 7).
Eigen::Matrix4d right_product_matrix(const Quat& q);

// G_l(q), twice the last three rows of [q*]₊ (eq. 19).
Eigen::Matrix<double, 3, 4> local_rate_matrix(const Quat& q);

// G_w(q), twice the last three rows of [q*]₋ (eq. 20).
Eigen::Matrix<double, 3, 4> world_rate_matrix(const Quat& q);

}  // namespace bellcrank
