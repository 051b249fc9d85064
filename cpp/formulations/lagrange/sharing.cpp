// Redundant rows: how they share their load is open. What is reported is of least norm, reactions and efforts together.
#include <algorithm>

#include "formulations/lagrange.hpp"
#include "matrices/shared_loads.hpp"

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

// From a basis of the null space.
void Lagrange::share_by_basis() {
    delassus_.for_each_null_vector([&](const std::vector<double>& w) { nothing_.push_back(w); });
    std::vector<int> pushing;
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (stops_.touched()[i]) pushing.push_back(stop_rows_[i]);
    bellcrank::share_by_basis(weight_, pushing, nothing_, shared_);
    for (const int r : stop_rows_) shared_[r] = std::max(shared_[r], 0.0);
}

// For many redundant rows: what they exert together is shared anew. False, with nothing shared, where digits are short.
bool Lagrange::share_by_bodies() {
    if (!sharing_) sharing_ = std::make_unique<LoadSharing>(*model_, rows_);
    std::vector<std::uint8_t> takes_part(rigid_);
    for (size_t r = 0; r < enabled_.size(); ++r) takes_part[r] &= enabled_[r];
    return sharing_->share_all(takes_part, weight_, shared_, nothing_);
}

}  // namespace bellcrank
