// Small quadratic programs.
#pragma once

#include <Eigen/Core>

namespace bellcrank {

// The z with A z ≥ b for which ½ zᵀ H z + gᵀ z is least. H is symmetric and positive definite; z = 0 must be allowed,
// to rounding. By an active set (Nocedal and Wright, Numerical Optimization, algorithm 16.3).
Eigen::VectorXd least_quadratic(const Eigen::MatrixXd& H, const Eigen::VectorXd& g, const Eigen::MatrixXd& A,
                                const Eigen::VectorXd& b);

}  // namespace bellcrank
