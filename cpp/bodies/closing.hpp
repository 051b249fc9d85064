// The constraint rows of a mechanism in maximal coordinates: which of them depend on others, and the way back onto
// them, by position corrections (Tasora eq. 36) and velocity corrections (37) that share one factorization of S = J M⁻¹
// Jᵀ.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "bodies/constrained_bodies.hpp"
#include "closing/row_judge.hpp"

namespace bellcrank {

// The position corrections of the last steps, and what they say of the next. A fixed step leaves a smooth motion off
// its constraints by an error that changes little from one step to the next, and so do the multipliers τ that correct
// it (Tasora eq. 36): carried on by a polynomial in time they anticipate most of the correction, at the cost of no
// evaluation. Whether a motion is smooth enough for its steps is shown by how near the last expectation came.
class CorrectionHistory {
  public:
    void resize(int rows);
    // Begins the correction of the step that ends at time t. The multipliers expected of it; null if nothing is known:
    // steps of another length, too few of them, or an expectation that failed.
    const double* expect(double t);
    // A part of the correction, unless none is begun or the last has ended.
    void add(const double* tau);
    void end() { begun_ = false; }

  private:
    static constexpr int kKept = 4;

    bool foreseen() const;
    void extrapolate();

    std::array<std::vector<double>, kKept> corrections_;  // τ of steps, a ring: the latest at latest_
    std::vector<double> expected_;
    int latest_ = 0;
    int alike_ = 0;  // steps of one length, the latest included
    bool begun_ = false;
    double time_ = 0.0, step_ = 0.0;
};

// Rank and projections of a model without a formulation. A formulation that stands on it finds accelerations with the
// rows and factors at hand.
class Closing : public ConstrainedBodies {
  public:
    Closing(std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
        : Closing("closing", std::move(model), options) {}

    void project_stage(double t, double* x, double* u) final;
    bool project_prediction(double t, double* x, double* u) final;
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

    Delassus& factors() { return judge_.factors(); }
    bool is_current(double t, const double* x) const;
    bool is_configuration(const double* x) const;
    void remember(double t, const double* x);
    void evaluate_rows(double t, const double* x) final;
    void apply_multipliers(const std::vector<double>& lambda, double* out) const;
    const double* displacement() final;
    // Judges a factorization in stages; true if S has been factored anew.
    bool judge();
    double correct_rates(double t, const double* x, double* u) final;

    RowJudge judge_;

    // What is known of configuration_ at time_: nothing yet; factors, while the rows have moved on; rows and factors.
    enum class Known { nothing, factors, all } known_ = Known::nothing;
    double time_ = 0.0;

    std::vector<double> step_;  // tangent vectors
    std::vector<double> rhs_;   // rows

  private:
    Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options,
            Delassus delassus);

    void refresh(double t, const double* x);
    void note_rows_in_force();
    void anticipate_correction(double t, double* x);
    std::vector<int> model_rows() const;

    bool begin_corrections(double t, const double* x) final;
    bool evaluate(double t, const double* x, bool last) final;
    void renew(double t, const double* x) final { refresh(t, x); }
    void finish_corrections(double t, const double* x, bool evaluated) final;
    void take(const double* xi, double* x) final;
    void refactor() final;
    bool drops_stop(int stop) const final { return judge_.factors().dropped(stop_rows_[stop]); }
    void rows_changed() final;
    void find_impulses(std::vector<double>& b) final { judge_.solve(b); }
    int null_dimension() final { return factors().null_dimension(); }
    void add_null_vectors(std::vector<std::vector<double>>& out) final;

    CorrectionHistory history_;
    bool anticipates_ = false;
    int dropped_then_ = -1;      // rows at the end of the last step
    bool out_of_force_ = false;  // whether some rows are dropped
    std::vector<double> configuration_;
};

}  // namespace bellcrank
