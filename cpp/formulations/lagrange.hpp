// Lagrange multipliers in maximal coordinates (A. Tasora, An optimized Lagrangian-multiplier approach for interactive
// multibody simulation): accelerations (eq. 35), position corrections (36) and velocity corrections (37) share one
// factorization. Six unknowns per body, quaternions without rows of their own (section 4.2).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "formulations/lagrange/correction_history.hpp"
#include "formulations/lagrange/delassus.hpp"
#include "formulations/lagrange/implicit.hpp"
#include "model/constraint_rows.hpp"
#include "model/forces.hpp"
#include "model/free_motion.hpp"
#include "model/state.hpp"
#include "model/stops.hpp"
#include "model/system.hpp"
#include "spatial/body_state.hpp"

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

class Lagrange final : public System {
  public:
    Lagrange(std::shared_ptr<const Model> model, const LagrangeOptions& options);

    int configuration_size() const override { return kPose * (model_->bodies() + 1); }
    int tangent_size() const override { return kTwist * (model_->bodies() + 1); }
    int velocity_components() const override { return 6 * model_->bodies(); }
    int free_components() const override;
    void compress(const double* u, double* components) const override;
    void expand(const double* components, double* u) const override;
    bool has_flat_charts() const override { return is_planar(); }
    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void retract(const double* x0, const double* xi, double* out) const override;
    void chart_rate(const double* xi, const double* u, double* rate) const override;
    void chart_velocity(const double* xi, const double* rate, double* u) const override;
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const override;
    void retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                       double* out) const override;
    void project_stage(double t, double* x, double* u) override;
    bool project_prediction(double t, double* x, double* u) override;
    bool project(double t, double* x, double* u) override;
    bool project_step(double t, double* x, double* u) override;
    bool settle(double t, const double* near, double* xi, double* x, double* u, double* udot) override;
    void linearize(double t, const double* x, const double* u, double gamma, bool renew) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    bool linearizes_cheaply() const override { return linearizes_by_rows(); }
    bool settle_corrected(double t, double* x, double* u) override;
    int stops() const override { return stops_.count(); }
    int row_of_stop(int stop) const override { return stops_.rows()[stop]; }
    void watch_stops(double t, const double* x, const double* u) override;
    void meet_stops() override { stops_.watch_none(); }
    void gaps(double t, const double* x, const double* u, double* out) override;
    void break_times(double from, double to, std::vector<double>& out) const override;
    bool turns(int component) const override { return component % kTwist >= 4; }
    void measure(double t, const double* x, const double* u, const Observation& what, double* out) override;
    void inputs_changed() override;
    void commit(double t, const double* x, const double* u) override;
    double longest_step(const double* x, const double* u, double h) override;
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    Energy energy_at(double t, const double* x, const double* u) override;
    double position_noise(const double* x) const override;
    int worst_row() const override;
    int first_non_finite_body(const double* x, const double* u) const override;
    const Statistics& statistics() const override { return statistics_; }

    const Model& model() const override { return *model_; }
    // Multipliers by model row after accelerate(): M u̇ = f + Jᵀ λ, of least norm where rows are redundant. Whether
    // the equations of motion determine a row's.
    void multipliers(double* out);
    bool determines(int row) const;
    // Model rows that depended on others at the last factorization.
    std::vector<int> dropped_rows();
    // The first `most` of them as combinations of the others: J_row = Σ factor · J_other.
    std::vector<Dependence> dependences(int most);
    // Wrench of a reaction after accelerate(), with minimum-norm multipliers where rows are redundant.
    // unique[0], unique[1]: whether its moment and its force are determined by the equations of motion.
    struct ReactionWrench {
        double wrench[6];
        bool unique[2];
    };
    void reactions(const double* x, const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out);
    // Largest |C| and |Ċ| over rows that hold, at (t, x, u).
    void violation(double t, const double* x, const double* u, double* position, double* velocity);
    const AngleBranches& branches() const { return branches_; }
    // Every angle to its branch nearest to what leads it at time t, else to zero; or to the last value followed.
    void reset_angles(double t);
    void follow_angles(const double* x);
    // Every angle to its branch nearest to the value given for its coordinate.
    void set_angles(const double* x, const double* values);

  private:
    bool is_current(double t, const double* x) const;
    bool is_configuration(const double* x) const;
    void refresh(double t, const double* x);
    void solve(std::vector<double>& rhs);
    void scale(const double* u, double* scaled) const;
    void remember(double t, const double* x);
    void apply_multipliers(const std::vector<double>& lambda, double* out) const;
    void accelerate_in_stages(double t, const double* x, const double* u, double* udot);

    void refine_acceleration(double t, const double* x, const double* u, double* udot);
    void accelerate_precisely(double t, const double* x, const double* u, double* udot);
    double size_of_accelerations() const;
    void refine(double t, const double* x, const double* u, double* udot);
    void correct_positions(double t, double* x, bool doubting = true);
    void anticipate_correction(double t, double* x);
    void correct_doubted_rows(double t, double* x);
    void correct_without_velocity_rows(double t, double* x);
    double rounding_of_rows(const double* x) const;
    void position_step();
    double largest_rotation(const double* displacement) const;
    void correct_velocities(double* u, bool impacts);
    bool is_planar() const { return !model_->normal.empty(); }
    void span_plane();
    void flatten(double* u) const;
    bool settle_positions(double t, double* x);
    bool settle_velocities(double* u, double stale);
    void settle_acceleration(double t, const double* x, const double* u, double stale, double* udot);
    double largest_error() const;

    // Rows that were dropped (lagrange/judge.cpp).
    bool dropped_rows_within(const std::vector<double>& errors, double limit) const;
    bool dropped_positions_hold() const;
    bool dropped_rates_hold(const double* u, const std::vector<double>& before);
    bool in_proportion(double t, const double* u) const;

    bool linearizes_by_rows() const;

    // Stops (lagrange/stops.cpp).
    bool enable_stops(const std::vector<std::uint8_t>& active);
    void gather_gaps();
    void gather_stops(const double* u);
    bool close_penetrated_stops();
    bool open_stops();
    bool runs_through_a_stop() const;
    void solve_with_stops(std::vector<double>& lambda);
    void accelerate_with_stops(const double* u);
    void remember_stops(double t, const double* x, const double* u);
    void set_impact_speeds();

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

    // Redundant rows (lagrange/sharing.cpp).
    void share_loads();
    void share_by_basis();
    void share_by_iteration();
    void remove_what_acts(std::vector<double>& loads);
    void add_nothing(const std::vector<double>& multipliers);
    void judge(const Observation::Reaction& reaction, const double* x, bool* unique) const;
    void wrench_of(const Observation::Reaction& reaction, const double* x, const std::vector<double>& lambda,
                   double* wrench) const;

    std::shared_ptr<const Model> model_;
    LagrangeOptions options_;
    AngleBranches branches_;
    FreeMotion free_motion_;
    Delassus delassus_;
    ConstraintRows rows_;
    Statistics statistics_;
    CorrectionHistory history_;
    bool anticipates_ = false;
    int dropped_then_ = -1;     // rows at the end of the last step
    double contraction_ = 1.0;  // of the error by the first correction of the last projection

    std::vector<double> sqrt_mass_;      // M^(1/2) in records of kTwist, ground zero
    std::vector<double> configuration_;  // x of the current factorization, at time_
    double time_ = 0.0;
    double moved_at_ = 0.0;  // where time_ is not a number: the rows are of another configuration, at this time
    bool valid_ = false;
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
    int unchecked_ = 0;     // accelerations since one was checked
    bool refines_ = false;  // whether that asked for refinement
    int refinements_ = 0;
    std::vector<double> plane_;                  // axes of the plane of motion and of rotations in it; empty: none
    double corrected_ = 0.0;                     // by how much the last projection turned a body [rad]
    double last_fastest_ = -1.0;                 // body where the last step ended [rad/s], −1: there was none
    double traveled_ = 0.0, followed_at_ = 0.0;  // bound on the rotation since angles were followed [rad]; time

    std::vector<double> scaled_, step_;                                         // tangent vectors
    std::vector<double> lambda_, rhs_, impulse_, solution_, residual_, speed_;  // rows
    std::vector<double> shared_;                // lambda_ of least norm; known if is_shared_
    std::vector<std::vector<double>> nothing_;  // multipliers that exert nothing: a basis, or some at random
    bool is_shared_ = false;
    std::vector<std::uint8_t> rigid_;       // per storage row: holds C = 0 (not an inertance)
    std::vector<double> in_force_;          // per storage row: 1 if rigid and not dropped (as an open stop is), else 0
    bool out_of_force_ = false;             // whether some rigid rows are dropped
    std::vector<std::uint8_t> unilateral_;  // per storage row: a stop
    std::vector<double> weight_;            // per storage row: force or moment per unit of its multiplier
    std::vector<std::uint8_t> displaces_;   // per storage row: its multiplier is a force
    Stops stops_;
    std::vector<int> stop_rows_;              // their storage rows
    std::vector<std::uint8_t> enabled_;       // per storage row; empty without stops and conditions of velocities
    std::vector<int> velocity_rows_;          // storage rows that hold velocities alone
    std::vector<int> drifting_;               // angular coordinates that turn without a body turning (azimuths)
    std::vector<int> layout_of_;              // model block → layout index
    std::unique_ptr<ImplicitRows> implicit_;  // of implicit methods only
    bool open_ = false;                       // no loops
    std::vector<std::uint8_t> held_stops_;    // per model row, if there are stops
    std::vector<double> defect_;
};

}  // namespace bellcrank
