// Redundant rows. The augmented rule needs to distinguish none; who asks which rows are redundant, or how they share
// their load, gets it from an elimination without softness that leaves rows out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formulations/dca.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Relative pivots below which a row is doubtful, and dependent without doubt; the part of a row outside the span of
// others that makes it independent.
constexpr double kDoubtful = 1e-4, kVanishing = 1e-10, kNeeded = 1e-10;
constexpr double kLess = 0.1;
constexpr int kMostRounds = 10, kRefinements = 2;

// Pivots of redundant rows are some softnesses 1/α, or more [in 1/α].
constexpr double kDependentPivot = 100.0;

// A redundant row whose pivot grew by this is measured again, and one that was needed where it fell by that.
constexpr double kGrowth = 4.0, kFall = 1e-2;

constexpr double kNoSquare = std::numeric_limits<double>::min();

// Rows of the joints on a body up to which they are one matrix, where pivots are to tell dependent rows. A star of many
// thousands that closes loops keeps its hub, and may count too many.
constexpr int kWidest = 3000;

}  // namespace

// The pivot of a row is min ‖Ĵᵀ w‖² + Σ w² / α over all w with w = 1 on the row, of those eliminated before it. Of one
// that depends on these the first term vanishes and ‖w‖² / α is left, which may be as large as a pivot at a nearly
// singular pose where a small load of one row takes large ones of others. So doubtful rows are measured, and what was
// found is remembered. True if there are some that were not.
bool Dca::judge_pivots() {
    each_chunk([&](Chunk& c) {
        c.smallest_pivot = 1.0, c.dropped = 0, c.doubtful = false;
        for (int r = c.row_begin; r < c.row_end; ++r) {
            if (!enabled_.empty() && !enabled_[r]) continue;
            const double pivot = relative_pivot(r);
            if (pivot > kDoubtful) redundant_[r] = 0.0;
            if (pivot > redundant_below(r))
                c.smallest_pivot = std::min(c.smallest_pivot, pivot);
            else
                ++c.dropped;
            c.doubtful |= is_doubtful(r);
        }
    });
    statistics_.smallest_pivot = 1.0, statistics_.dropped_rows = 0;
    bool doubtful = false;
    for (const Chunk& c : chunks_) {
        statistics_.smallest_pivot = std::min(statistics_.smallest_pivot, c.smallest_pivot);
        statistics_.dropped_rows += c.dropped;
        doubtful |= c.doubtful;
    }
    return doubtful && !open_ && assembly_.hubs() == 0;
}

double Dca::relative_pivot(int row) const {
    return assembly_.pivots()[row] + compliance_[row] / std::max(squares_[row], kNoSquare);
}

double Dca::redundant_below(int row) const { return std::max(redundant_[row], kDependentPivot / penalty_); }

bool Dca::is_doubtful(int row) const {
    const double pivot = relative_pivot(row);
    return pivot > redundant_below(row) && pivot <= kDoubtful && pivot < kFall * needed_[row];
}

void Dca::measure_doubtful_rows() {
    doubtful_.clear();
    for (int r = 0; r < rows_.rows(); ++r) {
        if ((!enabled_.empty() && !enabled_[r]) || !is_doubtful(r)) continue;
        doubtful_.push_back(r);
        needed_[r] = relative_pivot(r);
    }
    find_dependent_rows();
    for (const int r : doubtful_) {
        if (std::find(dependent_.begin(), dependent_.end(), r) == dependent_.end()) continue;
        redundant_[r] = kGrowth * needed_[r];
        needed_[r] = std::numeric_limits<double>::infinity();
    }
}

bool Dca::may_depend() {
    if (rows_.rows() == 0) return false;
    if (!factored_) factor();
    return statistics_.dropped_rows > 0 || statistics_.smallest_pivot <= kDoubtful;
}

// A row that was left out depends on the others where nothing of it is outside their span. Those that are needed come
// back, until none is left that has to. Rows that come back together may depend on each other: then the pivot of one is
// less than the part that was measured, and it is left out again.
void Dca::find_dependent_rows() {
    const int m = rows_.rows();
    dependent_.clear();
    if (assembly_.hubs() > 0 && dense_ == nullptr) {
        dense_ = std::make_unique<Assembly>(*model_, rows_, kWidest);
        ranked_ = dense_.get();
    }
    if (ranked_ == &assembly_) factored_ = false;
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
            const bool doubtful = std::abs(ranked_->pivots()[r]) > kVanishing;
            const double part = doubtful ? find_null_vector(r) : 0.0, least = kLess * part * lengths_[r];
            if (!(part > kNeeded)) {
                dependent_.push_back(r);
            } else if (least_[r] > least) {  // else rounding hides its pivot
                least_[r] = least;
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
    metric_.assign(rows_.sqrt_mass().begin(), rows_.sqrt_mass().end());
    for (auto* v : {&lengths_, &least_}) v->assign(rows_.rows(), 0.0);
    for (auto* v : {&dependent_, &doubtful_}) v->reserve(rows_.rows());
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
    if (known_ == Known::nothing || !may_depend()) return {};
    find_dependent_rows();
    std::vector<int> found;
    for (int row = 0; row < rows_.rows(); ++row)
        if (std::find(dependent_.begin(), dependent_.end(), rows_.storage_row(row)) != dependent_.end())
            found.push_back(row);
    return found;
}

int Dca::null_dimension() {
    if (!may_depend()) return 0;
    find_dependent_rows();
    return static_cast<int>(dependent_.size());
}

void Dca::add_null_vectors(RowLoads& out) {
    for (const int r : dependent_) {
        find_null_vector(r);
        out.add_nothing() = null_;
    }
}

}  // namespace bellcrank
