// Back onto constraint rows, stops among them: the loops that are the same in all coordinates.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "closing/friction_loads.hpp"
#include "closing/options.hpp"
#include "impulses/rubbing_rows.hpp"
#include "impulses/stop_impact.hpp"
#include "model/system.hpp"

namespace bellcrank {

// Part of a System: what its coordinates give is virtual, in calls for all rows at once. Stops are in the equations
// where they push (model/stops.hpp).
class Projector : protected RubbingRows {
  protected:
    // speeds: how many the system has.
    Projector(System& system, Statistics& statistics, const ClosingOptions& options, int speeds);
    ~Projector() = default;

    // Positions, then velocities with impacts; whether all rows are met.
    bool move_onto_rows(double t, double* x, double* u);
    // Positions alone.
    bool close_positions(double t, double* x);
    // The same where impulses have found which stops push: accelerations, of frames, say nothing of that.
    bool close_for_impulses(double t, double* x);
    // A stage of a step, without impacts, if begin_stage() asks for it; whether it did.
    bool close_stage(double t, double* x, double* u);

    // Newton's method along M⁻¹ Jᵀ, the least motion in the norm of the kinetic energy; ends with rows and factors at
    // x.
    virtual void correct_positions(double t, double* x, bool doubting);

    // C and Ċ of stops at a state.
    virtual void measure_stops(double t, const double* x, const double* u);
    // To be called before and after accelerations are found with the stops that push (Stops::find_active()); largest:
    // of these accelerations.
    void seek_contacts(double t, const double* x, const double* u);
    void note_contacts(double largest);
    // Dry friction (closing/friction.cpp).
    static constexpr double kAtRest = 1e-9;  // speed that is none [m/s, rad/s]
    bool settle_friction(double t, double* x, double* u, int changed, double slow);
    void watch_friction();
    double first_at_rest();
    void friction_margins(double t, const double* x, const double* u, bool accelerates, double* out);
    bool leaps_over(double t, const double* x, const double* u, double t1, const double* x1, const double* u1);
    void forget_friction();
    FrictionJam jam() const { return jam_; }
    RubbingRows& rubbing() { return *this; }
    bool begin_rubbing(double t, const double* x, const double* u, double end, std::vector<Rubbing>& rows) final;
    void end_rubbing(double t, double* x, double* u, const std::vector<double>& senses, bool otherwise,
                     double slow) final;
    void leave_rubbing() final;
    // How far friction is from giving way, and from jamming (closing/friction_margin.cpp).
    FrictionUse friction_use(double t, double* x, double* u);
    double jam_margin(double t, const double* x, const double* u);
    std::vector<SharedFriction> shared_friction(double t, double* x, double* u);
    // Accelerations by `solve`, with the efforts of what slips in agreement with the loads that limit them.
    template <class Solve>
    void accelerate_loaded(double t, const double* x, const double* u, double* udot, const Solve& solve) {
        if (friction_loads_.empty()) return solve();
        agree_with_loads(t, x, u, udot, std::ref(solve));
    }
    // Where what friction bears that holds, and stops, is shared by redundant rows and some would exceed its limit,
    // another share, and true; after the last acceleration.
    bool share_within_limits(RowLoads& loads);
    // Of limits that count in part: of what does not grow with loads, and of what does.
    struct LimitParts {
        double constant = 1.0, loaded = 1.0;
    };
    // Whether one of the loads bears on friction that holds.
    bool holds_by_loads() const;
    // What all rows exert in the last acceleration, which was this one.
    virtual RowLoads& loads_at(double t, const double* x, const double* u, const double* udot) = 0;
    // That acceleration with more efforts along coordinates that friction could hold, by stop, while all else stays as
    // it was: a solution with the same factors. False, and nothing done, where it has to be found anew.
    virtual bool add_efforts(const std::vector<double>& /* efforts */, double* /* udot */) { return false; }
    // What a stop exerts in the last acceleration; how many rows are redundant with the stops that are active.
    virtual double effort_of_stop(int stop) const = 0;
    virtual int redundant_at(double t, const double* x) = 0;

    // Where a step begins; and that none has.
    void begin_step(double t, const double* x, const double* u);
    void forget_step();

