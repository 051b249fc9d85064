// Who decides which rows are redundant, when solutions are refined, and when there are 32 digits
// (docs/theory/redundant-rows.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "closing/delassus.hpp"
#include "closing/options.hpp"
#include "model/system.hpp"

namespace bellcrank {

// Beyond this spread of mobilities doubles do not hold S.
inline constexpr double kMostSpread = 1e7;

struct RefinedClosingOptions : ClosingOptions {
    int refinements = -1;

    BELLCRANK_MORE_FIELDS(RefinedClosingOptions, ClosingOptions,
                          (refinements, "", "Steps of iterative refinement in a solve; -1: by the mass ratio.", -1.0))
};

// Of a row that depends on others in S, elimination keeps those that come first and drops a later one when its pivot
// vanishes. Three things go wrong with a fixed tolerance for that. Elsewhere in the motion the rows kept may be nearly
// dependent where others, dropped, are not. The rounding of a pivot that should vanish grows with the square of the
// multipliers that cancel there, which are large for thin bodies and long loops. And over thousands of bodies in line
// rounding can take all of a pivot that does not vanish.
//
// So rows that close loops are dropped below a loose tolerance, which leaves rows that are clearly independent. Whether
// they are as many as depend on others, and those kept on none, is found in 32 digits; in large systems, where this
// would take too long, one that was dropped with a pivot that does not vanish is measured by the multipliers that
// balance it, applied to the rows themselves. What proves needed comes back under the tight tolerance, and nothing else
// does.
class RowJudge {
  public:
    // open: the rows close no loop. enabled: per storage row, empty if all take part.
    RowJudge(Delassus factors, const Model& model, ConstraintRows& rows, const std::vector<std::uint8_t>& enabled,
             bool open, const RefinedClosingOptions& options, Statistics& statistics);

    Delassus& factors() { return factors_; }
    const Delassus& factors() const { return factors_; }

    // S of the rows' current Jacobian, factored. Rows with relative pivots below `trusted` are dropped, as if they were
    // redundant: the rank tolerance, or more where the configuration is in doubt.
    void factor(double trusted);
    // The same in stages: begin(), those of factors(), then judge(), which is true if S has been factored anew.
    void begin(double trusted);
    bool judge();
    // Other rows take part than before.
    void forget();

    // b ← S⁺ b, refined as often as the pivots ask for it.
    void solve(std::vector<double>& b);
    // Multipliers that exert nothing (Delassus::for_each_null_vector()), as exact as the pivots let factors be.
    void for_each_null_vector(const std::function<void(const std::vector<double>&)>& visit);

    // In 32 digits always.
    bool is_precise() const { return always_precise_; }
    // Masses so far apart that factors lose more digits than one solution with them can spare.
    bool has_wide_masses() const { return wide_masses_; }
    // Steps of refinement that an acceleration takes without being asked; of those that users have set; −1: until it
    // has settled.
    int fixed_refinements() const { return options_.refinements >= 0 ? refinements_ : -1; }
    // Whether an acceleration is to be refined. largest_free: the largest that forces alone would give; size: what is
    // large where all are small.
    bool asks_for_refinement(double largest_free, std::span<const double> udot, double size);
    // What is to be done after a step of refinement, the first being 0, that has changed the acceleration by `part` of
    // the largest.
    enum class Next { done, refine, precise };
    Next after_refinement(int step, double part);

  private:
    PivotRule rule() const;
    bool is_doubting() const { return trusted_ > options_.rank_tolerance; }
    void factor_as(bool tight, std::span<const int> excluded);
    void factor_again(bool list = false);
    void judge_rank();
    bool doubts_are_rounding() const;
    void measure_doubtful_rows();
    void measure_small_pivots();
    bool give_up_a_small_pivot();
    void give_up(int row);
    bool asks_for_rank() const;
    void consult_rank();

    Delassus factors_;
    const ConstraintRows& rows_;
    const std::vector<std::uint8_t>& enabled_;
    const bool open_;
    const RefinedClosingOptions options_;
    Statistics& statistics_;

    const double spread_;  // of mobilities
    const bool wide_masses_;
    bool always_precise_;
    double trusted_;
    int refinements_ = 0;
    bool short_of_digits_ = false;
    bool refines_ = false;  // whether the last acceleration that was checked asked for it
    int unchecked_;         // accelerations since then
    double last_part_ = 0.0;

    bool tight_ = false;         // whether rows with small pivots are kept
    int dependent_rows_;         // fewest rows that were found dependent; all rows: not known
    double rounding_ = 0.0;      // largest relative pivot of a row that was measured to be dependent
    std::vector<int> given_up_;  // dependent rows whose pivots are rounding, but not small
    bool measured_ = false;      // whether these are known
    double shift_ = 0.0;         // of the diagonal entries of S, in parts of them
    int consulted_count_ = -1;   // rows dropped, and smallest pivot, when the rank was last found in 32 digits
    double consulted_pivot_ = 0.0;
    std::vector<double> solution_, residual_;
};

}  // namespace bellcrank
