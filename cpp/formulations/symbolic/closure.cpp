#include "formulations/symbolic/closure.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank::symbolic {

namespace {

// Of a diagonal entry to what it would be for free bodies, at a regular configuration.
constexpr double kLeastScale = 1e-3;

// Of a column, squared: then rounding has turned the rest by 1e-15 at most.
constexpr double kLittle = 0.01;

}  // namespace

void ClosureSolver::resize(int speeds, int rows, std::vector<int> speaking) {
    speaking_ = std::move(speaking);
    const auto columns = static_cast<Eigen::Index>(speaking_.size()), n = static_cast<Eigen::Index>(speeds);
    M.setZero(n, n);
    J.setZero(rows, n);
    Q_.setZero(n, std::min(n, columns));
    R_.setZero(Q_.cols(), columns);
    A_.setZero(n, columns);
    for (Eigen::VectorXd* v : {&b, &a, &free_}) v->setZero(n);
    for (Eigen::VectorXd* v : {&gamma, &C, &drift, &natural, &lambda}) v->setZero(rows);
    for (Eigen::VectorXd* v : {&largest_, &scale_, &left_}) v->setZero(columns);
    z_.setZero(Q_.cols());
    is_dropped_.assign(rows, true);
    for (auto* list : {&kept_, &open_, &dropped_}) list->reserve(rows);
}

// With M = L Lᵀ, the columns of A = L⁻¹ Jᵀ, each by its scale, are orthogonalised, the one with the most left first:
// A = Q R is S = J M⁻¹ Jᵀ = Rᵀ R without the squares, whose rounding would be all there is of a row that depends on
// others up to an angle of 1e-8. In coordinates of joints a row may vanish where a loop is singular, instead of coming
// to depend on others: its pivot is therefore taken by the size that it has elsewhere.
void ClosureSolver::factor(double tolerance) {
    mass_.compute(M);
    const auto left = mass_.matrixLLT().diagonal().array().square() / M.diagonal().array();
    smallest_inertia_ = M.rows() > 0 ? left.minCoeff() : 1.0;
    for (Eigen::Index c = 0; c < A_.cols(); ++c) A_.col(c) = J.row(speaking_[c]);
    if (A_.cols() > 0) mass_.matrixL().solveInPlace(A_);  // Eigen takes the address of a first entry
    kept_.clear();
    open_.clear();
    smallest_ = 1.0;
    double dropped = 0.0;
    for (Eigen::Index c = 0; c < A_.cols(); ++c) {
        const double known = natural[speaking_[c]], whole = known > 0.0 ? known : 1.0;
        const double part = A_.col(c).squaredNorm() / whole;
        largest_[c] = std::max({largest_[c], part, kLeastScale});
        scale_[c] = 1.0 / std::sqrt(whole * largest_[c]);
        left_[c] = part / largest_[c];
        if (left_[c] > tolerance)
            open_.push_back(static_cast<int>(c));
        else
            dropped = std::max(dropped, left_[c]);
        A_.col(c) *= scale_[c];
    }
    while (!open_.empty()) {
        const auto next =
            std::max_element(open_.begin(), open_.end(), [&](int i, int j) { return left_[i] < left_[j]; });
        const int pivot = *next;
        const auto k = static_cast<Eigen::Index>(kept_.size());
        if (k == Q_.cols() || !(left_[pivot] > tolerance)) break;
        open_.erase(next);
        keep(pivot, k);
    }
    for (const int c : open_) dropped = std::max(dropped, left_[c]);
    largest_dropped_ = dropped;
    is_dropped_.assign(is_dropped_.size(), true);
    for (const int c : kept_) is_dropped_[speaking_[c]] = false;
    dropped_.clear();
    for (size_t i = 0; i < is_dropped_.size(); ++i)
        if (is_dropped_[i]) dropped_.push_back(static_cast<int>(i));
}

// Takes a column as the next of Q and its part out of the others. Where little is left of it, that is made orthogonal
// to those before once more.
void ClosureSolver::keep(int column, Eigen::Index k) {
    auto v = A_.col(column);
    for (Eigen::Index i = 0; i < k && left_[column] < kLittle; ++i) {
        const double part = Q_.col(i).dot(v);
        v -= part * Q_.col(i);
        R_(i, column) += part;
    }
    const double length = v.norm();
    smallest_ = std::min(smallest_, length * length);
    R_(k, column) = length;
    Q_.col(k) = v / length;
    kept_.push_back(column);
    for (const int i : open_) {
        const double part = Q_.col(k).dot(A_.col(i));
        R_(k, i) = part;
        A_.col(i) -= part * Q_.col(k);
        left_[i] = A_.col(i).squaredNorm();
    }
}

// In mass-scaled terms, with â = Lᵀ a: the part along Q follows from the rows, Rᵀ y = r, the rest from the forces;
// λ = R⁻¹ (y − Qᵀ L⁻¹ f).
void ClosureSolver::solve(const Eigen::VectorXd& force, const Eigen::VectorXd& rate) {
    const auto n = static_cast<Eigen::Index>(kept_.size());
    free_ = force;
    mass_.matrixL().solveInPlace(free_);
    for (Eigen::Index k = 0; k < n; ++k) {
        const int column = kept_[k];
        const double wanted = scale_[column] * rate[speaking_[column]];
        z_[k] = (wanted - R_.col(column).head(k).dot(z_.head(k))) / R_(k, column);
    }
    for (Eigen::Index k = 0; k < n; ++k) z_[k] -= Q_.col(k).dot(free_);
    a = free_;
    for (Eigen::Index k = 0; k < n; ++k) a += z_[k] * Q_.col(k);
    mass_.matrixU().solveInPlace(a);
    lambda.setZero();
    for (Eigen::Index k = n - 1; k >= 0; --k) {
        const int column = kept_[k];
        z_[k] /= R_(k, column);
        lambda[speaking_[column]] = scale_[column] * z_[k];
        z_.head(k) -= z_[k] * R_.col(column).head(k);
    }
}

}  // namespace bellcrank::symbolic
