// Bodies whose rows are met by multipliers: stops among them, projections between these, and how redundant rows share
// their load.
#pragma once

#include <memory>
#include <vector>

#include "bodies/bodies.hpp"
#include "closing/implicit_rows.hpp"
#include "closing/projector.hpp"
#include "tangents/equations_tangent.hpp"

namespace bellcrank {

// A formulation that stands on it solves with the rows that are enabled, and corrects. Stops are enabled where they
// push (model/stops.hpp).
class ConstrainedBodies : public Projected<Bodies> {
  public:
    bool project(double t, double* x, double* u) override;
    void project_stage(double t, double* x, double* u) final;
    void inputs_changed() override;
    void linearize(double t, const double* x, const double* u, double gamma, bool renew) final;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    void solve_linearized(const double* r, double* out) final;
    double damping_part(const double* v) final;
    bool linearizes_cheaply() const final { return linearizes_by_rows(); }
    void commit(double t, const double* x, const double* u) final;
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) final;
    void set_angles(double* x, const double* values) final;

    void close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                          double* du, double* left) final;
    void close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                       const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) final;
    void tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                 double* out, double* multipliers) final;
    void adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                 const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                 ModelGradient& by_numbers) final;
    void add_turning(const double* xi, const double* u, double sign, const double* dx, const double* du, int lanes,
                     double* of_dx, double* of_du) final;
    void measure_tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                         const double* dudot, Measured& out) final;
    void measure_adjoint(double t, const double* x, const double* u, const double* udot, const Measured& of,
                         const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) final;
    void impact_tangent(double t, const double* x, const double* u, const double* u1, const Directions& directions,
                        double* du1) final;
    void impact_adjoint(double t, const double* x, const double* u, const double* u1, const double* of_after,
                        const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) final;

  protected:
    ConstrainedBodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order,
                      const ClosingOptions& options);

    bool is_current(double t, const double* x) const;
    bool is_configuration(const double* x) const;
    void remember(double t, const double* x);
    void evaluate_rows(double t, const double* x) final;
    // Reads them from rows that are known there.
    void measure_stops(double t, const double* x, const double* u) final;
    // Ends with remember().
    void refresh(double t, const double* x) override = 0;

    // Other rows take part than before.
    virtual void rows_changed() = 0;
    // Of speeds: b ← λ with S λ = b, for the rows that are enabled.
    virtual void find_impulses(std::vector<double>& b) = 0;
    // Redundant rows of those that are enabled: how many there are, and as many multipliers that exert nothing.
    virtual int null_dimension() = 0;
    virtual void add_null_vectors(RowLoads& out) = 0;
    // With `wanted` by storage row, J v + compliance × μ = wanted for v = given + M⁻¹ Jᵀ μ, v a tangent vector. Rows
    // that do not take part, dropped ones among them, are left as they are.
    virtual void solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) = 0;

    // A tangent vector that efforts in rows accelerate, and multipliers of rows in the equations that answer to them,
    // added to what is there. False where doubles do not hold it.
    virtual bool respond(const std::vector<double>& efforts, double* v, std::vector<double>& mu);

    void open_stops();
    // Accelerations off stops that are candidates: with b in `wanted`, λ such that y = S λ − b is zero on
    // equations and complementary to λ on candidates. solve() finds λ for the rows that are enabled, excess(row) is y.
    template <class Solve, class Excess>
    void find_pushing(std::vector<double>& lambda, const Solve& solve, const Excess& excess);
    void note_contacts(const std::vector<double>& wanted) { Projector::note_contacts(largest_of_rows(wanted)); }
    // Ċ of rows that hold positions or velocities, in speed_.
    void find_rates(const double* u);
    static double largest_of_rows(const std::vector<double>& values);  // and not nothing
    double largest_rotation(const double* displacement) const;
    double rounding_of_rows(const double* x) const;

    bool has_rows() const final { return rows_.rows() > 0; }
    void begin_closing(double t, const double* x) final { rows_.evaluate_values(t, x); }
    bool begin_stage(double t, const double* x, const double* u) override;
    double extent(const double* v) const final { return largest_rotation(v); }
    // Largest error of the rows that were given up.
    double largest_given_up() const;
    bool dropped_rates_within(double limit) final;
    void find_rates(double, const double*, const double* u) final { find_rates(u); }
    double correct_rates(double t, const double* x, double* u) override;
    void enable_stops() final;
    bool has_velocity_rows() const final { return !velocity_rows_.empty(); }
    void leave_out_velocity_rows(bool out, double t, const double* x) final;

    bool linearizes_by_rows() const;
    // A row is taken to depend on others by implicit methods when its pivot falls below this part of its diagonal
    // entry; what is dropped wrongly is mended by the projection at the end of the step.
    double dependent_ = 1e-8;
    std::unique_ptr<ImplicitRows> implicit_;  // of implicit methods only

    const bool open_;                             // no loops
    std::vector<int> stop_rows_, velocity_rows_;  // storage rows: of stops; that hold velocities alone
    std::vector<double> lambda_;                  // per storage row, of the last acceleration
    // Per storage row: 1 if rigid and not dropped (as an open stop is), else 0; of formulations that distinguish no
    // redundant rows always 0, and all rigid rows are judged as those that were dropped.
    std::vector<double> in_force_;

    // What is known of configuration_ at time_: nothing yet; factors, while the rows have moved on; rows and factors.
    enum class Known { nothing, factors, all } known_ = Known::nothing;
    double time_ = 0.0;

  private:
    // Equations along directions; made when they are first asked for.
    EquationsTangent& equations();
    const ModelTangent& numbers_along(const Directions& directions);
    MotionPoint motion_point(double t, const double* x, const double* u, const double* udot);
    // Whether a row holds a position, or rate, and takes part.
    bool holds(int storage_row) const { return rigid_[storage_row] && (enabled_.empty() || enabled_[storage_row]); }
    // What an impact did.
    struct Impact {
        std::vector<double> jump, impulses, restitution;  // tangent vector; by row of the model; by stop
    };
    Impact impact_of(double t, const double* x, const double* u, const double* u1);

    double largest_jump(double t, const double* x, const double* u) final;
    double push_off(double t, const double* x, int stop, double* change) final;
    double effort_of_stop(int stop) const final { return lambda_[stop_rows_[stop]]; }
    int redundant_at(double t, const double* x) final;
    bool is_given_up(int row) const { return rigid_[row] && in_force_[row] == 0.0; }
    void share_loads() final;
    RowLoads& loads_at(double, const double*, const double*, const double*) final { return share(), loads_; }
    bool add_efforts(const std::vector<double>& efforts, double* udot) final;
    bool share_by_bodies();

    std::vector<std::uint8_t> held_stops_;  // per model row, if there are stops; of implicit methods
    std::vector<double> defect_;            // tangent vector, of these
    std::vector<double> configuration_;
    std::vector<double> stop_rates_;          // rows
    std::vector<int> driven_rows_;            // storage rows that follow functions of time, stops apart
    std::vector<double> impulses_;            // by storage row
    std::vector<double> row_efforts_, more_;  // by storage row; tangent vector
    std::vector<std::uint8_t> pushing_;
    bool shares_linearly_ = false;  // whether what is shared changes in proportion to what rows exert

    std::unique_ptr<EquationsTangent> equations_;  // of those who differentiate
    std::unique_ptr<ModelTangent> constant_;       // numbers that stay
    EquationsTangent::Changes changes_;
    std::vector<double> along_, targets_, mu_, met_;  // tangent vector; rows
    std::vector<double> model_multipliers_, seeds_;   // by row of the model
};

template <class Solve, class Excess>
void ConstrainedBodies::find_pushing(std::vector<double>& lambda, const Solve& solve, const Excess& excess) {
    stops_.find_active([&] {
        enable_stops();
        solve();
        for (size_t i = 0; i < stop_rows_.size(); ++i) {
            stops_.force[i] = lambda[stop_rows_[i]];
            stops_.leaving[i] = excess(stop_rows_[i]);
        }
        return largest_of_rows(lambda);
    });
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (double& force = lambda[stop_rows_[i]]; !stops_.is_friction(static_cast<int>(i)))
            force = std::max(force, 0.0);
}

}  // namespace bellcrank
