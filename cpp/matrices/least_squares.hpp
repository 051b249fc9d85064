// Least squares by a decomposition with column pivoting.
#pragma once

#include <Eigen/Core>

namespace bellcrank {

// The columns of X of least ‖A X − B‖; where the columns of A depend on one another, those that come last get nothing.
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace bellcrank
