// Lagrange multipliers in maximal coordinates (A. Tasora, An optimized Lagrangian-multiplier approach for interactive
// multibody simulation): accelerations (eq. 35), position corrections (36) and velocity corrections (37) share one
// factorization. Six unknowns per body, quaternions without rows of their own (section 4.2).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bodies/constrained_bodies.hpp"
#include "formulations/lagrange/correction_history.hpp"
#include "formulations/lagrange/delassus.hpp"
#include "formulations/lagrange/implicit.hpp"
#include "impulses/impulse_step.hpp"

namespace bellcrank {

struct LagrangeOptions {
    double rank_tolerance = 1e-10;      // pivot against its own diagonal entry below which a row is redundant
    double position_tolerance = 1e-13;  // largest |C| after projection [m, or half radians]
    double stage_pivot = 1e-2;          // smallest relative pivot below which the stages of a step are projected too
    double doubt = 10.0;                // angle between rows, in rotations of a correction, that tells nothing
    double contact_tolerance = 1e-8;    // gap of a stop taken as closed [m or rad]
    double rest_speed = 1e-3;           // approach speed below which an impact does not bounce [m/s or rad/s]
    int max_corrections = 25;
    int refinements = -1;  // steps of iterative refinement per solve; −1: as the pivots ask for it
};

class Lagrange final : public ConstrainedBodies {
  public:
    Lagrange(std::shared_ptr<const Model> model, const LagrangeOptions& options);

    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void project_stage(double t, double* x, double* u) override;
    bool project_prediction(double t, double* x, double* u) override;
    bool project(double t, double* x, double* u) override;
    bool project_step(double t, double* x, double* u) override;
    bool finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) override;
    double position_noise(const double* x) const override;
    void linearize(double t, const double* x, const double* u, double gamma, bool renew) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    bool linearizes_cheaply() const override { return linearizes_by_rows(); }
    bool finish_corrected_step(double t, double* x, double* u) override;
    void inputs_changed() override;
    ImpulseOutcome strike(double t, const double* x, const std::vector<Blow>& blows,
                          const std::vector<StruckPoint>& points, double tolerance, double* u,
                          std::vector<Vec3>& told) override;
    ImpulseOutcome step_by_impulses(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                    double* u1) override;
    std::vector<int> dropped_rows() override;
    // The first `most` of them as combinations of the others: J_row = Σ factor · J_other.
    std::vector<Dependence> dependences(int most);

  private:
    Lagrange(std::shared_ptr<const Model> model, const LagrangeOptions& options, Delassus delassus);

    bool is_current(double t, const double* x) const;
    bool is_configuration(const double* x) const;
    void refresh(double t, const double* x);
    void solve(std::vector<double>& rhs);
    void remember(double t, const double* x);
    void evaluate_rows(double t, const double* x) override;
    void apply_multipliers(const std::vector<double>& lambda, double* out) const;
    void accelerate_in_stages(double t, const double* x, const double* u, double* udot);

    void refine_acceleration(double t, const double* x, const double* u, double* udot);
    void accelerate_precisely(double t, const double* x, const double* u, double* udot);
    double size_of_accelerations() const;
    bool loses_digits(const double* udot) const;
    void refine(double t, const double* x, const double* u, double* udot);
    void correct_positions(double t, double* x) override { correct_positions(t, x, true); }
    void correct_positions(double t, double* x, bool doubting);
    bool finish_correction(double t, double* x) override;
    void anticipate_correction(double t, double* x);
    void correct_doubted_rows(double t, double* x);
    void correct_without_velocity_rows(double t, double* x);
    void position_step();
    bool correct_velocities(double* u) override;
    void correct_velocities(double* u, bool impacts);
    bool finish_positions(double t, double* x);
    bool finish_velocities(double* u, double stale);
    void finish_acceleration(double t, const double* x, const double* u, double stale, double* udot);
    double largest_error() const;

    // Rows that were dropped (lagrange/judge.cpp).
    bool dropped_rows_within(const std::vector<double>& errors, double limit) const;
    bool dropped_positions_hold() const;
    bool dropped_rates_hold(const double* u, const std::vector<double>& before);

    bool linearizes_by_rows() const;

    // Stops (lagrange/stops.cpp).
    void rows_changed() override;
    ImpulseStep& impulses();
    bool runs_through_a_stop() const;
    void solve_with_stops(std::vector<double>& lambda);
    void find_impulses(std::vector<double>& b) override { solve(b); }

    // Which rows count as dependent (lagrange/rank.cpp).
    PivotRule pivot_rule() const;
    void begin_factorization();
    void factor(bool list = false);
    void factor(bool tight, std::span<const int> excluded);
    void refactor();
    bool judge_factorization();
    void judge_rank();
    bool doubts_are_rounding() const;
    void measure_doubtful_rows();
    void measure_small_pivots();
    bool give_up_a_small_pivot();
    void give_up(int row);
    bool asks_for_rank() const;
    void consult_rank();
    void forget_dependent_rows();

    int null_dimension() override { return delassus_.null_dimension(); }
    void add_null_vectors(std::vector<std::vector<double>>& out) override;

    LagrangeOptions options_;
    Delassus delassus_;
    CorrectionHistory history_;
    bool anticipates_ = false;
    int dropped_then_ = -1;     // rows at the end of the last step
    double contraction_ = 1.0;  // of the error by the first correction of the last projection

    // What is known of configuration_ at time_: nothing yet; factors, while the rows have moved on; rows and factors.
    enum class Known { nothing, factors, all } known_ = Known::nothing;
    std::vector<double> configuration_;
    double time_ = 0.0;
    double trusted_pivot_ = 0.0;  // relative pivot below which rows are dropped just now
    bool tight_ = false;          // whether rows with small pivots are kept (lagrange/rank.cpp)
    int dependent_rows_ = 0;      // fewest rows that were found dependent; all rows: not known
    double rounding_ = 0.0;       // largest relative pivot of a row that was measured to be dependent
    std::vector<int> given_up_;   // dependent rows whose pivots are rounding, but not small
    bool measured_ = false;       // whether these are known
    double shift_ = 0.0;          // of the diagonal entries of S, in parts of them
    bool wide_masses_ = false;
    double spread_ = 1.0;          // of mobilities
    bool always_precise_ = false;  // in 32 digits
    int consulted_count_ = -1;     // rows dropped, and smallest pivot, when the rank was last asked for
    double consulted_pivot_ = 0.0;
    double largest_free_ = 0.0;  // component of the accelerations that forces alone would give
    int unchecked_ = 0;          // accelerations since one was checked
    bool refines_ = false;       // whether that asked for refinement
    int refinements_ = 0;

    std::vector<double> step_;                                 // tangent vectors
    std::vector<double> rhs_, impulse_, solution_, residual_;  // rows
    std::vector<double> in_force_;  // per storage row: 1 if rigid and not dropped (as an open stop is), else 0
    bool out_of_force_ = false;     // whether some rigid rows are dropped
    std::unique_ptr<ImplicitRows> implicit_;  // of implicit methods only
    std::unique_ptr<ImpulseStep> impulses_;   // of methods that step by impulses, and of those who strike
    std::vector<std::uint8_t> held_stops_;    // per model row, if there are stops
    std::vector<double> defect_;
};

}  // namespace bellcrank
