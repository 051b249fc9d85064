// The loop over time of methods with fixed steps, which are divided where stops are met, bodies would get through each
// other, or poles are near.
#include <algorithm>
#include <cmath>

#include "integrate/energy_watch.hpp"
#include "integrate/progress.hpp"
#include "integrate/simulate.hpp"
#include "model/model.hpp"

namespace bellcrank {

namespace {

// More steps than that cannot be told apart by their times.
constexpr double kMostSteps = 1LL << 53;

constexpr double kSlowSlip = 1e-10;  // a speed that has just begun [m/s, rad/s]

// A speed that means something [m/s, rad/s].
constexpr double kMoving = 1e-6;

constexpr int kMostParts = 100;        // of a step, at whose ends stops are met
constexpr int kMostTries = 20;         // steps to a stop, each shorter than the last
constexpr double kOverBend = 2e-10;    // of a time: the step over a place beyond which equations are others
constexpr double kLeftForBend = 0.25;  // of that: what is left for it
constexpr double kNoSide = 1e-11;      // of a function: less is zero

// Each interval between output times in equal steps.
class FixedRun final : public Run {
  public:
    FixedRun(RunParts parts, std::unique_ptr<FixedStepper> stepper)
        : Run(std::move(parts)),
          stepper_(std::move(stepper)),
          watches_stops_(ports_.stops.stops() > 0 && !stepper_->by_impulses()),
          rubs_(ports_.stops.has_friction() && !stepper_->by_impulses()),
          margins_(rubs_ ? ports_.stops.stops() : 0),
          watch_(ports_.dynamics, ports_.stops, ports_.record, *stepper_),
          path_(ports_.dynamics),
          curve_([this](double time, double* at, double* speed) { path_.at(time, at, speed); }),
          before_(functions_.count()),
          after_(functions_.count()),
          over_pole_([this](double time, double* at, double* speed) { way_.at(time, at, speed); }) {
        contacts_.be_rigid(stepper_->by_impulses());
        for (int i = 0; i < functions_.count(); ++i) has_bends_ |= functions_[i].bends;
    }

  private:
    // What an input brings in is told from what the method makes as that of any source is.
    void begin(Start start) override {
        if (start != Start::changed) watch_.begin(t_, x_.data(), u_.data());
    }

    void advance() override {
        SlowRun found;
        found.attempts_left = left() / options_.step;
        if (found.attempts_left > kMostAttempts) return give_up(found);
        while (is_running() && t_ < end_) {
            pass(t_, next_ < outputs_.size() ? std::min(outputs_[next_], end_) : end_);
            if (is_running()) record_if_due();
        }
    }

    // In how many equal parts something goes that is to be no longer than `most`; 0, and the run has ended, if there
    // are more than can be counted.
    long long parts_of(double whole, double most) {
        const double parts = std::ceil(whole / most - 1e-9);
        if (!(parts < kMostSteps)) return stop(SimulationStatus::step_vanished), 0;
        return std::max(1LL, static_cast<long long>(parts));
    }

    void pass(double begin, double end) {
        const long long count = parts_of(end - begin, options_.step);
        const double h = (end - begin) / static_cast<double>(count);
        for (long long i = 0; i < count; ++i) {
            const double t = i + 1 == count ? end : begin + static_cast<double>(i + 1) * h;
            if (!step_to(begin + static_cast<double>(i) * h, t, last_ && end == end_ && i + 1 == count)) return;
            if (t_ > t) return;  // over a pole
        }
    }

    // A step is divided only where a joint turns so fast that its turns could not be counted, where bodies would get
    // through each other, or near a pole, to which each part goes a part of the way that the last one has left.
    bool step_to(double begin, double end, bool last) {
        const double whole = end - begin, to_pole = before_a_pole(whole);
        if (!is_running()) return false;
        double over = 0.0;
        if (finds_way_over_pole(end_ - t_, over)) return cross(over) && (t_ >= end || step_to(t_, end, last));
        if (!is_running()) return false;
        const double longest = std::min(ports_.steps.longest_step(x_.data(), u_.data(), whole), hit_in(begin, whole));
        if (to_pole < std::min(longest, whole)) {
            const double middle = begin + to_pole;
            return take(begin, middle, to_pole, false) && step_to(middle, end, last);
        }
        const long long parts = parts_of(whole, longest);
        const double h = whole / static_cast<double>(parts);
        for (long long i = 0; i < parts; ++i) {
            const double t = begin + whole * static_cast<double>(i) / static_cast<double>(parts);
            if (!take(t, i + 1 == parts ? end : t + h, h, last && i + 1 == parts)) return false;
        }
        return parts > 0;
    }

