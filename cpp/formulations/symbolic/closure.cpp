#include "formulations/symbolic/closure.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank::symbolic {

void ClosureSolver::resize(int speeds, int rows) {
    M.setZero(speeds, speeds);
    J.setZero(rows, speeds);
    b.setZero(speeds);
    gamma.setZero(rows);
    C.setZero(rows);
    drift.setZero(rows);
    natural.setZero(rows);
    is_dropped_.assign(rows, false);
}

// S is scaled to a unit diagonal and factored with the largest remaining pivot first: what is left of a row that
// depends on others is rounding.
void ClosureSolver::factor(double tolerance) {
    const auto m = J.rows();
    mass_.compute(M);
    Eigen::MatrixXd A = J.transpose();
    mass_.matrixL().solveInPlace(A);
    S_.noalias() = A.transpose() * A;
    // A row that says nothing in these coordinates has a gradient of rounding alone.
    scale_.setZero(m);
    for (Eigen::Index i = 0; i < m; ++i)
        if (S_(i, i) > tolerance * tolerance * natural[i]) scale_[i] = 1.0 / std::sqrt(S_(i, i));
    S_ = scale_.asDiagonal() * S_ * scale_.asDiagonal();
    L_.setZero(m, m);
    Eigen::VectorXd left = S_.diagonal();
    kept_.clear();
    dropped_.clear();
    smallest_ = 1.0;
    std::vector<int> open(m);
    for (Eigen::Index i = 0; i < m; ++i) open[i] = static_cast<int>(i);
    for (Eigen::Index k = 0; !open.empty(); ++k) {
        const auto next = std::max_element(open.begin(), open.end(), [&](int i, int j) { return left[i] < left[j]; });
        const int pivot = *next;
        if (!(left[pivot] > tolerance)) break;
        smallest_ = std::min(smallest_, left[pivot]);
        open.erase(next);
        kept_.push_back(pivot);
        const double root = std::sqrt(left[pivot]);
        L_(pivot, k) = root;
        for (const int i : open) {
            L_(i, k) = (S_(i, pivot) - L_.row(i).head(k).dot(L_.row(pivot).head(k))) / root;
            left[i] -= L_(i, k) * L_(i, k);
        }
    }
    dropped_ = open;
    std::sort(dropped_.begin(), dropped_.end());
    is_dropped_.assign(m, false);
    for (const int i : dropped_) is_dropped_[i] = true;
}

void ClosureSolver::solve_rows(Eigen::Ref<Eigen::VectorXd> rhs) const {
    const auto n = static_cast<Eigen::Index>(kept_.size());
    Eigen::VectorXd y(n);
    for (Eigen::Index k = 0; k < n; ++k) {
        const int row = kept_[k];
        y[k] = (scale_[row] * rhs[row] - L_.row(row).head(k).dot(y.head(k))) / L_(row, k);
    }
    for (Eigen::Index k = n - 1; k >= 0; --k) {
        double sum = y[k];
        for (Eigen::Index i = k + 1; i < n; ++i) sum -= L_(kept_[i], k) * y[i];
        y[k] = sum / L_(kept_[k], k);
    }
    rhs.setZero();
    for (Eigen::Index k = 0; k < n; ++k) rhs[kept_[k]] = scale_[kept_[k]] * y[k];
}

void ClosureSolver::solve_mass(Eigen::Ref<Eigen::VectorXd> v) const { mass_.solveInPlace(v); }

}  // namespace bellcrank::symbolic
