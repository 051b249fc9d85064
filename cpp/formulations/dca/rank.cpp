// Redundant rows. The augmented rule needs to distinguish none; who asks which rows are redundant, or how they share
// their load, gets it from an elimination without softness that leaves rows out.
#include <algorithm>
#include <cmath>

#include "formulations/dca.hpp"
#include "matrices/shared_loads.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Relative pivots below which a row is doubtful, and dependent without doubt; the part of a row outside the span of
// others that makes it independent.
constexpr double kDoubtful = 1e-4, kVanishing = 1e-10, kNeeded = 1e-10;
constexpr int kMostRounds = 10, kRefinements = 2;

// Up to so many redundant rows a basis of what exerts nothing is formed.
constexpr int kMostBasis = 15;

// Rows of the joints on a body up to which they are one matrix, where pivots are to tell dependent rows. A star of many
// thousands that closes loops keeps its hub, and may count too many.
constexpr int kWidest = 3000;

}  // namespace

// A row that was left out depends on the others where nothing of it is outside their span. Those that are needed come
// back, until none is left that has to.
void Dca::find_dependent_rows() {
    const int m = rows_.rows();
    dependent_.clear();
    if (m == 0 || (factored_ && statistics_.dropped_rows == 0 && statistics_.smallest_pivot > kDoubtful)) return;
    if (assembly_.hubs() > 0 && dense_ == nullptr) {
        dense_ = std::make_unique<Assembly>(*model_, rows_, kWidest);
        ranked_ = dense_.get();
    }
    if (ranked_ == &assembly_) factored_ = false;
    least_.resize(m);
    make_metric();
    for (const Chunk& chunk : chunks_) row_squares(chunk, metric_, lengths_);
    for (int r = 0; r < m; ++r) least_[r] = compliance_[r] > 0.0 ? -1.0 : kDoubtful * lengths_[r];
    const auto left_out = [&](int r) { return (enabled_.empty() || enabled_[r]) && ranked_->left_out(r); };
    for (int round = 0; round < kMostRounds; ++round) {
        ranked_->factor(rows_.J.data(), {compliance_, enabled_, least_, metric_}, lengths_);
        bool more = false;
        dependent_.clear();
        for (int r = 0; r < m; ++r) {
            if (!left_out(r)) continue;
            const double tiny = kVanishing * kVanishing * lengths_[r];
            const bool doubtful = std::abs(ranked_->pivots()[r]) > kVanishing;
            if (!doubtful || !(find_null_vector(r) > kNeeded)) {
                dependent_.push_back(r);
            } else if (least_[r] > tiny) {  // else rounding hides its pivot
                least_[r] = tiny;
                more = true;
            }
        }
        if (!more) return;
    }
}

// Ranks are judged without masses: as if every body had 1 kg and the radius of inertia at which its farthest marker is.
void Dca::make_metric() {
    if (!metric_.empty()) return;
    std::vector<double> reach(model_->bodies(), 0.0);
    for (const MarkerPair& pair : model_->pairs)
        for (int s = 0; s < 2; ++s)
            if (pair.body[s] != model_->ground())
                reach[pair.body[s]] = std::max(reach[pair.body[s]], norm(pair.offset[s]));
    metric_ = sqrt_mass_;
    lengths_.assign(rows_.rows(), 0.0);
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 4; k < 7; ++k) metric_[kTwist * b + k] /= reach[b] > 0.0 ? reach[b] : length_;
}

void Dca::multiply_without_masses(const std::vector<double>& lambda, std::vector<double>& out) {
    std::fill(scaled_.begin(), scaled_.end(), 0.0);
    rows_.add_transposed(lambda.data(), scaled_.data());
    for (size_t k = 0; k < scaled_.size(); ++k) scaled_[k] *= metric_[k] * metric_[k];
    rows_.multiply(scaled_.data(), out.data());
}

// w of the row, w = 1 on it and S w = 0 on the rows kept, in null_; returns ‖Jᵀ w‖² in parts of |J_row|².
double Dca::find_null_vector(int row) {
    std::fill(null_.begin(), null_.end(), 0.0);
    null_[row] = 1.0;
    for (int i = 0; i <= kRefinements; ++i) {
        multiply_without_masses(null_, rhs_);
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -(rhs_[r] + compliance_[r] * null_[r]);
        ranked_->solve(rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r) null_[r] += rhs_[r];
    }
    std::fill(scaled_.begin(), scaled_.end(), 0.0);
    rows_.add_transposed(null_.data(), scaled_.data());
    double square = 0.0;
    for (size_t k = 0; k < scaled_.size(); ++k) square += scaled_[k] * metric_[k] * scaled_[k] * metric_[k];
    return lengths_[row] > 0.0 ? square / lengths_[row] : 0.0;
}

// The rows of the model that were found redundant at the configuration at hand.
std::vector<int> Dca::dropped_rows() {
    if (known_ == Known::nothing) return {};
    find_dependent_rows();
    std::vector<int> found;
    for (int row = 0; row < rows_.rows(); ++row)
        if (std::find(dependent_.begin(), dependent_.end(), rows_.storage_row(row)) != dependent_.end())
            found.push_back(row);
    return found;
}

void Dca::share_loads() {
    std::copy(lambda_.begin(), lambda_.end(), shared_.begin());
    nothing_.clear();
    if (rows_.rows() == 0) return;
    if (enable_stops(stops_.touched())) factor();
    find_dependent_rows();
    const auto pushing = [&](int r) {
        return std::find(stop_rows_.begin(), stop_rows_.end(), r) != stop_rows_.end() && enabled_[r];
    };
    const auto share_by_bodies = [&] {
        if (!sharing_) sharing_ = std::make_unique<LoadSharing>(*model_, rows_);
        std::vector<std::uint8_t> takes_part(rigid_);
        for (size_t r = 0; r < enabled_.size(); ++r) takes_part[r] &= enabled_[r];
        return sharing_->share_all(takes_part, weight_, shared_, nothing_);
    };
    const bool many = static_cast<int>(dependent_.size()) > kMostBasis && !stops_.touches();
    if (!dependent_.empty() && !(many && share_by_bodies())) {
        for (const int r : dependent_) {
            find_null_vector(r);
            nothing_.push_back(null_);
        }
        std::vector<int> stops;
        for (const int r : stop_rows_)
            if (pushing(r)) stops.push_back(r);
        share_by_basis(weight_, stops, nothing_, shared_);
    }
    if (enable_stops(stops_.active())) factor();
}

}  // namespace bellcrank
