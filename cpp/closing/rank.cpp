// Which rows count as dependent on others and are dropped.
//
// Of rows that depend on each other, elimination keeps those that come first and drops a later one when its pivot
// vanishes. Three things go wrong with a fixed tolerance for that. Elsewhere in the motion the rows kept may be nearly
// dependent where others, dropped, are not. The rounding of a pivot that should vanish grows with the square of the
// multipliers that cancel there, which are large for thin bodies and long loops. And over thousands of bodies in line
// rounding can take all of a pivot that does not vanish.
//
// So rows that close loops are dropped below a loose tolerance, which leaves rows that are clearly independent. One
// dropped with a pivot that does not vanish is measured: by the multipliers that balance it, applied to the rows
// themselves. What proves needed comes back under the tight tolerance, and nothing else does.
#include <algorithm>
#include <array>
#include <cmath>

#include "closing/closing.hpp"

namespace bellcrank {

namespace {

// Rows that close loops are dropped at first if their relative pivots are below this.
constexpr double kLoose = 1e-4;

// A dependent row with a larger pivot is dropped whatever its pivot becomes.
constexpr double kCoarse = 1e-5;

// From so many rows on rounding may be coarser.
constexpr int kLarge = 5000;

// A pivot this many times larger than one that was measured to be rounding is measured again.
constexpr double kGrowth = 4.0;

// Rows up to which the rank is found in 32 digits, and how far pivots fall until it is found again.
constexpr int kMostConsulted = 1000;
constexpr double kFall = 1e-2;

// From this spread of mobilities on, a small pivot may be one of masses as well as of dependence.
constexpr double kUneven = 1e3;

// A needed row's pivot this far below zero is lost.
constexpr double kLostPivot = -1e-6;

// Shifts of the diagonal that outweigh the rounding of S and of its elimination, from the least to the most tried.
constexpr double kLeastShift = 4e-16;
constexpr double kMostShift = 1e-12;

}  // namespace

PivotRule Closing::pivot_rule() const {
    return {trusted_pivot_, tight_ ? trusted_pivot_ : std::max(trusted_pivot_, kLoose), trusted_pivot_, shift_};
}

void Closing::begin_factorization() {
    delassus_.be_precise(always_precise_);
    delassus_.begin(pivot_rule(), enabled_);
    ++statistics_.factorizations;
}

void Closing::factor(bool list) {
    PivotRule rule = pivot_rule();
    rule.list = list;
    delassus_.be_precise(always_precise_);
    delassus_.factor(rule, enabled_);
    ++statistics_.factorizations;
}

void Closing::factor(bool tight, std::span<const int> excluded) {
    tight_ = tight;
    delassus_.exclude(excluded);
    factor();
}

void Closing::refactor() {
    factor();
    judge_factorization();
}

// Whether the rows at hand are dropped rightly; true if they have been factored anew.
bool Closing::judge_factorization() {
    const auto before = statistics_.factorizations;
    if (tight_ || !delassus_.doubtful().empty()) judge_rank();
    const bool large = !open_ && (rows_.rows() > kLarge || shift_ > 0.0);  // rows of a tree depend on none
    const bool fewer = dependent_rows_ < rows_.rows() && delassus_.dropped_count() < dependent_rows_;
    if (!tight_ && (fewer || (large && !measured_))) measure_small_pivots();
    if (!delassus_.is_precise() && asks_for_rank()) consult_rank();
    if (!tight_) dependent_rows_ = std::min(dependent_rows_, delassus_.dropped_count());
    if (delassus_.dropped_count() > 0 || out_of_force_)
        for (int r = 0; r < rows_.rows(); ++r) in_force_[r] = rigid_[r] && !delassus_.dropped(r) ? 1.0 : 0.0;
    out_of_force_ = delassus_.dropped_count() > 0;
    const auto disabled = static_cast<int>(std::count(enabled_.begin(), enabled_.end(), 0));
    statistics_.dropped_rows = delassus_.dropped_count() - disabled;
    statistics_.smallest_pivot = delassus_.smallest_pivot();
    const bool asked = wide_masses_ || shift_ > 0.0 || delassus_.smallest_pivot() < kExactPivot;
    refinements_ = options_.refinements >= 0 ? options_.refinements : asked;
    return statistics_.factorizations != before;
}

// More rows with small pivots than depend on each other elsewhere: the configuration is nearly singular and they are
// needed, if the tight tolerance drops as many as elsewhere.
void Closing::judge_rank() {
    if (!tight_ && doubts_are_rounding()) return;
    if (tight_ || delassus_.dropped_count() > dependent_rows_) {
        if (!tight_) factor(true, given_up_);
        if (delassus_.dropped_count() == dependent_rows_ && doubts_are_rounding()) {
            tight_ = delassus_.smallest_pivot() < kLoose;
            if (!tight_) delassus_.exclude(given_up_);
            return;
        }
        factor(false, given_up_);
    }
    if (!doubts_are_rounding()) measure_doubtful_rows();
}

bool Closing::doubts_are_rounding() const {
    const auto doubtful = delassus_.doubtful();
    return doubtful.empty() ||
           (delassus_.dropped_count() <= dependent_rows_ && std::abs(doubtful.front().pivot) <= kGrowth * rounding_);
}

// Rows come with the largest pivots first: where no more are dropped than depend on others elsewhere and the first one
// is dependent, so are the others. A needed row whose pivot is lost shows that S, as rounded, is no longer positive
// definite on the rows kept; with a shifted diagonal it is, and elimination does not magnify its errors.
void Closing::measure_doubtful_rows() {
    if (rows_.rows() <= kLarge && shift_ == 0.0) return consult_rank();
    for (;;) {
        const bool expected = dependent_rows_ < rows_.rows() && delassus_.dropped_count() <= dependent_rows_;
        std::array<int, BlockLdlt::kMostListed> dependent;
        size_t count = 0, needed = 0;
        bool lost = false;
        for (const BlockLdlt::RowPivot& row : delassus_.doubtful()) {
            if (delassus_.part_outside(row.row, trusted_pivot_) <= trusted_pivot_) {
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
            delassus_.exclude_vanished(std::span(dependent).first(count));
            factor();
            if (count + needed < dependent.size())
                dependent_rows_ = std::min(dependent_rows_, delassus_.dropped_count());
            return;
        }
        shift_ = std::max(kLeastShift, 4.0 * shift_);
        measured_ = false;
        rounding_ = 0.0;
        factor(false, given_up_);
    }
}

// The rank is found in 32 digits where loops or wide masses make it doubtful: at first, and where other rows are
// dropped or pivots have become smaller since. Rows that are dropped for doubt (equation 13) are none of its business.
bool Closing::asks_for_rank() const {
    if (rows_.rows() > kMostConsulted || shift_ > 0.0 || trusted_pivot_ > options_.rank_tolerance) return false;
    if (open_ && spread_ < kUneven) return false;
    return delassus_.dropped_count() != consulted_count_ || delassus_.smallest_pivot() < kFall * consulted_pivot_;
}

void Closing::consult_rank() {
    const bool right = delassus_.rank_is_right(trusted_pivot_);
    if (right) {
        if (!delassus_.doubtful().empty())
            rounding_ = std::max(rounding_, std::abs(delassus_.doubtful().front().pivot));
        for (const BlockLdlt::RowPivot& row : delassus_.doubtful())
            if (std::abs(row.pivot) > kCoarse) give_up(row.row);
    } else if (spread_ >= kUneven) {
        always_precise_ = true;
        tight_ = false;
        factor();
    } else {
        tight_ = true;
        delassus_.exclude_dependent();
        factor();
        if (!delassus_.rank_is_right(trusted_pivot_)) {
            delassus_.be_precise(true);
            delassus_.factor(pivot_rule(), enabled_);
            ++statistics_.factorizations;
        }
        dependent_rows_ = std::min(dependent_rows_, delassus_.dropped_count());
    }
    if (trusted_pivot_ > options_.rank_tolerance) return;
    consulted_count_ = delassus_.dropped_count();
    consulted_pivot_ = delassus_.smallest_pivot();
}

void Closing::give_up(int row) {
    const bool known = std::find(given_up_.begin(), given_up_.end(), row) != given_up_.end();
    if (!known && given_up_.size() < given_up_.capacity()) given_up_.push_back(row);
}

// In large systems the rounding of a pivot that should vanish may be larger than the loose tolerance, and than pivots
// of rows that are needed; where fewer rows are dropped than before, it may have grown. Small pivots that were kept are
// measured.
void Closing::measure_small_pivots() {
    measured_ = true;
    factor(true);
    while (!delassus_.small().empty() && give_up_a_small_pivot()) {
    }
}

bool Closing::give_up_a_small_pivot() {
    std::array<BlockLdlt::RowPivot, BlockLdlt::kMostListed> rows;
    const auto small = delassus_.small();
    const auto end = std::copy(small.begin(), small.end(), rows.begin());
    for (auto row = rows.begin(); row != end && given_up_.size() < given_up_.capacity(); ++row) {
        given_up_.push_back(row->row);
        factor(false, given_up_);
        const double part = delassus_.part_outside(row->row, trusted_pivot_);
        if (part <= trusted_pivot_) {
            rounding_ = std::max(rounding_, row->pivot);
            factor(true);
            return true;
        }
        given_up_.pop_back();
    }
    factor(false, given_up_);
    return false;
}

void Closing::forget_dependent_rows() {
    dependent_rows_ = rows_.rows();
    rounding_ = 0.0;
    tight_ = false;
    delassus_.exclude(given_up_);
}

}  // namespace bellcrank
