// The constraint rows of a mechanism in maximal coordinates: which of them depend on others, and the way back onto
// them, by position corrections (Tasora eq. 36) and velocity corrections (37) that share one factorization of S = J M⁻¹
// Jᵀ.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bodies/constrained_bodies.hpp"
#include "closing/correction_history.hpp"
#include "closing/delassus.hpp"
#include "closing/options.hpp"

namespace bellcrank {

struct RefinedClosingOptions : ClosingOptions {
    int refinements = -1;

    BELLCRANK_MORE_FIELDS(RefinedClosingOptions, ClosingOptions,
                          (refinements, "", "Steps of iterative refinement in a solve; -1: by the mass ratio.", -1.0))
};

// Rank and projections of a model without a formulation. A formulation that stands on it finds accelerations with the
// rows and factors at hand.
class Closing : public ConstrainedBodies {
  public:
    Closing(std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
        : Closing("closing", std::move(model), options) {}

    void project_stage(double t, double* x, double* u) final;
    bool project_prediction(double t, double* x, double* u) final;
    bool project(double t, double* x, double* u) final;
    bool project_step(double t, double* x, double* u) final;
    double position_noise(const double* x) const final;
    void inputs_changed() override;
    std::vector<int> dropped_rows() final;

    // Model rows that depend on others at a configuration while all stops are open, found anew.
    std::vector<int> redundant_rows(double t, const double* x);
    // The first `most` of the dropped rows as combinations of the others: J_row = Σ factor · J_other.
    std::vector<Dependence> dependences(int most);

  protected:
    Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
        : Closing(name, model, options, Delassus(*model)) {}

    bool is_current(double t, const double* x) const;
    bool is_configuration(const double* x) const;
    void remember(double t, const double* x);
    void evaluate_rows(double t, const double* x) final;
    void solve(std::vector<double>& rhs);
    void apply_multipliers(const std::vector<double>& lambda, double* out) const;

    void position_step();
    double largest_error() const;
    bool dropped_positions_hold() const;
    bool dropped_rates_hold(const double* u, const std::vector<double>& before);

    void begin_factorization();
    bool judge_factorization();

    RefinedClosingOptions options_;
    Delassus delassus_;

    // What is known of configuration_ at time_: nothing yet; factors, while the rows have moved on; rows and factors.
    enum class Known { nothing, factors, all } known_ = Known::nothing;
    double time_ = 0.0;
    double trusted_pivot_ = 0.0;  // relative pivot below which rows are dropped just now
    bool wide_masses_ = false;
    bool always_precise_ = false;  // in 32 digits
    int refinements_ = 0;

    std::vector<double> step_;                                 // tangent vectors
    std::vector<double> rhs_, impulse_, solution_, residual_;  // rows
    std::vector<double> in_force_;  // per storage row: 1 if rigid and not dropped (as an open stop is), else 0
    bool out_of_force_ = false;     // whether some rigid rows are dropped

  private:
    Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options,
            Delassus delassus);

    void refresh(double t, const double* x);
    std::vector<int> model_rows() const;

    // Projections (closing/projection.cpp).
    void correct_positions(double t, double* x) final { correct_positions(t, x, true); }
    void correct_positions(double t, double* x, bool doubting);
    bool finish_correction(double t, double* x) final;
    void anticipate_correction(double t, double* x);
    void correct_doubted_rows(double t, double* x);
    void correct_without_velocity_rows(double t, double* x);
    bool correct_velocities(double* u) final;
    void correct_velocities(double* u, bool impacts);
    bool runs_through_a_stop() const;
    bool dropped_rows_within(const std::vector<double>& errors, double limit) const;

    // Which rows count as dependent (closing/rank.cpp).
    PivotRule pivot_rule() const;
    void factor(bool list = false);
    void factor(bool tight, std::span<const int> excluded);
    void refactor();
    void judge_rank();
    bool doubts_are_rounding() const;
    void measure_doubtful_rows();
    void measure_small_pivots();
    bool give_up_a_small_pivot();
    void give_up(int row);
    bool asks_for_rank() const;
    void consult_rank();
    void forget_dependent_rows();

    void rows_changed() final;
    void find_impulses(std::vector<double>& b) final { solve(b); }
    int null_dimension() final { return delassus_.null_dimension(); }
    void add_null_vectors(std::vector<std::vector<double>>& out) final;

    CorrectionHistory history_;
    bool anticipates_ = false;
    int dropped_then_ = -1;     // rows at the end of the last step
    double contraction_ = 1.0;  // of the error by the first correction of the last projection

    std::vector<double> configuration_;
    bool tight_ = false;         // whether rows with small pivots are kept (closing/rank.cpp)
    int dependent_rows_ = 0;     // fewest rows that were found dependent; all rows: not known
    double rounding_ = 0.0;      // largest relative pivot of a row that was measured to be dependent
    std::vector<int> given_up_;  // dependent rows whose pivots are rounding, but not small
    bool measured_ = false;      // whether these are known
    double shift_ = 0.0;         // of the diagonal entries of S, in parts of them
    double spread_ = 1.0;        // of mobilities
    int consulted_count_ = -1;   // rows dropped, and smallest pivot, when the rank was last asked for
    double consulted_pivot_ = 0.0;
};

}  // namespace bellcrank
