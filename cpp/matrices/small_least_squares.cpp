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

// What is left of a column beside others, in parts of it, that makes it one of its own.
constexpr double kIndependent = 1e-6;

}  // namespace

void solve_six(const double* A, int count, const double* b, double* x) {
    solve<Eigen::ColPivHouseholderQR<Columns>>(A, count, b, x);
}

void solve_six_independent(const double* A, int count, const double* b, double* x) {
    solve<Eigen::HouseholderQR<Columns>>(A, count, b, x);
}

// A = Q R by Gram and Schmidt, twice; A⁺ = R⁻¹ Qᵀ.
bool invert_six(const double* A, int count, double* inverse) {
    double R[36] = {};
    for (int c = 0; c < count; ++c) {
        double *q = inverse + 6 * c, size = 0.0, left = 0.0;
        for (int k = 0; k < 6; ++k) q[k] = A[6 * c + k], size += q[k] * q[k];
        for (int pass = 0; pass < 2; ++pass)
            for (int j = 0; j < c; ++j) {
                const double* other = inverse + 6 * j;
                double along = 0.0;
                for (int k = 0; k < 6; ++k) along += other[k] * q[k];
                for (int k = 0; k < 6; ++k) q[k] -= along * other[k];
                R[6 * j + c] += along;
            }
        for (int k = 0; k < 6; ++k) left += q[k] * q[k];
        if (!(left > kIndependent * kIndependent * size)) return false;
        R[6 * c + c] = std::sqrt(left);
        for (int k = 0; k < 6; ++k) q[k] /= R[6 * c + c];
    }
    for (int i = count - 1; i >= 0; --i)
        for (int k = 0; k < 6; ++k) {
            for (int j = i + 1; j < count; ++j) inverse[6 * i + k] -= R[6 * i + j] * inverse[6 * j + k];
            inverse[6 * i + k] /= R[6 * i + i];
        }
    return true;
}

}  // namespace bellcrank