    // Steps over a pole, maybe past the end of the step.
    bool cross(double h) {
        spoil_tape("it went over a pole of a direction");
        if (!ledger_.empty()) ledger_.follow(t_, t_ + h, CubicCurve::kOrder, true, over_pole_);
        output_on_way(t_, h);
        return accept(h < end_ - t_ ? t_ + h : end_, h);
    }

    double hit_in(double t, double h) {
        if (contacts_.empty()) return h;
        const Scenery at = ports_.record.scenery(t, x_.data(), u_.data());
        return contacts_.longest_step(t, h, at.x, at.u);
    }

    // Goes to the end of a step, or to the first stop on the way: there the impact takes place, from where another one
    // goes on. Within a step the loads gathered behind an impact would act as if they were part of it. Where stops are
    // met without end, as by what bounces ever less, the rest is taken whole.
    bool take(double t, double end, double h, bool last) {
        for (int parts = 0; t < end; ++parts, t = t_, h = end - t) {
            const auto impacts = ports_.dynamics.statistics().impacts;
            const bool watches = watches_stops_ && parts < kMostParts;
            EnergyWatch::Step step{t, h, x_.data(), u_.data(), x1_.data(), u1_.data()};
            StepOutcome outcome = attempt(step, watches);
            const bool meets = watches && shorten_to_stop(step, outcome);
            const int bend = meets ? kNoBend : shorten_to_bend(step, outcome);
            const double to = t + step.h < end - shortest() ? t + step.h : end;
            if (!is_sound(outcome.constraints_met) || !count(outcome.impulses)) return false;
            if (!ledger_.empty() && step.h > 0.0) follow(step);
            if (meets && !meet_stops(to)) return false;
            result_.row = poles_.turned_over(to, x1_.data(), u1_.data());
            if (result_.row >= 0) return stop(SimulationStatus::pole_reached), false;
            if (!meets && bend == kNoBend && changes_nothing()) return stop(SimulationStatus::step_vanished), false;
            if (!watch_.bears(step, outcome.impulses.coarseness, last && to == end)) return tell_energy(step), false;
            if (!meets && ports_.dynamics.statistics().impacts != impacts) {
                spoil_tape("what lay on a stop was hit");
                if (!ledger_.empty()) ledger_.strike(t, step.x, step.u, true);
            }
            if (!accept(to, step.h)) return false;
            if (bend >= 0) {
                observe(t_, x_, u_);
                std::ranges::copy(frame_, sink_.event(bend, t_));
            }
            if (is_changed() || !settle_friction(meets ? ports_.stops.slip_met() : -1)) return false;
            if (to == end) return true;
        }
        return stop(SimulationStatus::step_vanished), false;
    }

    StepOutcome attempt(const EnergyWatch::Step& step, bool watches) {
        watch_.before(step);
        if (watches)
            ports_.stops.watch_stops(step.t, step.x, step.u);
        else if (watches_stops_)
            ports_.stops.meet_stops();
        return stepper_->step(step.t, step.h, step.x, step.u, x1_.data(), u1_.data());
    }

    // Takes the step again, so that it ends where the first stop is met; its length is 0 where that is at its start.
    bool shorten_to_stop(EnergyWatch::Step& step, StepOutcome& outcome) {
        double part = ports_.stops.first_met(step.t + step.h, x1_.data(), u1_.data());
        for (int i = 0; part < 1.0 && i < kMostTries; ++i) {
            step.h *= part;
            if (step.h < shortest()) {
                step.h = 0.0;
                outcome = {};
                x1_ = x_, u1_ = u_;
                return true;
            }
            outcome = attempt(step, true);
            part = ports_.stops.first_met(step.t + step.h, x1_.data(), u1_.data());
        }
        return part <= 1.0;
    }

