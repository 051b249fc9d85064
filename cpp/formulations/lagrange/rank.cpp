// Which rows count as dependent on others and are dropped.
//
// Of rows that depend on each other, elimination keeps those that come first, and drops a later one when its pivot
// vanishes. Two things go wrong with a fixed tolerance for that. Elsewhere in the motion the rows kept may be nearly
// dependent where others, dropped, are not; and the rounding of a pivot that should vanish grows with the square of
// the multipliers that cancel there, which are large for thin bodies. Both show as small pivots, and both are mended by
// a looser tolerance, which drops no more rows in all than depend on others anyway. Where it does drop more, the
// configuration is nearly singular and the rows are needed.
#include <algorithm>

#include "formulations/lagrange.hpp"

namespace bellcrank {

namespace {

// Tolerances beyond the options' own, ever looser.
constexpr double kTolerances[] = {0.0, 1e-8, 1e-6, 1e-4};
constexpr int kLoosest = 3;

// A pivot above this is no rounding error of one that vanishes.
constexpr double kClearPivot = 1e-8;

// Factors lose about as many digits as the smallest pivot has zeros; beyond three, a step of refinement restores them.
constexpr double kExactPivot = 1e-3;

}  // namespace

void Lagrange::begin_factorization() {
    delassus_.begin(std::max(trusted_pivot_, kTolerances[level_]), enabled_);
    ++statistics_.factorizations;
}

void Lagrange::factor() {
    delassus_.factor(std::max(trusted_pivot_, kTolerances[level_]), enabled_);
    ++statistics_.factorizations;
}

void Lagrange::refactor() {
    factor();
    judge_factorization();
}

// Whether the rows at hand are dropped rightly, as far as can be told; true if they have been factored anew.
bool Lagrange::judge_factorization() {
    const auto before = statistics_.factorizations;
    while (kTolerances[level_] > trusted_pivot_ && delassus_.dropped_count() > dependent_rows_) {
        --level_;
        factor();
    }
    const double smallest = delassus_.smallest_pivot();
    if (smallest > kClearPivot) dependent_rows_ = std::min(dependent_rows_, delassus_.dropped_count());
    if (smallest > kTolerances[kLoosest]) {
        poor_pivot_ = kTolerances[kLoosest];
    } else if (smallest < poor_pivot_) {
        loosen();
    }
    const auto disabled = static_cast<int>(std::count(enabled_.begin(), enabled_.end(), 0));
    statistics_.dropped_rows = delassus_.dropped_count() - disabled;
    statistics_.smallest_pivot = delassus_.smallest_pivot();
    const bool asked = wide_masses_ || delassus_.smallest_pivot() < kExactPivot;
    refinements_ = options_.refinements >= 0 ? options_.refinements : asked;
    return statistics_.factorizations != before;
}

// The loosest tolerance that drops no more rows than depend on others; the next factorization starts with it. If there
// is none, it is not tried again until the pivots are much smaller still.
void Lagrange::loosen() {
    const bool known = dependent_rows_ < rows_.rows();
    const int dependent = known ? dependent_rows_ : delassus_.dropped_count(), before = level_;
    if (dependent == std::count(enabled_.begin(), enabled_.end(), 0)) return;
    const double smallest = delassus_.smallest_pivot();
    for (level_ = kLoosest; kTolerances[level_] > smallest && level_ > before; --level_) {
        factor();
        if (delassus_.dropped_count() > dependent) continue;
        if (!known) level_ = before;
        return;
    }
    level_ = before;
    poor_pivot_ = 0.25 * smallest;
    factor();
}

void Lagrange::forget_dependent_rows() {
    dependent_rows_ = rows_.rows();
    level_ = 0;
    poor_pivot_ = kTolerances[kLoosest];
}

}  // namespace bellcrank