    // What coordinates give. Rows that are met by multipliers; coordinates that follow functions of time by themselves,
    // and their rates, and by how much one of these changes.
    virtual bool has_rows() const = 0;
    virtual double set_driven(double, double*, double*) { return 0.0; }
    // A projection begins at x.
    virtual void begin_closing(double t, const double* x) = 0;
    // A stage begins: opens stops, makes rows and factors ready; whether these are so nearly dependent that it is to be
    // closed.
    virtual bool begin_stage(double t, const double* x, const double* u) = 0;
    // Makes C, J and factors those of x.
    virtual void refresh(double, const double*) {}
    // Of correct_positions(), where that is not overridden: begin_corrections() makes C, J and factors ready at x, or
    // those of a configuration close by where they serve; evaluate() makes C ready at x, and J too where x may be the
    // last. Both tell whether J and factors are those of x; finish_corrections() makes them so.
    virtual bool begin_corrections(double, const double*) { lacks_corrections(); }
    virtual bool evaluate(double, const double*, bool /* last */) { lacks_corrections(); }
    virtual void finish_corrections(double, const double*, bool /* evaluated */) {}
    // The displacement that takes C away; moves x by it.
    virtual const double* displacement() { lacks_corrections(); }
    virtual void take(const double* xi, double* x) { system_.retract(x, xi, x); }
    // Whether a stop that pushes is dropped, where doubt may have done that.
    virtual bool drops_stop(int) const { lacks_corrections(); }
    // By how much a displacement, or velocity, moves what it moves most.
    virtual double extent(const double* v) const { return largest_component(v); }
    double largest_component(const double* speeds) const;
    // The part of the noise of positions to which they are corrected.
    virtual double sharpness() const { return 1.0; }
    // Factors with another trusted_pivot_.
    virtual void refactor() = 0;

    // Largest |C| over the rows kept, or over those dropped, where stops count that are penetrated.
    virtual double largest_error(bool dropped) = 0;
    static constexpr double kNoiseLeft = 4.0;  // errors that rounding may leave, in parts of the noise of positions
    virtual bool rows_hold(const double* x);
    // Whether rates of all rows are small enough, with those at the last correction, or found anew.
    bool rates_hold(double t, const double* x, const double* u);
    // Whether rates of rows that were dropped, stops apart, are this small, as they were found last.
    virtual bool dropped_rates_within(double limit) = 0;
    // Rates beyond those that impacts ask for.
    virtual void find_rates(double t, const double* x, const double* u) = 0;
    // Velocities onto the rows with the stops that push; the largest error that these had.
    virtual double correct_rates(double t, const double* x, double* u) = 0;
    // Of rates of rows that follow functions of time.
    virtual double largest_jump(double t, const double* x, const double* u) = 0;

    // Other stops push than before.
    virtual void enable_stops() {}
    // The change of velocity by an impulse on a stop that pushes alone, which leaves it with a speed of 1, and the
    // impulse; 0 if there is none.
    virtual double push_off(double t, const double* x, int stop, double* change) = 0;

    // Whether an impact is found again from what rows that push exert, but for rounding: jumps of speeds.
    bool is_explained(const double* jump, const double* found) const;

    virtual bool has_velocity_rows() const = 0;
    // Whether those hold positions back; takes them out of the equations, or into them again.
    virtual bool velocity_rows_interfere() { return counts_.dropped_rows > 0; }
    virtual void leave_out_velocity_rows(bool out, double t, const double* x) = 0;

    // Error that shows that a row was dropped wrongly: it is given up, and the constraints are not met.
    static constexpr double kGivenUp = 1e-6;

    const ClosingOptions options_;
    Stops stops_;
    double trusted_pivot_;         // relative pivot below which rows are dropped just now
    double corrected_ = 0.0;       // extent of all corrections of the last projection
    double wrong_ = 0.0;           // the largest error that it corrected
    int at_rest_first_ = -1;       // whose slip ends first, at the last first_at_rest()
    std::vector<double> at_rest_;  // speeds

  private:
    [[noreturn]] static void lacks_corrections();
    void begin_positions(double t, const double* x);
    void close_together(double t, double* x);
    // Whether these moved x.
    bool correct_doubted_rows(double t, double* x);
    bool correct_without_velocity_rows(double t, double* x);
    bool runs_through_a_stop() const;
    bool in_proportion(double t, const double* u) const;
    void meet_impacts(double t, const double* x, double* u, double jump);
    bool respond(double t, const double* x, int stop, double* speeds);
    void refine_impact(double t, const double* x, double* u);
    double holds_against(int stop, double t, double sense) const;
    double used(int stop, double t, double effort) const;
    void take_senses(double t, const double* x, const double* u, const std::vector<double>& senses);
    double exerts_against(int stop, double t, double rate, double sense) const;
    void let_go_what_is_led(double t, const double* x, const double* u, double slow);
    bool can_hold(int stop, double t) const;
    bool never_slips(int stop, double t, double sense) const;
    void agree_with_loads(double t, const double* x, const double* u, double* udot, const std::function<void()>& solve);
    const std::vector<std::vector<double>>& shares(RowLoads& loads);
    void find_bearing_rows(const RowLoads& loads, const std::vector<std::vector<double>>& among,
                           const LimitParts& parts);
    void begin_slipping(int stop, double sense);
    void begin_holding(int stop);
    void find_idle(double t, const double* x, const double* u, double still);
    CoordinateMotion motion_along(double t, const double* x, const double* u, int stop);
    void hold_all(double t, double* x, double* u, double still);
    std::vector<std::vector<double>> clean_shares(RowLoads& loads) const;
    bool is_borne(RowLoads& loads, const std::vector<std::vector<double>>& among, const LimitParts& parts);
    bool hold_what_rests(double t, const double* x, const double* u, double still);
    bool change_friction(double t, int ended, bool first_found);
    bool leave_dead_point(double t, const double* x, const double* u);
    void find_efforts(double t, const double* x, const double* u);

