#include "integrate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "integrate/cubic_curve.hpp"
#include "integrate/energy_watch.hpp"
#include "integrate/progress.hpp"
#include "integrate/run.hpp"
#include "interruption/interruption.hpp"
#include "model/model.hpp"

namespace bellcrank {

Run::Run(System& system, SimulationOptions options, Observation observation, double t, std::vector<double>& x,
         std::vector<double>& u, Sink& sink, std::unique_ptr<Stepper> stepper)
    : system_(system),
      options_(std::move(options)),
      observation_(std::move(observation)),
      x_(x),
      u_(u),
      sink_(sink),
      stepper_(std::move(stepper)),
      ledger_(system, observation_),
      poles_(system),
      way_(system),
      x1_(x),
      u1_(u),
      frame_(system.observation_size(observation_)),
      t_(t),
      end_(t),
      goal_(t),
      first_(t),
      samples_(options_.periods.size(), 0) {
    result_.time = t;
    system.contacts().be_rigid(stepper_->by_impulses());
    ledger_.stand(t, x.data(), u.data());
}

namespace {

// The body whose velocity differs most between two observations of no more than motions.
int most_changed(int bodies, const std::vector<double>& start, const std::vector<double>& end) {
    const FrameLayout layout(FrameCounts{bodies});
    const int first = layout.begin(Section::velocity);
    double most = 0.0;
    int found = 0;
    for (int i = first; i < layout.begin(Section::coordinates); ++i) {
        const double change = std::abs(end[i] - start[i]);
        if (change > most) most = change, found = (i - first) % (3 * bodies) / 3;
    }
    return found;
}

}  // namespace

const SimulationResult& Run::advance(const std::vector<double>& outputs, double end, bool last) {
    result_.status = SimulationStatus::finished;
    outputs_ = outputs;
    next_ = 0;
    goal_ = end;
    try {
        for (bool goes_on = !has_too_many_samples(); goes_on; goes_on = is_running() && t_ < end) {
            sample_if_due();
            end_ = next_stop(end);
            last_ = last && end_ == end;
            begin_if_due();
            advance();
            changed_ = !is_running();
        }
    } catch (const Interrupted&) {
        poles_.leave();
        stop(SimulationStatus::interrupted);
    }
    ledger_.stand(t_, x_.data(), u_.data());
    return result_;
}

// Each takes a step at least.
bool Run::has_too_many_samples() {
    for (size_t i = 0; i < options_.periods.size(); ++i) {
        SlowRun found;
        found.attempts_left = left() / options_.periods[i];
        found.sample = static_cast<int>(i);
        if (found.attempts_left > kMostAttempts) return give_up(found), true;
        if (found.attempts_left > kManyAttempts) tell_slow(found);
    }
    return false;
}

void Run::tell_slow(const SlowRun& found) {
    if (!std::isnan(result_.slow.since)) return;
    result_.slow = found;
    result_.slow.since = t_;
    if (found.event < 0 && found.sample < 0) result_.slow.body = most_accelerated(result_.last_step);
    sink_.crawls(result_.slow);
}

void Run::give_up(const SlowRun& found) {
    const double since = result_.slow.since;
    result_.slow = found;
    result_.slow.since = std::isnan(since) ? t_ : since;
    if (found.event < 0 && found.sample < 0) result_.slow.body = most_accelerated(result_.last_step);
    stop(SimulationStatus::endless);
}

// The body whose velocity changes most in a time.
int Run::most_accelerated(double h) {
    std::vector<double> start(system_.observation_size({})), end = start;
    system_.accelerate(t_, x_.data(), u_.data(), u1_.data());
    for (size_t i = 0; i < u_.size(); ++i) u1_[i] = u_[i] + h * u1_[i];
    system_.measure(t_, x_.data(), u_.data(), {}, start.data());
    system_.measure(t_, x_.data(), u1_.data(), {}, end.data());
    return most_changed(system_.model().bodies(), start, end);
}

void Run::begin_if_due() {
    if (!begun_) {
        result_.row = poles_.undefined(t_, x_.data(), u_.data());
        if (result_.row >= 0) return stop(SimulationStatus::pole_reached);
        record_if_due();
        system_.commit(t_, x_.data(), u_.data());
    }
    if (!begun_ || changed_ || moved_) begin(!begun_ ? Start::first : moved_ ? Start::moved : Start::changed);
    begun_ = changed_ = true;  // a step that is left by an exception leaves no history
    moved_ = false;
}

namespace {

// Of a period: so near, two times are one. Multiples of it and of other lengths differ in their last digits.
constexpr double kNear = 1e-9;

}  // namespace

void Run::sample_if_due() {
    for (size_t i = 0; i < samples_.size(); ++i) {
        const double near = kNear * options_.periods[i];
        if (next_sample(i) > t_ + near) continue;
        while (next_sample(i) <= t_ + near) ++samples_[i];
        ++result_.samples;
        ledger_.stand(t_, x_.data(), u_.data());
        sink_.sample(static_cast<int>(i), t_);
    }
}

// A sample next to the end, or to a time to record, falls on it.
double Run::next_stop(double end) const {
    double stop = end;
    for (size_t i = 0; i < samples_.size(); ++i) {
        const double due = next_sample(i), near = kNear * options_.periods[i];
        if (due >= stop - near) continue;
        const auto output = std::lower_bound(outputs_.begin(), outputs_.end(), due - near);
        stop = output != outputs_.end() && *output <= due + near ? *output : due;
    }
    return stop;
}

void Run::observe(double t, const std::vector<double>& x, const std::vector<double>& u) {
    system_.observe(t, x.data(), u.data(), observation_, frame_.data());
    ledger_.write(t, frame_.data() + frame_.size() - ledger_.works().size());
}

void Run::observe(double* frame) {
    observe(t_, x_, u_);
    std::ranges::copy(frame_, frame);
}

void Run::move(double t) {
    t_ = result_.time = t;
    ledger_.move(t, x_.data(), u_.data());
    system_.commit(t, x_.data(), u_.data());
    moved_ = true;
}

void Run::record_if_due() {
    if (next_ >= outputs_.size() || outputs_[next_] != t_) return;
    record(t_, x_, u_);
    ++next_;
}

void Run::stop(SimulationStatus status) {
    result_.status = status;
    result_.tyre = system_.contacts().lost();
    if (status == SimulationStatus::constraints_lost) result_.row = system_.worst_row();
}

bool Run::is_sound(bool constraints_met) {
    result_.body = system_.first_non_finite_body(x1_.data(), u1_.data());
    if (result_.body >= 0) return stop(SimulationStatus::not_finite), false;
    if (!constraints_met) return stop(SimulationStatus::constraints_lost), false;
    return true;
}

bool Run::accept(double t, double h) {
    x_.swap(x1_);
    u_.swap(u1_);
    ledger_.settle(t, x_.data(), u_.data());
    t_ = result_.time = t;
    result_.last_step = h;
    ++result_.steps;
    system_.commit(t, x_.data(), u_.data());
    poles_.settle();
    if (!sink_.alive(t)) return stop(SimulationStatus::interrupted), false;
    return true;
}

namespace {

// More steps than that cannot be told apart by their times.
constexpr double kMostSteps = 1LL << 53;

// A speed that means something [m/s, rad/s].
constexpr double kMoving = 1e-6;

constexpr int kMostParts = 100;  // of a step, at whose ends stops are met
constexpr int kMostTries = 20;   // steps to a stop, each shorter than the last

// Each interval between output times in equal steps.
class FixedRun final : public Run {
  public:
    FixedRun(System& system, SimulationOptions options, Observation observation, double t, std::vector<double>& x,
             std::vector<double>& u, Sink& sink, std::unique_ptr<Stepper> stepper)
        : Run(system, std::move(options), std::move(observation), t, x, u, sink, std::move(stepper)),
          watches_stops_(system.stops() > 0 && !stepper_->by_impulses()),
          watch_(system, *stepper_),
          path_(system),
          curve_([this](double time, double* at, double* speed) { path_.at(time, at, speed); }),
          over_pole_([this](double time, double* at, double* speed) { way_.at(time, at, speed); }) {}

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
        const double longest = std::min(system_.longest_step(x_.data(), u_.data(), whole), hit_in(begin, whole));
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

