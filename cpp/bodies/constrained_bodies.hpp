// Bodies whose rows are met by multipliers: stops among them, projections between these, and how redundant rows share
// their load.
#pragma once

#include <memory>
#include <vector>

#include "bodies/bodies.hpp"
#include "impulses/stop_impact.hpp"
#include "linalg/load_sharing.hpp"
#include "model/stops.hpp"

namespace bellcrank {

// A formulation that stands on it solves with the rows that are enabled, and corrects. Stops are enabled where they
// push (model/stops.hpp).
class ConstrainedBodies : public Bodies {
  public:
    bool project(double t, double* x, double* u) override;
    int stops() const final { return stops_.count(); }
    int row_of_stop(int stop) const final { return stops_.rows()[stop]; }
    void watch_stops(double t, const double* x, const double* u) final;
    void meet_stops() final { stops_.watch_none(); }
    void gaps(double t, const double* x, const double* u, double* out, double* rates) final;
    double first_met(double t, const double* x, const double* u) final;
    void commit(double t, const double* x, const double* u) final;
    void from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) final;
    void set_angles(double* x, const double* values) final;

  protected:
    ConstrainedBodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order,
                      const StopOptions& options);

    // Other rows take part than before.
    virtual void rows_changed() = 0;
    // What project() is made of. Positions: with the stops that push, as often as they push into others; then once more
    // as far as rows ask for it; whether all rows hold.
    virtual void correct_positions(double t, double* x) = 0;
    virtual bool finish_correction(double t, double* x) = 0;
    // Velocities, with impacts; whether all rows hold.
    virtual bool correct_velocities(double* u) = 0;
    // Of speeds: b ← λ with S λ = b, for the rows that are enabled.
    virtual void find_impulses(std::vector<double>& b) = 0;
    // Redundant rows of those that are enabled: how many there are, and as many multipliers that exert nothing.
    virtual int null_dimension() = 0;
    virtual void add_null_vectors(std::vector<std::vector<double>>& out) = 0;

    // The first part of project(): positions alone.
    bool close_positions(double t, double* x);

    // Takes stops into the equations, or out of them. True if that changed which.
    bool enable_stops(const std::vector<std::uint8_t>& active);
    bool open_stops();
    void gather_gaps();
    // C and Ċ. Leaves Ĵ û in speed_.
    void gather_stops(const double* u);
    // Accelerations off stops that are candidates: with b in `wanted`, λ such that y = S λ − b is zero on
    // equations and complementary to λ on candidates. solve() finds λ for the rows that are enabled, excess(row) is y.
    template <class Solve, class Excess>
    void find_pushing(std::vector<double>& lambda, const Solve& solve, const Excess& excess);
    // Before and after that, for accelerations.
    void seek_contacts(const double* u);
    void note_contacts(const std::vector<double>& wanted);
    // Velocities onto the rows that are enabled; the largest error that these had. With stops, what these do: those
    // that are kept hold as equations while they are corrected, and push as all others that are closed where something
    // is hit, or a drive's speed jumps.
    double correct_rates(double* u);
    void meet_stops_at(double* u);
    // Ċ of rows that hold positions or velocities, in speed_.
    void find_rates(const double* u);
    double largest_rotation(const double* displacement) const;
    double rounding_of_rows(const double* x) const;

    const bool open_;  // no loops
    Stops stops_;
    std::vector<int> stop_rows_, velocity_rows_;  // storage rows: of stops; that hold velocities alone
    std::vector<double> lambda_;                  // per storage row, of the last acceleration
    double corrected_ = 0.0;                      // by how much the last projection turned a body [rad]

  private:
    double close_together(double t, double* x);
    void close_singly(double t, double* x);
    bool some_speed_jumps() const;
    bool respond(int stop, double* speeds);
    void refine_impact(double* u);
    void share_loads() final;
    bool share_by_bodies();
    bool in_proportion(double t, const double* u) const;

    std::unique_ptr<LoadSharing> sharing_;  // where many rows are redundant
    std::vector<int> driven_rows_;          // storage rows that follow functions of time, stops apart
    StopImpact impact_;
    std::vector<double> impulses_, responses_;  // by storage row; of those that are struck
    std::vector<double> began_, before_;        // configuration, and speeds, that are corrected
};

template <class Solve, class Excess>
void ConstrainedBodies::find_pushing(std::vector<double>& lambda, const Solve& solve, const Excess& excess) {
    stops_.find_active([&] {
        enable_stops(stops_.active());
        solve();
        double scale = 1e-300;
        for (const double l : lambda) scale = std::max(scale, std::abs(l));
        for (size_t i = 0; i < stop_rows_.size(); ++i) {
            stops_.force[i] = lambda[stop_rows_[i]];
            stops_.leaving[i] = excess(stop_rows_[i]);
        }
        return scale;
    });
    for (const int r : stop_rows_) lambda[r] = std::max(lambda[r], 0.0);
}

}  // namespace bellcrank
