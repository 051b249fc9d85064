#include "matrices/real_eigenvalues.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kReal = 1e-12;  // of the largest: an imaginary part that is rounding

}  // namespace

double largest_real_eigenvalue(const std::vector<double>& matrix) {
    const auto n = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
    if (n == 0) return -HUGE_VAL;
    using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::MatrixXd A = Eigen::Map<const ByRows>(matrix.data(), n, n);
    const Eigen::VectorXcd values = Eigen::EigenSolver<Eigen::MatrixXd>(A, false).eigenvalues();
    const double size = values.cwiseAbs().maxCoeff();
    double largest = -HUGE_VAL;
    for (const auto& each : values)
        if (std::abs(each.imag()) <= kReal * size) largest = std::max(largest, each.real());
    return largest;
}

}  // namespace bellcrank
