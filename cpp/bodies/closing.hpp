// The constraint rows of a mechanism in maximal coordinates: which of them depend on others, and the way back onto
// them, by position corrections (Tasora eq. 36) and velocity corrections (37) that share one factorization of S = J M⁻¹
// Jᵀ.
#pragma once

#include <memory>
#include <vector>

#include "bodies/constrained_bodies.hpp"
#include "bodies/correction_history.hpp"
#include "closing/row_judge.hpp"

namespace bellcrank {

// Rank and projections of a model without a formulation. A formulation that stands on it finds accelerations with the
// rows and factors at hand.
class Closing : public ConstrainedBodies {
  public:
    Closing(std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
        : Closing("closing", std::move(model), options) {}

    bool project_prediction(double t, double* x, double* u) final;
    bool project_step(double t, double* x, double* u) final;
    double position_noise(const double* x) const final;
    std::vector<int> dropped_rows() final;

    // Model rows that depend on others at a configuration while all stops are open, found anew.
    std::vector<int> redundant_rows(double t, const double* x);
    // The first `most` of the dropped rows as combinations of the others: J_row = Σ factor · J_other.
    std::vector<Dependence> dependences(int most);

  protected:
    Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
        : Closing(name, model, options, Delassus(*model)) {}

    Delassus& factors() { return judge_.factors(); }
    void apply_multipliers(const std::vector<double>& lambda, double* out) const;
    double largest_error(bool dropped) final;
    const double* displacement() final;
    // Judges a factorization in stages; true if S has been factored anew.
    bool judge();
    double correct_rates(double t, const double* x, double* u) final;

    void solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) final;

    RowJudge judge_;

    std::vector<double> step_;  // tangent vectors
    std::vector<double> rhs_;   // rows

  private:
    Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options,
            Delassus delassus);

    void refresh(double t, const double* x) final;
    void note_rows_in_force();
    void anticipate_correction(double t, double* x);
    std::vector<int> model_rows() const;

    bool begin_corrections(double t, const double* x) final;
    bool evaluate(double t, const double* x, bool last) final;
    void finish_corrections(double t, const double* x, bool evaluated) final;
    void take(const double* xi, double* x) final;
    void refactor() final;
    bool drops_stop(int stop) const final { return judge_.factors().dropped(stop_rows_[stop]); }
    void rows_changed() final;
    void find_impulses(std::vector<double>& b) final { judge_.solve(b); }
    int null_dimension() final { return factors().null_dimension(); }
    void add_null_vectors(RowLoads& out) final;

    CorrectionHistory history_;
    bool anticipates_ = false;
    int dropped_then_ = -1;      // rows at the end of the last step
    bool out_of_force_ = false;  // whether some rows are dropped
};

}  // namespace bellcrank
