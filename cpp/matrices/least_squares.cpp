#include "matrices/least_squares.hpp"

#include <Eigen/QR>

namespace bellcrank {

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
    return A.colPivHouseholderQr().solve(B);
}

}  // namespace bellcrank
