// Rows that hold at times: unilateral ones, of joint limits and one-sided constraints, and those of dry friction. Which
// of them hold as equations, and what impacts do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/branches.hpp"
#include "model/model.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

struct StopOptions {
    double position_tolerance = 1e-13;  // gap below which a stop is penetrated, negative [m or rad]
    double contact_tolerance = 1e-8;
    double rest_speed = 1e-3;

    BELLCRANK_FIELDS(StopOptions, (contact_tolerance, "m or rad", "Gap of a stop that counts as closed."),
                     (rest_speed, "m/s or rad/s", "Approach speed below which a stop does not bounce.", 0.0))
};

// The active set of a formulation. It is the same for accelerations, impulses and position corrections; what changes is
// how a formulation solves with some of the stops in its equations.
class Stops {
  public:
    Stops(const Model& model, const StopOptions& options);
    // Of some rows, none of friction, with their restitutions, of which somebody else knows the gaps.
    Stops(std::vector<int> rows, std::vector<double> restitution, const StopOptions& options);

    int count() const { return static_cast<int>(rows_.size()); }
    bool empty() const { return rows_.empty(); }
    const std::vector<int>& rows() const { return rows_; }  // of the model

    // Dry friction holds while somebody says so, to both sides, and exerts no impulses
    // (closing/friction.cpp).
    bool is_friction(int stop) const { return law_[stop] >= 0; }
    int friction_law(int stop) const { return law_[stop]; }
    bool is_holding(int stop) const { return holding_[stop] != 0; }
    void hold(int stop, bool holds) { holding_[stop] = holds; }
    bool has_friction() const { return has_friction_; }

    // Per stop, to be set by the formulation: C and Ċ where it is; what the last solution exerts, and by what it
    // exceeds the wanted accelerations or speeds off the stop.
    std::vector<double> gap, speed, force, leaving;
    // C and Ċ of all stops at body records.
    void measure(const Model& model, const AngleBranches& branches, double t, const double* poses,
                 const double* twists);

    const std::vector<std::uint8_t>& active() const { return active_; }  // hold as equations
    // Closed and not being left at the last acceleration, whether they push or not; those of rows, one per stop.
    const std::vector<std::uint8_t>& touched() const { return touched_; }
    std::vector<int> touched_of(const std::vector<int>& rows) const;
    int pushing() const { return static_cast<int>(std::count(active_.begin(), active_.end(), 1)); }
    bool touches() const { return std::find(touched_.begin(), touched_.end(), 1) != touched_.end(); }

    // Position level: a penetrated stop is pushed out, every other one is left alone. From `gap`.
    void reset();
    void close_penetrated();
    void open();
    // All but friction that holds.
    void open_others() { active_ = holding_; }
    bool hold() const;
    // Where stops are alike to first order, as two ropes between the same bodies, they are met together only far from
    // here, where no motion leads: a correction is that long, by the errors that it corrects.
    static bool is_far(double moved, double wrong) { return moved > 100.0 * wrong; }
    // Then one is met after another, the one that is penetrated most, or, if none is, the nearest of those that would
    // be held; and none is drawn back to one that opens. `correct` meets those that are active, and sets `gap`.
    template <typename Correct>
    void close_singly(const Correct& correct) {
        ran_into_ = true;
        int stop = deepest();
        if (stop < 0) stop = nearest_held();
        for (int pass = 0; stop >= 0 && pass < 2 * count(); ++pass, stop = deepest()) {
            push_alone(stop);
            correct();
        }
        open();
    }

    // Candidates of the complementarity problem: what something lies on; what is closed, with the speeds that are
    // wanted beyond 0 after an impact. A stop that is hit at speed does not act on accelerations: its impact is taken
    // at the end of the step, from the speed that it is hit at. Both from `gap` and `speed`.
    void seek_contacts();
    void seek_impacts();
    const std::vector<double>& bounce() const { return bounce_; }
    void weaken(double part);
    // With what restitution each bounced from `speed` at the last impact, 0: it did not; whether none was weakened.
    bool find_bounced(std::vector<double>& restitution) const;
    bool bounces() const { return bounces_; }  // whether one is hit, at the last seek_impacts()
    bool is_candidate(int stop) const { return candidate_[stop] != 0; }
    bool seeks() const { return judging || std::find(candidate_.begin(), candidate_.end(), 1) != candidate_.end(); }
    bool judging = false;  // force and leaving are asked for in any case
    // Before that: what was in contact where the step began, and still pushes, holds as an equation, so that its speed
    // is corrected to both sides.
    void keep();
    // Which are to hold.
    void push(const std::vector<std::uint8_t>& active) { active_ = active; }
    void push_alone(int stop);
    bool is_fast(double rate) const { return std::abs(rate) > options_.rest_speed; }

    // Finds the active set: y = 0 on equations, and on candidates y ≥ 0, force ≥ 0, yᵀ force = 0. `solve` solves with
    // active() in the equations, sets `force` and y = `leaving`, and returns the size of multipliers.
    template <typename Solve>
    void find_active(const Solve& solve) {
        const int passes = 4 * count() + 10;
        for (int i = 0; i < count(); ++i) active_[i] = is_friction(i) ? holding_[i] : candidate_[i] && active_[i];
        for (int pass = 0; pass < passes; ++pass) {
            const double scale = solve();
            const int change = next_change(scale, pass > passes / 2);
            if (change < 0) break;
            active_[change] = !active_[change];
        }
    }
    // After accelerations of a size.
    void note_touched(double scale);

    // Stops that somebody else watches are left alone here.
    void watch();
    void watch_none();
    // The gaps of all stops, positive for those not watched, and their rates. From `gap` and `speed`.
    void watched_gaps(double* out, double* rates) const;

    // Where a step starts, from `gap` and `speed`; whether a stop was met within it and is being left at its end, from
    // `speed` there and the gaps that reset() found.
    void remember(double t);
    void forget();
    bool passed(double t) const;
    // The part of the step from there to t at which the first of those that are watched is met, 1 at its end; more if
    // none is. From `gap` and `speed`.
    double first_met(double t) const;
    // Ċ where the step started.
    double starting_speed(int stop) const { return closing_[stop]; }

  private:
    void begin();
    int deepest() const;
    int nearest_held() const;
    bool is_contact(int stop) const;
    int next_change(double scale, bool first_found) const;
    double speed_of_impact(int stop) const;

    StopOptions options_;
    std::vector<int> rows_, law_;  // of the model; of dry friction, −1: none
    std::vector<std::uint8_t> holding_;
    bool has_friction_ = false;
    std::vector<double> restitution_, bounce_;
    std::vector<std::uint8_t> active_, candidate_, touched_, watched_;
    std::vector<std::uint8_t> flying_, lifting_;  // at watch(): not in contact; of these, close by and being left
    // In contact where the step started; those of them that still push at its end, so that errors of positions and
    // speeds are corrected to both sides; those of them whose speeds were.
    std::vector<std::uint8_t> resting_, held_, kept_;
    std::vector<double> start_, closing_;  // C and Ċ where the step started, if these are remembered
    std::vector<double> reached_;          // C where the step went, not yet corrected
    bool remembered_ = false, bounces_ = false;
    bool ran_into_ = false;       // one was, at the last reset()
    double remembered_at_ = 0.0;  // time [s]
};

}  // namespace bellcrank
