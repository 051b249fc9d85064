#include "matrices/small_least_squares.hpp"

#include <Eigen/QR>

namespace bellcrank {

namespace {

using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

template <class Decomposition>
void solve(const double* A, int count, const double* b, double* x) {
    const Decomposition qr(Columns(Eigen::Map<const Columns>(A, 6, count)));
    const Coordinates solution = qr.solve(Vector6(Eigen::Map<const Vector6>(b)));
    Eigen::Map<Coordinates>(x, count) = solution;
}

}  // namespace

void solve_six(const double* A, int count, const double* b, double* x) {
    solve<Eigen::ColPivHouseholderQR<Columns>>(A, count, b, x);
}

void solve_six_independent(const double* A, int count, const double* b, double* x) {
    solve<Eigen::HouseholderQR<Columns>>(A, count, b, x);
}

}  // namespace bellcrank
