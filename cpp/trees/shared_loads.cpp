// How rows that are redundant share a load, over a tree and the rows that close it: multipliers of least norm.
#include <algorithm>
#include <cmath>

#include "matrices/quadratic_program.hpp"
#include "matrices/shared_loads.hpp"
#include "spatial/body_state.hpp"
#include "trees/tree_reactions.hpp"

namespace bellcrank {

namespace {

// Up to so many rows the matrix of all is decomposed.
constexpr size_t kFew = 100;

}  // namespace

// Made orthogonal to the others in the norm of forces and moments, twice for the rounding.
void TreeReactions::add_null(std::vector<double> multipliers) {
    std::fill(exerted_.begin(), exerted_.end(), 0.0);
    apply(other_blocks_, -1.0, multipliers, exerted_.data());
    spread(exerted_.data(), multipliers);
    const auto product = [&](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0.0;
        for (size_t r = 0; r < a.size(); ++r) sum += weight_[r] * a[r] * weight_[r] * b[r];
        return sum;
    };
    for (int pass = 0; pass < 2; ++pass)
        for (const std::vector<double>& other : nulls_) {
            const double along = product(other, multipliers);
            for (size_t r = 0; r < other.size(); ++r) multipliers[r] -= along * other[r];
        }
    const double size = std::sqrt(product(multipliers, multipliers));
    for (double& v : multipliers) v /= size;
    nulls_.push_back(std::move(multipliers));
}

void TreeReactions::minimise_norm() {
    for (const std::vector<double>& nothing : nulls_) {
        double along = 0.0;
        for (size_t r = 0; r < nothing.size(); ++r) along += weight_[r] * nothing[r] * weight_[r] * lambda[r];
        for (size_t r = 0; r < nothing.size(); ++r) lambda[r] -= along * nothing[r];
    }
}

// min ‖D λ‖ with Jᵀ λ = F, D the moment or force per row: z = D λ and A = D⁻¹ J.
void TreeReactions::spread_least_norm(std::vector<int> rows, const std::vector<int>& pushing) {
    rows.insert(rows.end(), pushing.begin(), pushing.end());
    apply(other_blocks_, -1.0, lambda, force_.data());
    if (pushing.empty() && rows.size() > kFew && spread_by_bodies(rows)) return;
    const int n = 6 * model_.bodies();
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()), n);
    Eigen::VectorXd F(n);
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) F[6 * b + k] = force_[kTwist * b + kComponent[k]] / root_of_mass(b, k);
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
        const int block = block_of_row_[rows[i]];
        for (const BlockSide& side : rows_.sides(layout(block))) {
            if (side.body == model_.ground()) continue;
            double row[6];
            side.rows.read(rows_.J.data(), rows[i] - model_.blocks[block].row_begin, row);
            for (int k = 0; k < 6; ++k) A(i, 6 * side.body + k) += row[k] / weight_[rows[i]];
        }
    }
    const auto [z, nothing] = least_norm(A, F, 1e-8);
    for (Eigen::Index i = 0; i < A.rows(); ++i) lambda[rows[i]] = z[i] / weight_[rows[i]];
    for (Eigen::Index k = 0; k < nothing.cols(); ++k) {
        nulls_.emplace_back(lambda.size(), 0.0);
        for (Eigen::Index i = 0; i < A.rows(); ++i) nulls_.back()[rows[i]] = nothing(i, k) / weight_[rows[i]];
    }
    push(pushing);
}

// The same for many rows, of which no stop is one, with samples of what exerts nothing in place of a basis.
bool TreeReactions::spread_by_bodies(const std::vector<int>& rows) {
    if (!sharing_) sharing_ = std::make_unique<LoadSharing>(model_, rows_);
    std::vector<double> weight(rows_.rows(), 0.0), stored(rows_.rows()), load(force_.size(), 0.0);
    for (const int row : rows) weight[rows_.storage_row(row)] = weight_[row];
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = kTwist * b + kComponent[k];
            load[at] = force_[at] / root_of_mass(b, k);
        }
    sharing_->form(weight);
    std::vector<std::vector<double>> samples;
    if (!sharing_->share(load, stored) || !sharing_->sample(samples)) return false;
    for (const int row : rows) lambda[row] = stored[rows_.storage_row(row)];
    for (const std::vector<double>& sample : samples) {
        nulls_.emplace_back(lambda.size(), 0.0);
        for (const int row : rows) nulls_.back()[row] = sample[rows_.storage_row(row)];
    }
    return true;
}

// λ + W z with the shortest z for which the rows push: the columns of D W are orthonormal, and orthogonal to D λ.
void TreeReactions::push(const std::vector<int>& rows) {
    if (std::none_of(rows.begin(), rows.end(), [&](int row) { return lambda[row] < 0.0; })) return;
    if (nulls_.empty()) {  // nothing is open: what pulls does so by rounding
        for (const int row : rows) lambda[row] = std::max(lambda[row], 0.0);
        return;
    }
    const auto n = static_cast<Eigen::Index>(nulls_.size());
    Eigen::MatrixXd W(static_cast<Eigen::Index>(rows.size()), n);
    Eigen::VectorXd least(W.rows());
    for (Eigen::Index i = 0; i < W.rows(); ++i) {
        for (Eigen::Index k = 0; k < n; ++k) W(i, k) = nulls_[k][rows[i]];
        least[i] = -lambda[rows[i]];
    }
    const Eigen::VectorXd z = least_quadratic(Eigen::MatrixXd::Identity(n, n), Eigen::VectorXd::Zero(n), W, least);
    for (Eigen::Index k = 0; k < n; ++k)
        for (size_t r = 0; r < lambda.size(); ++r) lambda[r] += z[k] * nulls_[k][r];
    for (const int row : rows) lambda[row] = std::max(lambda[row], 0.0);
}

}  // namespace bellcrank
