// The loop over time.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "integrate/cubic_curve.hpp"
#include "integrate/events.hpp"
#include "integrate/ledger.hpp"
#include "integrate/pole_watch.hpp"
#include "integrate/stepper.hpp"
#include "integrate/tape.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

struct SimulationOptions {
    std::string method = "rk4";
    double step = 1e-3;     // fixed step, or the first one of an adaptive method (0: chosen)
    double max_step = 0.0;  // adaptive: 0 for none
    MethodSettings settings;
    double impact_resolution =
        1e-5;  // adaptive: an impact of what lay on its stop is stepped onto within this time [s]
    std::vector<EventFunction> events;  // adaptive
    Observation measured;               // what they need
    std::vector<double> periods;        // between the times at which Sink::sample() is called, from the start on
    // Of a run that goes on with another's samples: their start, and the next multiples of the periods.
    double first_sample = std::numeric_limits<double>::quiet_NaN();
    std::vector<long long> samples;
};

enum class SimulationStatus {
    finished,
    interrupted,
    not_finite,
    constraints_lost,
    step_vanished,
    energy_made,
    impulses_not_found,
    friction_not_found,
    friction_jams,
    pole_reached,
    endless
};

// A run that does not get on: since when, how many attempts at steps are left at the pace of the last ones, and what is
// to blame: an event that ends steps again and again, samples, or what accelerates a body.
struct SlowRun {
    double slow_since = std::numeric_limits<double>::quiet_NaN();
    double attempts_left = 0.0, pace = 0.0;                 // time by attempt [s]
    int slow_event = -1, slow_sample = -1, slow_body = -1;  // their numbers; −1: not that
    long long seen = 0, ended_by_event = 0;                 // the last attempts, and those ended by the event

    BELLCRANK_FIELDS(SlowRun, (slow_since, "s"), (attempts_left), (pace, "s"), (slow_sample), (slow_body), (seen),
                     (ended_by_event))
};

// What a run has done since it began.
struct SimulationResult {
    SimulationStatus status = SimulationStatus::finished;
    double time = 0.0;
    long long steps = 0, rejected = 0;
    long long rounding = 0;                   // steps with an error above the tolerance that is rounding
    double last_step = 0.0, next_step = 0.0;  // taken last, and to be tried next
    long long steps_since_restart = 0, evaluations_since_restart = 0;
    int last_order = 0, highest_order = 0;                          // of a method of variable order
    double stiff_since = std::numeric_limits<double>::quiet_NaN();  // where a method of its own choice took it so
    long long samples = 0;
    int body = -1;  // not_finite: the first such body; energy_made: where most of it is
    int row = -1;   // constraints_lost: the worst model row; pole_reached: the one that is not defined there
    // friction_jams: the law of what does, and up to which part of its coefficient there would be an acceleration.
    int friction_law = -1;
    double friction_part = 0.0;
    int tyre = -1;                                   // the number of a contact whose force had no value then
    double energy_before = 0.0, energy_after = 0.0;  // energy_made: what has risen to what [J]
    ImpulseOutcome impulses;  // of methods that step by them: the last one; the largest residual, all impacts
    bool ended = false;       // by a terminal event
    // What a method that chooses among others did: the one in use, and where it took over from which, which did not get
    // on.
    std::string method, gave_way;
    double changed_since = std::numeric_limits<double>::quiet_NaN();
    SlowRun slow;

    BELLCRANK_FIELDS(SimulationResult, (time, "s"), (steps), (rejected), (rounding), (last_step, "s"), (next_step, "s"),
                     (steps_since_restart), (evaluations_since_restart), (last_order), (highest_order),
                     (stiff_since, "s"), (samples), (body), (row), (friction_law), (friction_part), (tyre),
                     (energy_before, "J"), (energy_after, "J"), (impulses), (ended), (method), (gave_way),
                     (changed_since, "s"), (slow))
};

// Takes the frames; told from time to time that the run is alive.
class Sink {
  public:
    virtual ~Sink() = default;
    // Where to write the next frame: its time and observation_size() doubles.
    virtual double* frame(double t) = 0;
    // The points that touch in the frame that was written last, where that is recorded.
    virtual void contacts(const Contacts&) {}
    // Where to write the frame of an event: a function's number, or from there on a stop's.
    virtual double* event(int index, double t) = 0;
    // False to stop. Called about once a step; cheap.
    virtual bool alive(double t) = 0;
    // The run does not get on. Once.
    virtual void crawls(const SlowRun&) {}
    // The run stands at a multiple of a period: inputs may be changed, and the run be told so.
    virtual void sample(int, double) {}
};

// What a run is put together from. (x, u) at t is a projected state, and always where the run is.
struct RunParts {
    Ports ports;
    SimulationOptions options;
    Observation observation;
    double t;
    std::vector<double>&x, &u;
    Sink& sink;
    Tape* tape = nullptr;  // where it goes is kept there
};

// Takes a system from one time to the next, as often as it is asked to, and goes on with the method's history. No step
// leads past a multiple of a period.
class Run {
  public:
    explicit Run(RunParts parts);
    virtual ~Run() = default;

