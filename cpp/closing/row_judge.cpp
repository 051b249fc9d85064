#include "closing/row_judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/forces.hpp"

namespace bellcrank {

namespace {

// Which rows are dropped: relative pivots.
//
// Rows that close loops are dropped at first if theirs are below this.
constexpr double kLoose = 1e-4;
// A dependent row with a larger pivot is dropped whatever its pivot becomes.
constexpr double kCoarse = 1e-5;
// A pivot this many times larger than one that was measured to be rounding is measured again.
constexpr double kGrowth = 4.0;
// A needed row's pivot this far below zero is lost.
constexpr double kLostPivot = -1e-6;

// The rank in 32 digits.
//
// Rows up to which it is found wherever it may have changed, and how far pivots fall until it is found again.
constexpr int kMostConsulted = 1000;
constexpr double kFall = 1e-2;
// Rows up to which it is found where a row is doubtful; in larger systems rows are measured, and rounding may be
// coarser.
constexpr int kLarge = 5000;
// From this spread of mobilities on, a small pivot may be one of masses as well as of dependence.
constexpr double kUneven = 1e3;
// Shifts of the diagonal that outweigh the rounding of S and of its elimination, from the least to the most tried.
constexpr double kLeastShift = 4e-16, kMostShift = 1e-12;

// Digits.
//
// Factors lose about as many as the smallest pivot has zeros; beyond three, a step of refinement restores them.
constexpr double kExactPivot = 1e-3;
// So they do beyond this ratio of masses.
constexpr double kExactMassRatio = 1e3;
// Corrections of a refined acceleration, against the largest acceleration: one that needs no other, one that must not
// be left, and steps of refinement that try. One that falls by less than the last one is rounding.
constexpr double kSettled = 1e-7, kUnsettled = 1e-11, kStalled = 0.1;
constexpr int kMostPasses = 4;

// Accelerations that forces alone would give, by those that are left of them: beyond it rows take away too many digits,
// as where a strong brake or motor holds something light.
constexpr double kTakenAway = 1e4;
// Accelerations from one that is checked to the next, where pivots are small but do not ask for refinement.
constexpr int kUnchecked = 32;

}  // namespace

RowJudge::RowJudge(Delassus factors, const Model& model, ConstraintRows& rows, const std::vector<std::uint8_t>& enabled,
                   bool open, const RefinedClosingOptions& options, Statistics& statistics)
    : factors_(std::move(factors)),
      rows_(rows),
      enabled_(enabled),
      open_(open),
      options_(options),
      statistics_(statistics),
      spread_(spread_of_mobility(model)),
      wide_masses_(mass_ratio(model) > kExactMassRatio),
      always_precise_(spread_ > kMostSpread && rows.rows() > 0),
      trusted_(options.rank_tolerance),
      unchecked_(kUnchecked),  // the first acceleration is checked
      solution_(rows.rows(), 0.0),
      residual_(rows.rows(), 0.0) {
    factors_.bind(rows);
    given_up_.reserve(BlockLdlt::kMostListed);
    forget();
}

void RowJudge::forget() {
    dependent_rows_ = rows_.rows();
    rounding_ = 0.0;
    tight_ = false;
    factors_.exclude(given_up_);
}

PivotRule RowJudge::rule() const {
    return {trusted_, tight_ ? trusted_ : std::max(trusted_, kLoose), trusted_, shift_};
}

void RowJudge::begin(double trusted) {
    trusted_ = trusted;
    factors_.be_precise(always_precise_);
    factors_.begin(rule(), enabled_);
    ++statistics_.factorizations;
}

void RowJudge::factor(double trusted) {
    trusted_ = trusted;
    factor_again();
    judge();
}

void RowJudge::factor_again(bool list) {
    PivotRule rule = this->rule();
    rule.list = list;
    factors_.be_precise(always_precise_);
    factors_.factor(rule, enabled_);
    ++statistics_.factorizations;
}

void RowJudge::factor_as(bool tight, std::span<const int> excluded) {
    tight_ = tight;
    factors_.exclude(excluded);
    factor_again();
}

bool RowJudge::judge() {
    const auto before = statistics_.factorizations;
    if (tight_ || !factors_.doubtful().empty()) judge_rank();
    const bool large = !open_ && (rows_.rows() > kLarge || shift_ > 0.0);  // rows of a tree depend on none
    const bool fewer = dependent_rows_ < rows_.rows() && factors_.dropped_count() < dependent_rows_;
    if (!tight_ && (fewer || (large && !measured_))) measure_small_pivots();
    if (!factors_.is_precise() && asks_for_rank()) consult_rank();
    if (!tight_) dependent_rows_ = std::min(dependent_rows_, factors_.dropped_count());
    const auto disabled = static_cast<int>(std::count(enabled_.begin(), enabled_.end(), 0));
    statistics_.dropped_rows = factors_.dropped_count() - disabled;
    statistics_.smallest_pivot = factors_.smallest_pivot();
    short_of_digits_ = wide_masses_ || shift_ > 0.0 || factors_.smallest_pivot() < kExactPivot;
    refinements_ = options_.refinements >= 0 ? options_.refinements : short_of_digits_;
    return statistics_.factorizations != before;
}

void RowJudge::for_each_null_vector(const std::function<void(const std::vector<double>&)>& visit) {
    short_of_digits_ ? factors_.for_each_null_vector(visit) : factors_.for_each_balanced_row(visit);
}

void RowJudge::solve(std::vector<double>& b) {
    if (refinements_ == 0) return factors_.solve(b.data());
    std::copy(b.begin(), b.end(), solution_.begin());
    factors_.solve(solution_.data());
    for (int i = 0; i < refinements_; ++i) {
        std::copy(b.begin(), b.end(), residual_.begin());
        factors_.subtract_product(solution_.data(), residual_.data());
        factors_.solve(residual_.data());
        for (size_t r = 0; r < solution_.size(); ++r) solution_[r] += residual_[r];
    }
    b.swap(solution_);
}

bool RowJudge::asks_for_refinement(double largest_free, std::span<const double> udot, double size) {
    if (wide_masses_ || refinements_ > 0 || factors_.is_precise()) return true;
    if (largest_free > kTakenAway * size) {
        for (const double rate : udot) size = std::max(size, std::abs(rate));
        if (largest_free > kTakenAway * size) return true;
    }
    return factors_.smallest_pivot() < kSafePivot && (refines_ || ++unchecked_ > kUnchecked);
}

RowJudge::Next RowJudge::after_refinement(int step, double part) {
    const double last = std::exchange(last_part_, part);
    if (step == 0) {
        refines_ = part > kUnsettled;
        unchecked_ = 0;
    }
    if (part <= kSettled && step >= (wide_masses_ ? 1 : 0)) return Next::done;
    if (step + 1 < kMostPasses && (step == 0 || part <= kStalled * last)) return Next::refine;
    return part > kUnsettled ? Next::precise : Next::done;
}

// More rows with small pivots than depend on each other elsewhere: the configuration is nearly singular and they are
// needed, if the tight tolerance drops as many as elsewhere.
void RowJudge::judge_rank() {
    if (!tight_ && doubts_are_rounding()) return;
    if (tight_ || factors_.dropped_count() > dependent_rows_) {
        if (!tight_) factor_as(true, given_up_);
        if (factors_.dropped_count() == dependent_rows_ && doubts_are_rounding()) {
            tight_ = factors_.smallest_pivot() < kLoose;
            if (!tight_) factors_.exclude(given_up_);
            return;
        }
        factor_as(false, given_up_);
    }
    if (!doubts_are_rounding()) measure_doubtful_rows();
}

bool RowJudge::doubts_are_rounding() const {
    const auto doubtful = factors_.doubtful();
    return doubtful.empty() ||
           (factors_.dropped_count() <= dependent_rows_ && std::abs(doubtful.front().pivot) <= kGrowth * rounding_);
}

// Rows come with the largest pivots first: where no more are dropped than depend on others elsewhere and the first one
// is dependent, so are the others. A needed row whose pivot is lost shows that S, as rounded, is no longer positive
// definite on the rows kept; with a shifted diagonal it is, and elimination does not magnify its errors.
void RowJudge::measure_doubtful_rows() {
    if (rows_.rows() <= kLarge && shift_ == 0.0) return consult_rank();
    for (;;) {
        const bool expected = dependent_rows_ < rows_.rows() && factors_.dropped_count() <= dependent_rows_;
        std::array<int, BlockLdlt::kMostListed> dependent;
        size_t count = 0, needed = 0;
        bool lost = false;
        for (const BlockLdlt::RowPivot& row : factors_.doubtful()) {
            if (factors_.part_outside(row.row, trusted_) <= trusted_) {
                dependent[count++] = row.row;
                if (needed == 0) rounding_ = std::max(rounding_, std::abs(row.pivot));
                if (std::abs(row.pivot) > kCoarse) give_up(row.row);
                if (needed == 0 && expected) return;
            } else {
                ++needed;
                std::erase(given_up_, row.row);
                lost |= row.pivot < kLostPivot;
            }
        }
        if (needed == 0) return;
        if (!lost || shift_ > kMostShift) {
            tight_ = true;
            factors_.exclude_vanished(std::span(dependent).first(count));
            factor_again();
            if (count + needed < dependent.size())
                dependent_rows_ = std::min(dependent_rows_, factors_.dropped_count());
            return;
        }
        shift_ = std::max(kLeastShift, 4.0 * shift_);
        measured_ = false;
        rounding_ = 0.0;
        factor_as(false, given_up_);
    }
}

// The rank is found in 32 digits where loops or wide masses make it doubtful: at first, and where other rows are
// dropped or pivots have become smaller since. Rows that are dropped for doubt (docs/theory/lagrange.md, equation 13)
// are none of its business.
bool RowJudge::asks_for_rank() const {
    if (rows_.rows() > kMostConsulted || shift_ > 0.0 || is_doubting()) return false;
    if (open_ && spread_ < kUneven) return false;
    return factors_.dropped_count() != consulted_count_ || factors_.smallest_pivot() < kFall * consulted_pivot_;
}

void RowJudge::consult_rank() {
    const bool right = factors_.rank_is_right(trusted_);
    if (right) {
        if (!factors_.doubtful().empty()) rounding_ = std::max(rounding_, std::abs(factors_.doubtful().front().pivot));
        for (const BlockLdlt::RowPivot& row : factors_.doubtful())
            if (std::abs(row.pivot) > kCoarse) give_up(row.row);
    } else if (spread_ >= kUneven) {
        always_precise_ = true;
        tight_ = false;
        factor_again();
    } else {
        tight_ = true;
        factors_.exclude_dependent();
        factor_again();
        if (!factors_.rank_is_right(trusted_)) {
            factors_.be_precise(true);
            factors_.factor(rule(), enabled_);
            ++statistics_.factorizations;
        }
        dependent_rows_ = std::min(dependent_rows_, factors_.dropped_count());
    }
    if (is_doubting()) return;
    consulted_count_ = factors_.dropped_count();
    consulted_pivot_ = factors_.smallest_pivot();
}

void RowJudge::give_up(int row) {
    const bool known = std::find(given_up_.begin(), given_up_.end(), row) != given_up_.end();
    if (!known && given_up_.size() < given_up_.capacity()) given_up_.push_back(row);
}

// In large systems the rounding of a pivot that should vanish may be larger than the loose tolerance, and than pivots
// of rows that are needed; where fewer rows are dropped than before, it may have grown. Small pivots that were kept are
// measured.
void RowJudge::measure_small_pivots() {
    measured_ = true;
    factor_again(true);
    while (!factors_.small().empty() && give_up_a_small_pivot()) {
    }
}

bool RowJudge::give_up_a_small_pivot() {
    std::array<BlockLdlt::RowPivot, BlockLdlt::kMostListed> rows;
    const auto small = factors_.small();
    const auto end = std::copy(small.begin(), small.end(), rows.begin());
    for (auto row = rows.begin(); row != end && given_up_.size() < given_up_.capacity(); ++row) {
        given_up_.push_back(row->row);
        factor_as(false, given_up_);
        const double part = factors_.part_outside(row->row, trusted_);
        if (part <= trusted_) {
            rounding_ = std::max(rounding_, row->pivot);
            factor_again(true);
            return true;
        }
        given_up_.pop_back();
    }
    factor_as(false, given_up_);
    return false;
}

}  // namespace bellcrank
