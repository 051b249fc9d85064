// Redundant rows: how they share their load is open. What is reported is of least norm, reactions and efforts together.
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"
#include "linalg/quadratic_program.hpp"

namespace bellcrank {

namespace {

// Up to so many redundant rows a basis of what exerts nothing is formed.
constexpr int kFew = 15;

}  // namespace

// From lambda_ to shared_: among multipliers that exert the same on every body, those with the least ‖D λ‖, D the
// moment or force per row. Stops push all the same, and those that something lies on without pushing may take a share.
void Lagrange::share_loads() {
    std::copy(lambda_.begin(), lambda_.end(), shared_.begin());
    nothing_.clear();
    if (rows_.rows() == 0) return;
    const bool more = enable_stops(stops_.touched());
    if (more) refactor();
    const int dimension = delassus_.null_dimension();
    const bool pushes = stops_.touches();
    if (dimension > 0 && !(dimension > kFew && !pushes && share_by_bodies())) share_by_basis();
    if (more && enable_stops(stops_.active())) refactor();
}

// Multipliers that exert nothing, scaled so that the largest moment or force is one.
void Lagrange::add_nothing(const std::vector<double>& multipliers) {
    double largest = 0.0;
    for (size_t r = 0; r < multipliers.size(); ++r) largest = std::max(largest, std::abs(weight_[r] * multipliers[r]));
    nothing_.push_back(multipliers);
    for (double& w : nothing_.back()) w /= largest;
}

// λ ← λ + W z with a basis W of the null space: z = −(Wᵀ D² W)⁻¹ Wᵀ D² λ, unless a stop would pull.
void Lagrange::share_by_basis() {
    delassus_.for_each_null_vector([&](const std::vector<double>& w) { add_nothing(w); });
    const auto m = static_cast<Eigen::Index>(shared_.size());
    Eigen::MatrixXd W(m, static_cast<Eigen::Index>(nothing_.size()));
    for (Eigen::Index k = 0; k < W.cols(); ++k) W.col(k) = Eigen::Map<const Eigen::VectorXd>(nothing_[k].data(), m);
    const Eigen::Map<const Eigen::ArrayXd> D(weight_.data(), m);
    const Eigen::MatrixXd DW = W.array().colwise() * D;
    Eigen::Map<Eigen::VectorXd> l(shared_.data(), m);
    const Eigen::VectorXd Dl = (l.array() * D).matrix();
    const auto closed = std::count(stops_.touched().begin(), stops_.touched().end(), 1);
    if (closed == 0) {
        l -= W * (DW.transpose() * DW).ldlt().solve(DW.transpose() * Dl);
        return;
    }
    Eigen::MatrixXd pushing(closed, W.cols());
    Eigen::VectorXd least(closed);
    Eigen::Index k = 0;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        if (!stops_.touched()[i]) continue;
        pushing.row(k) = W.row(stop_rows_[i]);
        least[k++] = -shared_[stop_rows_[i]];
    }
    l += W * least_quadratic(DW.transpose() * DW, DW.transpose() * Dl, pushing, least);
    for (const int r : stop_rows_) shared_[r] = std::max(shared_[r], 0.0);
}

// For many redundant rows: what they exert together is shared anew. False, with nothing shared, where digits are short.
bool Lagrange::share_by_bodies() {
    if (!sharing_) sharing_ = std::make_unique<LoadSharing>(*model_, rows_);
    std::vector<double> weight(shared_.size()), taking_part(shared_.size());
    for (size_t r = 0; r < weight.size(); ++r) {
        const bool takes_part = rigid_[r] && (enabled_.empty() || enabled_[r]);
        weight[r] = takes_part ? weight_[r] : 0.0;
        taking_part[r] = takes_part ? shared_[r] : 0.0;
    }
    sharing_->form(weight);
    std::vector<double> load(scaled_.size(), 0.0);
    rows_.add_transposed(taking_part.data(), load.data());
    if (!sharing_->share(load, taking_part) || !sharing_->sample(nothing_)) {
        nothing_.clear();
        return false;
    }
    for (size_t r = 0; r < weight.size(); ++r)
        if (weight[r] != 0.0) shared_[r] = taking_part[r];
    return true;
}

}  // namespace bellcrank