    // Goes on to a time later than that of the state, and records a frame at each of `outputs`, ascending, none before
    // that of the state and none after `end`. At the time of the state there is one only where the run begins.
    // Fixed steps divide each interval between these times in equal steps of at most `step`. last: the run is over
    // then.
    const SimulationResult& advance(const std::vector<double>& outputs, double end, bool last);
    // The motion goes on otherwise: another input acts, or it stands elsewhere at t.
    void change_input() { changed_ = true; }
    void move(double t);

    double time() const { return t_; }
    const SimulationOptions& options() const { return options_; }
    const Observation& observation() const { return observation_; }
    const SimulationResult& result() const { return result_; }
    // What would be recorded where the run is: observation_size() doubles.
    void observe(double* frame);
    // Works of the accounts since the start; those of a run that this one goes on with may be set.
    std::vector<double>& works() { return ledger_.works(); }
    const EventFunctions& functions() const { return functions_; }
    // Those that one goes on with that takes up where this one is.
    double first_sample() const { return first_; }
    const std::vector<long long>& samples() const { return samples_; }

  protected:
    enum class Start { first, moved, changed };
    // The motion begins: for the first time, after move(), or after change_input().
    virtual void begin(Start start) = 0;
    // On to end_.
    virtual void advance() = 0;

    bool is_running() const { return result_.status == SimulationStatus::finished && !result_.ended; }
    void record(double t, const std::vector<double>& x, const std::vector<double>& u) {
        observe(t, x, u);
        if (tape_ != nullptr) tape_->add_output(t, &x != &x_, x.data(), u.data());
        std::copy(frame_.begin(), frame_.end(), sink_.frame(t));
        if (observation_.contacts) sink_.contacts(contacts_);
    }
    // Into frame_, from which only whole frames go to the sink: observing may be interrupted.
    void observe(double t, const std::vector<double>& x, const std::vector<double>& u);
    void record_if_due();
    void stop(SimulationStatus status);
    void stop_for_friction();
    // Ends the run where conditions of changes are met, and reports them, all but one that is known to be.
    bool is_changed(int met = -1);
    // Time to the end of this part of the run.
    double left() const { return goal_ - t_; }
    // A step as short against the time is none.
    double shortest() const { return 1e-14 * std::max(1.0, std::abs(t_)); }
    // It is told once that the run does not get on.
    void tell_slow(const SlowRun& found);
    // The run is given up: it would never end.
    void give_up(const SlowRun& found);
    int most_accelerated(double h);
    // The body whose velocity differs most between two states.
    int most_changed(double t, const double* x, const double* u, double t1, const double* x1, const double* u1);
    // Ends the run if x1_, u1_, the end of a step, left the numbers or the constraints.
    bool is_sound(bool constraints_met);
    // The part of a step of length h from where the run is that leads to no pole. Ends the run at a pole.
    double before_a_pole(double h);
    // Finds x1_, u1_ on the other side of a pole close by, and the way there, in a time of at most h. False if it is
    // too far, or the motion too rough, for that; or there is no other side, and the run has ended.
    bool finds_way_over_pole(double most, double& h);
    // What falls on this way is recorded; the run goes on from its end.
    void output_on_way(double begin, double h);
    // Takes it as where the run is.
    bool accept(double t, double h);
    // For those who follow the run: a stop is met at a state; the run cannot be followed past here.
    void keep_impact(double t, const std::vector<double>& x, const std::vector<double>& u) {
        if (tape_ != nullptr) tape_->add({t, t, true}, x.data(), u.data());
    }
    void spoil_tape(const char* why) {
        if (tape_ != nullptr) tape_->spoil(why, t_);
    }

    const Ports ports_;
    Contacts& contacts_;
    const SimulationOptions options_;
    EventFunctions functions_;
    const Observation observation_;
    std::vector<double>&x_, &u_;
    Sink& sink_;
    Tape* const tape_;
    Ledger ledger_;
    PoleWatch poles_;
    CubicCurve way_;  // over a pole
    std::vector<double> x1_, u1_, frame_;
    SimulationResult result_;
    double t_, end_;     // where the run is, and where it goes
    double goal_;        // the same, whatever samples there are on the way
    bool last_ = false;  // it goes no farther

    std::vector<double> outputs_;
    size_t next_ = 0;  // of these

  private:
    double next_sample(size_t i) const { return first_ + static_cast<double>(samples_[i]) * options_.periods[i]; }
    void sample_if_due();
    double next_stop(double end) const;
    void begin_if_due();
    void begin_interval();
    bool has_too_many_samples();

    bool begun_ = false, changed_ = false, moved_ = false;
    std::vector<double> way_x_, way_u_, way_rate_, way_end_rate_, way_step_;
    const double first_;              // time
    std::vector<long long> samples_;  // the next multiple of each period
};

std::unique_ptr<Run> make_run(RunParts parts);
std::unique_ptr<Run> make_fixed_run(RunParts parts, std::unique_ptr<FixedStepper> stepper);
std::unique_ptr<Run> make_adaptive_run(RunParts parts, std::unique_ptr<AdaptiveStepper> stepper);

}  // namespace bellcrank