    System& system_;
    Statistics& counts_;
    double contraction_ = 1.0;   // of the error by the first correction of the last projection
    double step_began_ = 0.0;    // time
    double last_extent_ = -1.0;  // of the velocity there; −1: there is none
    bool rates_known_ = false;   // whether rates of rows are those of the last correction
    StopImpact impact_;
    std::vector<double> began_, before_, responses_;  // configuration; speeds; of speeds, to stops that are struck
    // Of dry friction, by stop: moved by equations alone; started to slip when it was settled last.
    std::vector<std::uint8_t> idle_, started_;
    std::vector<std::uint8_t> moving_;  // slips, and has been faster than errors
    double slow_ = 0.0;
    std::vector<double> speeds_;  // where a step begins
    std::vector<double> mobile_;  // accelerations by an effort of one
    FrictionLoads friction_loads_;
    FrictionJam jam_;
    bool asks_for_loads_ = false;            // in any case
    std::vector<double> changes_, efforts_;  // by law; by stop
    std::vector<int> holding_rows_;
    std::vector<BearingRow> bearing_;
    LimitShare limits_;
    std::vector<double> held_at_, accelerations_, held_efforts_, share_;
    double loaded_at_ = 0.0;                       // time of the last acceleration with stops
    std::vector<AngleBranches::Friction> rubbed_;  // where a step by impulses began
};

// A System with a Projector, whose stops it shows.
template <class Base>
class Projected : public Base, protected Projector {
  public:
    int stops() const final { return stops_.count(); }
    int row_of_stop(int stop) const final { return stops_.rows()[stop]; }
    bool is_touched(int stop) const final { return stops_.touched()[stop] != 0; }
    void watch_stops(double t, const double* x, const double* u) final {
        measure_stops(t, x, u);
        stops_.watch();
        watch_friction();
    }
    void meet_stops() final { stops_.watch_none(); }
    void gaps(double t, const double* x, const double* u, double* out, double* rates) final {
        measure_stops(t, x, u);
        stops_.watched_gaps(out, rates);
    }
    double first_met(double t, const double* x, const double* u) final {
        measure_stops(t, x, u);
        return std::min(stops_.first_met(t), first_at_rest());
    }
    bool has_friction() const final { return stops_.has_friction(); }
    bool is_friction(int stop) const final { return stops_.is_friction(stop); }
    bool is_holding(int stop) const final { return stops_.is_holding(stop); }
    double friction_sense(int stop) const final { return this->branches_.friction(stops_.friction_law(stop)).sense; }
    bool settle_friction(double t, double* x, double* u, int changed, double slow) final {
        return Projector::settle_friction(t, x, u, changed, slow);
    }
    FrictionJam friction_jam() const final { return jam(); }
    int slip_met() const final { return at_rest_first_; }
    FrictionUse friction_use(double t, double* x, double* u) final { return Projector::friction_use(t, x, u); }
    std::vector<SharedFriction> shared_friction(double t, double* x, double* u) final {
        return Projector::shared_friction(t, x, u);
    }
    double jam_margin(double t, const double* x, const double* u) final { return Projector::jam_margin(t, x, u); }
    bool leaps_over(double t, const double* x, const double* u, double t1, const double* x1, const double* u1) final {
        return Projector::leaps_over(t, x, u, t1, x1, u1);
    }
    void friction_margins(double t, const double* x, const double* u, bool accelerates, double* out) final {
        Projector::friction_margins(t, x, u, accelerates, out);
    }

  protected:
    // of: arguments of Base.
    template <class... Of>
    Projected(const ClosingOptions& options, int speeds, Of&&... of)
        : Base(std::forward<Of>(of)...), Projector(*this, this->statistics_, options, speeds) {}
};

}  // namespace bellcrank