    // Takes the step again where it leads over a place beyond which equations are others, so that it ends just before,
    // or is a very short one over it: then it returns the number of this event.
    int shorten_to_bend(EnergyWatch::Step& step, StepOutcome& outcome) {
        if (!has_bends_) return kNoBend;
        const double over = kOverBend * std::max(1.0, std::abs(step.t));
        functions_.evaluate(step.t, step.x, step.u, before_.data());
        int found = kNoBend;
        for (int tries = 0; tries < kMostTries; ++tries) {
            const int event = bend_within(step);
            if (event == kNoBend) return found;
            if (step.h <= over) return event;
            found = kShortened;
            const double left = time_of(event, step) - step.t;
            step.h = left > 2.0 * kLeftForBend * over ? left - kLeftForBend * over : over;
            outcome = attempt(step, false);
        }
        return found;
    }

    int bend_within(const EnergyWatch::Step& step) {
        functions_.evaluate(step.t + step.h, x1_.data(), u1_.data(), after_.data());
        for (int i = 0; i < functions_.count(); ++i) {
            const double sense = functions_[i].direction;
            if (functions_[i].bends && sense * before_[i] <= -kNoSide && sense * after_[i] >= 0.0) return i;
        }
        return kNoBend;
    }

    // By bisection, on the cubic through both ends.
    double time_of(int event, const EnergyWatch::Step& step) {
        path_.lay(step.t, step.h, step.x, step.u, step.x1, step.u1);
        double a = step.t, b = step.t + step.h;
        std::vector<double> x = x1_, u = u1_, values(after_.size());
        for (double c = 0.5 * (a + b); c > a && c < b; c = 0.5 * (a + b)) {
            curve_(c, x.data(), u.data());
            functions_.evaluate(c, x.data(), u.data(), values.data());
            (values[event] * before_[event] > 0.0 ? a : b) = c;
        }
        return b;
    }

    bool meet_stops(double t) {
        keep_impact(t, x1_, u1_);
        if (!ledger_.empty()) ledger_.strike(t, x1_.data(), u1_.data(), false);
        ports_.stops.meet_stops();
        return is_sound(ports_.projection.project(t, x1_.data(), u1_.data()));
    }

    // Slips end where they do, holds at the end of a step.
    bool settle_friction(int ended) {
        if (!rubs_) return true;
        StopWatch& stops = ports_.stops;
        if (ended < 0) stops.friction_margins(t_, x_.data(), u_.data(), true, margins_.data());
        for (int i = 0; i < stops.stops() && ended < 0; ++i)
            if (stops.is_friction(i) && margins_[i] < 0.0) ended = i;
        if (ended < 0 || stops.settle_friction(t_, x_.data(), u_.data(), ended, kSlowSlip)) return true;
        stop_for_friction();
        return false;
    }

    // The work of a step, before the impact at its end. What that takes is what is left.
    void follow(const EnergyWatch::Step& step) {
        path_.lay(step.t, step.h, step.x, step.u, step.x1, step.u1);
        ledger_.follow(step.t, step.t + step.h, CubicCurve::kOrder, false, curve_);
    }

    bool count(const ImpulseOutcome& step) {
        ImpulseOutcome& all = result_.impulses;
        if (!step.found) {
            all = step;
            if (ports_.stops.friction_jam().law >= 0) return stop_for_friction(), false;
            return stop(SimulationStatus::impulses_not_found), false;
        }
        all.add(step);
        return true;
    }

    void tell_energy(const EnergyWatch::Step& step) {
        result_.energy_before = watch_.lowest();
        result_.energy_after = watch_.reached();
        result_.body = most_changed(step.t, step.x, step.u, step.t + step.h, step.x1, step.u1);
        stop(SimulationStatus::energy_made);
    }

    // Whether what moves stays where it is, as far as doubles can tell.
    bool changes_nothing() const {
        return x1_ == x_ && u1_ == u_ && std::ranges::any_of(u_, [](double v) { return std::abs(v) > kMoving; });
    }

    static constexpr int kNoBend = -2, kShortened = -1;  // beside numbers of events

    const std::unique_ptr<FixedStepper> stepper_;
    const bool watches_stops_, rubs_;
    std::vector<double> margins_;  // of friction, by stop
    EnergyWatch watch_;
    CubicCurve path_;
    Curve curve_;
    std::vector<double> before_, after_;  // functions of events at the ends of a step
    Curve over_pole_;
    bool has_bends_ = false;
};

}  // namespace

std::unique_ptr<Run> make_fixed_run(RunParts parts, std::unique_ptr<FixedStepper> stepper) {
    return std::make_unique<FixedRun>(std::move(parts), std::move(stepper));
}

}  // namespace bellcrank