    // Over a pole, maybe past the end of the step.
    bool cross(double h) {
        if (!ledger_.empty()) ledger_.follow(t_, t_ + h, CubicCurve::kOrder, true, over_pole_);
        output_on_way(t_, h);
        return accept(h < end_ - t_ ? t_ + h : end_, h);
    }

    double hit_in(double t, double h) {
        if (system_.contacts().empty()) return h;
        const Scenery at = system_.scenery(t, x_.data(), u_.data());
        return system_.contacts().longest_step(t, h, at.x, at.u);
    }

    // To the end of a step, or to the first stop on the way: there the impact takes place, from where another one goes
    // on. Within a step the loads gathered behind an impact would act as if they were part of it. Where stops are met
    // without end, as by what bounces ever less, the rest is taken whole.
    bool take(double t, double end, double h, bool last) {
        for (int parts = 0; t < end; ++parts, t = t_, h = end - t) {
            const auto impacts = system_.statistics().impacts;
            const bool watches = watches_stops_ && parts < kMostParts;
            EnergyWatch::Step step{t, h, x_.data(), u_.data(), x1_.data(), u1_.data()};
            StepOutcome outcome = attempt(step, watches);
            const bool meets = watches && shorten_to_stop(step, outcome);
            const double to = t + step.h < end - shortest() ? t + step.h : end;
            if (!is_sound(outcome.constraints_met) || !count(outcome.impulses)) return false;
            if (!ledger_.empty() && step.h > 0.0) follow(step);
            if (meets && !meet_stops(to)) return false;
            result_.row = poles_.turned_over(to, x1_.data(), u1_.data());
            if (result_.row >= 0) return stop(SimulationStatus::pole_reached), false;
            if (!meets && changes_nothing()) return stop(SimulationStatus::step_vanished), false;
            if (!watch_.bears(step, outcome.impulses.coarseness, last && to == end)) return tell_energy(step), false;
            if (!ledger_.empty() && !meets && system_.statistics().impacts != impacts)
                ledger_.strike(t, step.x, step.u, true);
            if (!accept(to, step.h)) return false;
            if (to == end) return true;
        }
        return stop(SimulationStatus::step_vanished), false;
    }

    StepOutcome attempt(const EnergyWatch::Step& step, bool watches) {
        watch_.before(step);
        if (watches)
            system_.watch_stops(step.t, step.x, step.u);
        else if (watches_stops_)
            system_.meet_stops();
        return stepper_->step(system_, step.t, step.h, step.x, step.u, x1_.data(), u1_.data());
    }

    // Takes the step again, so that it ends where the first stop is met; its length is 0 where that is at its start.
    bool shorten_to_stop(EnergyWatch::Step& step, StepOutcome& outcome) {
        double part = system_.first_met(step.t + step.h, x1_.data(), u1_.data());
        for (int i = 0; part < 1.0 && i < kMostTries; ++i) {
            step.h *= part;
            if (step.h < shortest()) {
                step.h = 0.0;
                outcome = {};
                x1_ = x_, u1_ = u_;
                return true;
            }
            outcome = attempt(step, true);
            part = system_.first_met(step.t + step.h, x1_.data(), u1_.data());
        }
        return part <= 1.0;
    }

    bool meet_stops(double t) {
        if (!ledger_.empty()) ledger_.strike(t, x1_.data(), u1_.data(), false);
        system_.meet_stops();
        return is_sound(system_.project(t, x1_.data(), u1_.data()));
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
            return stop(SimulationStatus::impulses_not_found), false;
        }
        all.add(step);
        return true;
    }

    void tell_energy(const EnergyWatch::Step& step) {
        result_.energy_before = watch_.lowest();
        result_.energy_after = watch_.reached();
        result_.body = most_accelerated_in(step);
        stop(SimulationStatus::energy_made);
    }

    // The body whose velocity changes most in a step.
    int most_accelerated_in(const EnergyWatch::Step& step) {
        std::vector<double> start(system_.observation_size({})), end = start;
        system_.measure(step.t, step.x, step.u, {}, start.data());
        system_.measure(step.t + step.h, step.x1, step.u1, {}, end.data());
        return most_changed(system_.model().bodies(), start, end);
    }

    // Whether what moves stays where it is, as far as doubles can tell.
    bool changes_nothing() const {
        return x1_ == x_ && u1_ == u_ && std::ranges::any_of(u_, [](double v) { return std::abs(v) > kMoving; });
    }

    const bool watches_stops_;
    EnergyWatch watch_;
    CubicCurve path_;
    Ledger::Curve curve_, over_pole_;
};

}  // namespace

std::unique_ptr<Run> make_run(System& system, SimulationOptions options, Observation observation, double t,
                              std::vector<double>& x, std::vector<double>& u, Sink& sink) {
    auto stepper = make_stepper(options.method, system, options.settings);
    if (stepper->by_impulses() && observation.works > 0)
        throw std::invalid_argument("work is not added up by methods that step by impulses");
    if (stepper->adaptive())
        return make_adaptive_run(system, std::move(options), std::move(observation), t, x, u, sink, std::move(stepper));
    return std::make_unique<FixedRun>(system, std::move(options), std::move(observation), t, x, u, sink,
                                      std::move(stepper));
}

}  // namespace bellcrank
