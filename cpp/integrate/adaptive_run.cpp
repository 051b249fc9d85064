// The loop over time of methods that choose their steps: control of steps, output between them, discontinuities,
// events and stops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "integrate/energy_watch.hpp"
#include "integrate/events.hpp"
#include "integrate/progress.hpp"
#include "integrate/simulate.hpp"

namespace bellcrank {

namespace {

constexpr double kBeside = 1e-14;     // of a time: a discontinuity is as near, on either side
constexpr double kUncertain = 10.0;   // speeds that are none, in tolerances [m/s, rad/s]
constexpr double kPartAtRest = 5e-3;  // of a run: the longest step of what does not move
constexpr double kNoSpeed = 1e-9;     // [m/s, rad/s]
constexpr double kHolds = 2.0;        // friction that does not slip, beside senses
constexpr double kMostRounding = 10;  // an error that may be taken for rounding, in tolerances
constexpr double kFarRounding = 100;  // one that may be rounding; with a history it is not taken, nor that to blame
// Parts of a step that are tried instead, so that no stage falls where rounding is large, and how what is taken grows.
constexpr double kAside[] = {0.9, 1.1, 0.8, 1.2, 0.7, 0.6};
constexpr double kBearing = 4.0;
constexpr double kUnsupplied =
    1e3;  // share of the energy in play that a step near a pole may gain or lose, in tolerances
constexpr int kManyShortened = 4;           // steps; then their errors may be rounding
constexpr int kMostPatience = 4;            // times as many, where it was not
constexpr double kOutOfRounding = 2.0;      // growth of steps that were shortened for nothing
constexpr double kCutShort = 0.5;           // of a step: what is left of one that an event has cut
constexpr double kBendStep = 2e-10;         // of a time: the step over a place beyond which equations are others
constexpr double kShortOfBend = 0.25;       // of that: what is left for it
constexpr int kMostBendTries = 8;           // of a step that is to end there
constexpr double kBeyond = 1e-13;           // of a time: first look beyond it,
constexpr double kFarther = 4.0;            // and each time so many times as far
constexpr long long kTrial = 1 << 11;       // attempts by which a method is tried
constexpr long long kTrialAfter = 1 << 14;  // attempts before methods are tried,
constexpr int kRarer = 4;                   // and each time so many times as many

class AdaptiveRun final : public Run {
  public:
    AdaptiveRun(RunParts parts, std::unique_ptr<AdaptiveStepper> stepper)
        : Run(std::move(parts)),
          stepper_(std::move(stepper)),
          watch_(ports_.dynamics, ports_.stops, ports_.record, functions_),
          energy_(ports_.dynamics, ports_.record,
                  kUnsupplied * (options_.settings.tolerances.relative + options_.settings.tolerances.absolute)),
          curve_([this](double time, double* at, double* speed) { interpolate(time, at, speed); }),
          xo_(x_),
          uo_(u_),
          acceleration_(u_),
          slow_(std::clamp(kUncertain * options_.settings.tolerances.absolute, 1e-10, 1e-4)),
          limit_(options_.max_step > 0.0 ? options_.max_step : std::numeric_limits<double>::infinity()) {
        contacts_.be_rigid(false);
    }

    ~AdaptiveRun() override { contacts_.leave_new_points_alone(false); }

  private:
    struct Step {
        double begin, end, h;
    };

    void begin(Start start) override;
    void advance() override;
    bool attempt();
    bool cross(double h, double target);
    bool look_at_progress();
    void mark_pace();
    bool take_other_method();
    bool goes_on_otherwise();
    bool made_by_rounding(const StepOutcome& outcome);
    bool came_down_to_rounding(const StepOutcome& outcome);
    void begin_motion(double first);
    void settle_friction();
    double longest_at_rest() const;
    void refuse(const StepOutcome& outcome);
    bool take(const StepOutcome& outcome);
    bool ends_before_a_bend();
    double beyond(const EventWatch::Root& root);
    bool end_at(const EventWatch::Root& root);
    void interpolate(double time, double* x, double* u);
    void output_before(double time);
    bool report_new_contacts();
    void report(const EventWatch::Root& root, const std::vector<double>& x, const std::vector<double>& u);
    double first_step();

    const std::unique_ptr<AdaptiveStepper> stepper_;
    EventWatch watch_;
    SealedEnergy energy_;
    Progress progress_;
    long long trial_after_ = kTrialAfter, trial_ = kTrial;
    double marked_at_ = 0.0;
    long long evaluations_at_mark_ = 0;
    std::string before_trial_;  // the method
    double vanished_at_ = std::numeric_limits<double>::quiet_NaN();
    Curve curve_;
    std::vector<double> xo_, uo_, acceleration_;
    double limit_;                                     // longest step
    std::vector<double> breaks_;                       // times of discontinuities, the next one last
    double h_ = 0.0;                                   // the step to try
    Step step_{};                                      // the last one
    int refusals_ = 0, asides_ = 0;                    // of the step at hand; for rounding alone
    double whole_step_ = 0.0;                          // before the first of these
    int patience_ = 1;                                 // in kManyShortened
    double refused_step_ = 0.0, refused_error_ = 0.0;  // of the attempt before, if it was refused
    bool is_rounding_ = false;                         // the error of the last attempt
    int shortened_ = 0;                                // steps followed by a shorter one, less those by none
    bool crossing_ = false;                            // a pole
    const double slow_;                                // speeds below are errors of the method
    double whole_ = 0.0;                               // the longest part of the run
    int changed_friction_ = -1;                        // of friction, where the last step ended
    std::vector<double> friction_, friction_now_;      // senses by stop, or that it holds
    int bend_tries_ = 0;                               // of the step at hand, to end before equations change
    bool stuck_ = false;  // a stop was met without any time passing: the next step looks for none
    long long steps_before_ = 0, evaluations_before_ = 0;  // the last restart
};

// What a change of an input leaves of the history is nothing; a method without one need not shorten its step for it.
void AdaptiveRun::begin(Start start) {
    contacts_.leave_new_points_alone(true);
    if (start == Start::first) {
        progress_.begin(t_, watch_.count());
        mark_pace();
    }
    if (start != Start::first) stepper_->restart();
    const bool keeps_step = start == Start::changed && result_.last_order == 0 && h_ > 0.0;
    begin_motion(start == Start::first ? options_.step : keeps_step ? h_ : 0.0);
}

void AdaptiveRun::advance() {
    whole_ = std::max(whole_, left());
    breaks_.clear();
    ports_.steps.break_times(t_, end_ + kBeside * std::abs(end_), breaks_);
    std::sort(breaks_.begin(), breaks_.end(), std::greater<>());
    while (t_ < end_ && is_running()) {
        bool anew = attempt();
        if (!is_running()) break;
        if (anew) stepper_->restart();
        anew |= look_at_progress();
        if (anew && is_running()) begin_motion(0.0);
    }
    result_.next_step = h_;
    result_.steps_since_restart = result_.steps - steps_before_;
    result_.evaluations_since_restart = ports_.dynamics.statistics().evaluations - evaluations_before_;
}

// True if another method goes on from where the run is.
bool AdaptiveRun::look_at_progress() {
    const Progress::Verdict verdict = progress_.count(t_, left());
    const long long attempts = progress_.attempts();
    if (stepper_->is_trying() ? attempts >= trial_ : verdict > Progress::Verdict::fine && attempts >= trial_after_)
        if (take_other_method()) return true;
    if (attempts % (stepper_->is_trying() ? trial_ / 2 : kTrialAfter) == 0) mark_pace();
    if (verdict < Progress::Verdict::crawls || stepper_->is_trying()) return false;
    SlowRun found;
    found.attempts_left = progress_.attempts_left();
    found.pace = left() / found.attempts_left;
    found.slow_event = progress_.event();
    found.seen = progress_.window();
    found.ended_by_event = progress_.ended();
    const bool may_end = std::ranges::any_of(options_.events, [](const auto& event) { return event.terminal; });
    if (verdict == Progress::Verdict::endless && !may_end) return give_up(found), false;
    tell_slow(found);
    return false;
}

// Steps have vanished: another method may get on, where time has passed since they last did.
bool AdaptiveRun::goes_on_otherwise() {
    if (!stepper_->is_trying()) {
        if (vanished_at_ == t_) return false;
        vanished_at_ = t_;
    }
    if (!take_other_method()) return false;
    begin_motion(0.0);
    return true;
}

// What passes from here on shows the pace: of a method that is tried, the second half of the trial.
void AdaptiveRun::mark_pace() {
    marked_at_ = t_;
    evaluations_at_mark_ = ports_.dynamics.statistics().evaluations;
}

// Those that can are tried one after the other, each for some attempts.
bool AdaptiveRun::take_other_method() {
    const auto taken = static_cast<double>(ports_.dynamics.statistics().evaluations - evaluations_at_mark_);
    if (!stepper_->is_trying()) before_trial_ = stepper_->method();
    const bool changes = stepper_->give_way((t_ - marked_at_) / std::max(1.0, taken));
    if (!stepper_->is_trying()) {
        trial_after_ *= kRarer;
        trial_ *= kRarer;
    }
    if (before_trial_ != stepper_->method()) {
        result_.changed_since = t_;
        result_.gave_way = before_trial_;
    }
    if (changes || !before_trial_.empty()) {
        progress_.begin(t_, watch_.count());
        mark_pace();
    }
    return changes;
}

// True if the motion goes on otherwise from where the step has ended.
//
// A step never goes beyond a discontinuity. It ends just before, where functions still have their values from the left,
// and the motion starts anew just after it.
bool AdaptiveRun::attempt() {
    while (!breaks_.empty() && breaks_.back() - t_ <= shortest()) breaks_.pop_back();
    const bool to_break = !breaks_.empty();
    const double target = to_break ? breaks_.back() : end_;
    const double to_pole = before_a_pole(h_);
    if (!is_running()) return false;
    if (double over = 0.0; finds_way_over_pole(target - t_, over)) return cross(over, target);
    if (!is_running()) return false;
    const double longest =
        std::min({ports_.steps.longest_step(x_.data(), u_.data(), h_), contacts_.calm_time(), to_pole});
    h_ = longest < std::min(h_, shortest()) ? 0.0 : longest;
    if (ports_.stops.has_friction()) h_ = std::min(h_, longest_at_rest());
    const bool last = t_ + 1.0000001 * h_ >= target;
    const double beside = to_break ? kBeside * std::max(std::abs(target), std::abs(t_)) : 0.0;
    if (last) h_ = target - t_ - beside;
    // Nothing much shorter than the other steps is left for the end, from where the run goes on.
    if (!last && !last_) h_ = std::min(h_, 0.5 * (target - t_));
    step_ = {t_, last ? std::min(target + beside, end_) : t_ + h_, h_};
    if (!(step_.end > t_ && h_ > 0.0)) return stop(SimulationStatus::step_vanished), false;
    StepOutcome outcome = stepper_->step(t_, h_, x_.data(), u_.data(), x1_.data(), u1_.data());
    outcome.rounding = made_by_rounding(outcome);
    const double most = outcome.order > 0 ? kMostRounding : kFarRounding * std::pow(kBearing, asides_);
    is_rounding_ = outcome.rounding && outcome.error <= most;
    if (is_rounding_) outcome.error = 1.0;
    const bool settled = (outcome.impact && h_ <= options_.impact_resolution) || outcome.jump;
    if (!std::isfinite(outcome.error) || !outcome.constraints_met ||
        (!settled && (outcome.impact || outcome.error > 1.0)))
        return refuse(outcome), false;
    // It turned, or friction changed, faster than it seemed to.
    if (ports_.steps.longest_step(x1_.data(), u1_.data(), h_) < 0.5 * h_ ||
        poles_.turned_over(step_.end, x1_.data(), u1_.data()) >= 0 ||
        ports_.stops.leaps_over(t_, x_.data(), u_.data(), step_.end, x1_.data(), u1_.data())) {
        ++result_.rejected;
        h_ *= 0.5;
        return false;
    }
    if (poles_.near() >= 0 && !energy_.is_kept(t_, x_.data(), u_.data(), step_.end, x1_.data(), u1_.data())) {
        ++result_.rejected;
        h_ *= 0.5;
        if (h_ < shortest()) result_.row = poles_.near(), stop(SimulationStatus::pole_reached);
        return false;
    }
    if (ends_before_a_bend()) return false;
    const bool before_a_bend = std::exchange(bend_tries_, 0) > 0 && h_ > kBendStep * std::max(1.0, std::abs(t_));
    const bool anew = take(outcome) || settled || (last && to_break);
    if (before_a_bend && !anew && is_running()) stepper_->restart();
    return anew;
}

// No step leads over a place where equations change, but a very short one: what a method has of both sides is no motion
// of either. A step that does is taken again, up to just before where the cubic through its ends comes there.
bool AdaptiveRun::ends_before_a_bend() {
    const double shortest_over = kBendStep * std::max(1.0, std::abs(t_));
    if (h_ <= shortest_over || bend_tries_ >= kMostBendTries) return false;
    bool is_laid = false;
    const Curve way = [&](double time, double* x, double* u) {
        if (!std::exchange(is_laid, true)) way_.lay(t_, h_, x_.data(), u_.data(), x1_.data(), u1_.data());
        way_.at(time, x, u);
    };
    const double left = watch_.first_bend(t_, h_, x1_.data(), u1_.data(), way) - t_;
    if (!std::isfinite(left)) return false;
    ++bend_tries_;
    ++result_.rejected;
    h_ = left > 2.0 * kShortOfBend * shortest_over ? left - kShortOfBend * shortest_over : shortest_over;
    return true;
}

// Whether a step whose error has not fallen as truncation does when it was shortened, or that comes after one like
// that or past rows that are nearly dependent, shows no more than rounding: then a shorter one would not be better,
// only one of many more. Of a multistep method whose last step alone is shortened truncation hardly falls faster than
// rounding, both as the product of the distances to the times of its history: so it is looked at in any case before the
// history is given up.
bool AdaptiveRun::made_by_rounding(const StepOutcome& outcome) {
    if (outcome.error <= 1.0 || (outcome.order > 0 && !(outcome.error <= kFarRounding))) return false;
    const bool fell = outcome.error <= refused_error_ * std::pow(h_ / refused_step_, 3);
    const bool suspect =
        is_rounding_ || outcome.doubtful || (refusals_ > 0 && !fell) || (outcome.order > 0 && refusals_ > 1);
    if (!suspect || !outcome.constraints_met || outcome.impact || outcome.jump) return false;
    return stepper_->rounding(t_ + h_, h_, x1_.data(), u1_.data()) >= outcome.error;
}

// Whether steps that were shortened more often than lengthened, though none was refused, have errors that are no more
// than rounding. A method that aims at less than the tolerance would shorten them without end, and none would be
// better; longer ones lead out of where it is. Where it was not rounding, it is measured again after more steps only.
bool AdaptiveRun::came_down_to_rounding(const StepOutcome& outcome) {
    if (outcome.order == 0 || shortened_ <= kManyShortened * patience_ || outcome.impact || outcome.jump) return false;
    const bool found = stepper_->rounding(t_ + step_.h, step_.h, x1_.data(), u1_.data()) >= outcome.error;
    patience_ = found ? 1 : std::min(2 * patience_, kMostPatience);
    if (!found) shortened_ = 0;
    return found;
}

// What is told is all that has changed.
void AdaptiveRun::settle_friction() {
    const StopWatch& stops = ports_.stops;
    if (!stops.has_friction()) return;
    const auto note = [&](std::vector<double>& states) {
        states.clear();
        for (int i = 0; i < stops.stops(); ++i)
            states.push_back(!stops.is_friction(i) ? 0.0 : stops.is_holding(i) ? kHolds : stops.friction_sense(i));
    };
    note(friction_);
    if (!ports_.stops.settle_friction(t_, x_.data(), u_.data(), std::exchange(changed_friction_, -1), slow_))
        return stop_for_friction();
    note(friction_now_);
    for (size_t i = 0; i < friction_.size(); ++i) {
        if (friction_[i] == friction_now_[i]) continue;
        const FrictionChange change = friction_now_[i] == kHolds ? FrictionChange::sticks
                                      : friction_[i] == kHolds   ? FrictionChange::slips
                                                                 : FrictionChange::turns;
        report({t_, watch_.friction_event(static_cast<int>(i), change)}, x_, u_);
    }
}

void AdaptiveRun::begin_motion(double first) {
    settle_friction();
    if (is_running() && is_changed()) return;
    stuck_ ? ports_.stops.meet_stops() : ports_.stops.watch_stops(t_, x_.data(), u_.data());
    watch_.begin(t_, x_.data(), u_.data());
    steps_before_ = result_.steps;
    evaluations_before_ = ports_.dynamics.statistics().evaluations;
    h_ = std::min(limit_, first > 0.0 ? first : first_step());
}

// Loads on what rests change at the times that somebody looks at, or some hundreds of times in the run.
double AdaptiveRun::longest_at_rest() const {
    if (std::ranges::any_of(u_, [](double u) { return std::abs(u) > kNoSpeed; })) return h_;
    const auto later = std::upper_bound(outputs_.begin(), outputs_.end(), t_);
    const double part = whole_ * kPartAtRest, to_output = later == outputs_.end() ? left() : *later - t_;
    return std::max(std::min(part, to_output), shortest());
}

// Steps over a pole; the motion begins anew behind it.
bool AdaptiveRun::cross(double h, double target) {
    spoil_tape("it went over a pole of a direction");
    step_ = {t_, h < target - t_ ? t_ + h : target, h};
    crossing_ = true;
    if (!ledger_.empty()) ledger_.follow(t_, t_ + h, CubicCurve::kOrder, true, curve_);
    bool changes = false;
    for (const EventWatch::Root& root : watch_.find(t_, h, curve_)) {
        if (!watch_.is_function(root.event)) continue;
        curve_(root.time, xo_.data(), uo_.data());
        report(root, xo_, uo_);
        result_.ended |= watch_.ends(root.event);
        changes |= functions_[root.event].is_change();
    }
    output_on_way(t_, h);
    crossing_ = false;
    if (!is_sound(true) || !accept(step_.end, h)) return false;
    if (changes) return true;
    if (result_.ended && (next_ >= outputs_.size() || outputs_[next_] > t_)) record(t_, x_, u_);
    record_if_due();
    refusals_ = asides_ = 0;
    return true;
}

void AdaptiveRun::refuse(const StepOutcome& outcome) {
    ++result_.rejected;
    const bool finite = std::isfinite(outcome.error);
    const bool estimated = finite && outcome.constraints_met && !outcome.impact;
    refused_step_ = h_;
    refused_error_ = outcome.error;
    if (estimated && outcome.rounding && outcome.order == 0 && asides_ < std::ssize(kAside)) {
        if (asides_ == 0) whole_step_ = h_;
        h_ = kAside[asides_++] * whole_step_;
    } else {
        h_ = estimated ? stepper_->refused(h_, outcome) : 0.25 * h_;
    }
    ++refusals_;
    if (h_ >= shortest() || goes_on_otherwise()) return;
    if (ports_.stops.friction_jam().law >= 0) return stop_for_friction();
    if (finite && !outcome.constraints_met) return stop(SimulationStatus::constraints_lost);
    result_.body = std::max(0, ports_.record.first_non_finite_body(x1_.data(), u1_.data()));
    stop(finite ? SimulationStatus::step_vanished : SimulationStatus::not_finite);
}

// The step is good: up to its end, or to the first event that ends it. True if the motion goes on otherwise then.
bool AdaptiveRun::take(const StepOutcome& outcome) {
    const double next = stepper_->accepted(step_.h, outcome, refusals_ > 0);
    if (stepper_->taken_back()) result_.stiff_since = std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(result_.stiff_since) && stepper_->stiff()) result_.stiff_since = step_.end;
    shortened_ = next < step_.h ? shortened_ + 1 : std::max(0, shortened_ - 1);
    h_ = std::min(limit_, is_rounding_ ? step_.h : came_down_to_rounding(outcome) ? kOutOfRounding * step_.h : next);
    refusals_ = asides_ = 0;
    result_.rounding += is_rounding_;
    result_.method = stepper_->method();
    result_.last_order = outcome.order;
    result_.highest_order = std::max(result_.highest_order, outcome.order);
    const std::vector<EventWatch::Root>& roots = watch_.find(step_.begin, step_.h, curve_);
    const bool cut = std::ranges::any_of(roots, [this](const auto& root) { return watch_.ends(root.event); });
    const double end = cut ? roots.back().time : step_.begin + step_.h;
    const bool recorded = !roots.empty() || (next_ < outputs_.size() && outputs_[next_] < end);
    ledger_.follow(step_.begin, end, outcome.order, recorded, curve_);
    for (const EventWatch::Root& root : roots) {
        if (watch_.ends(root.event)) return end_at(root);
        curve_(root.time, xo_.data(), uo_.data());
        if (!ports_.projection.project(root.time, xo_.data(), uo_.data()))
            return stop(SimulationStatus::constraints_lost), false;
        report(root, xo_, uo_);
    }
    output_before(step_.end);
    if (outcome.impact) {
        spoil_tape("what lay on a stop was hit");
        ledger_.strike(t_, x_.data(), u_.data(), true);
    }
    if (!is_running() || !is_sound(true) || !accept(step_.end, step_.h)) return false;
    record_if_due();
    stuck_ = false;
    watch_.time_passes();
    ports_.stops.watch_stops(t_, x_.data(), u_.data());
    return report_new_contacts();
}

// A step may end so close to a contact that it counts as touching. True if it does.
bool AdaptiveRun::report_new_contacts() {
    bool any = false;
    for (int event = 0; event < contacts_.events(); event += Contacts::kEvents) {
        if (!contacts_.begins(event / Contacts::kEvents)) continue;
        report({t_, watch_.first_contact() + event}, x_, u_);
        any = true;
    }
    return any;
}

// The first time found at which the state, once on the rows, is on the far side of where equations change: from there
// the next step meets the new ones alone. Beyond the zero the old ones have been followed for a moment, whose error is
// that of second derivatives over it.
double AdaptiveRun::beyond(const EventWatch::Root& root) {
    const double end = step_.begin + step_.h;
    double time = root.time, aside = kBeyond * std::max(1.0, std::abs(time));
    for (;; aside *= kFarther) {
        curve_(time, xo_.data(), uo_.data());
        if (time >= end || !ports_.projection.project(time, xo_.data(), uo_.data())) return time;
        if (watch_.is_beyond(root.event, time, xo_.data(), uo_.data())) return time;
        time = std::min(root.time + aside, end);
    }
}

// The step is cut where a stop is met, or the run ends. Up to there stops are still left alone.
bool AdaptiveRun::end_at(const EventWatch::Root& root) {
    const double time = watch_.bends(root.event) ? beyond(root) : root.time;
    output_before(time);
    if (!is_running()) return false;
    const int stop = watch_.is_stop(root.event) ? root.event - static_cast<int>(options_.events.size()) : -1;
    const bool of_friction = stop >= 0 && ports_.stops.is_friction(stop), stop_met = stop >= 0 && !of_friction;
    if (of_friction) changed_friction_ = stop;
    curve_(time, xo_.data(), uo_.data());
    if (stop_met) {
        keep_impact(time, xo_, uo_);
        ledger_.strike(time, xo_.data(), uo_.data(), false);
        ports_.stops.meet_stops();
    }
    const bool met = ports_.projection.project(time, xo_.data(), uo_.data());
    x1_.swap(xo_);
    u1_.swap(uo_);
    if (!is_sound(met)) return result_.time = time, false;  // frames lead up to here
    if (time - step_.begin < kCutShort * step_.h) progress_.end_at(root.event);
    if (watch_.is_contact(root.event)) contacts_.end_by(root.event - watch_.first_contact());
    if (!accept(time, time - step_.begin)) return false;
    stuck_ = stop_met && time - step_.begin <= shortest();
    if (stuck_ && tape_ != nullptr) tape_->last().meets = true;
    if (stuck_) return true;
    if (!of_friction) report(root, x_, u_);
    const bool goes_on = stop >= 0 || watch_.is_contact(root.event) || watch_.bends(root.event);
    if (time - step_.begin > shortest())
        watch_.time_passes();
    else if (watch_.is_contact(root.event))
        watch_.pass_over(root.event);
    result_.ended = !goes_on;
    if (result_.ended && functions_.reads_loads())
        spoil_tape("it was ended by an event that reads loads or inputs");
    else if (result_.ended && tape_ != nullptr)
        tape_->end_by(options_.events[root.event], options_.measured);
    // Who goes on with another mechanism records what is there.
    if (result_.ended && functions_[root.event].is_change()) return is_changed(root.event), false;
    if (result_.ended && (next_ >= outputs_.size() || outputs_[next_] > t_)) record(t_, x_, u_);
    record_if_due();
    return goes_on;
}

// x_ and u_ hold the start of the step, x1_ and u1_ its end.
void AdaptiveRun::interpolate(double time, double* x, double* u) {
    if (crossing_) return way_.at(time, x, u);
    const bool begins = time == step_.begin;
    if (begins || time == step_.begin + step_.h) {
        std::ranges::copy(begins ? x_ : x1_, x);
        std::ranges::copy(begins ? u_ : u1_, u);
        return;
    }
    stepper_->interpolate((time - step_.begin) / step_.h, x_.data(), u_.data(), x1_.data(), u1_.data(), x, u);
}

void AdaptiveRun::output_before(double time) {
    for (; next_ < outputs_.size() && outputs_[next_] < time; ++next_) {
        const double at = outputs_[next_];
        interpolate(at, xo_.data(), uo_.data());
        if (!ports_.projection.project(at, xo_.data(), uo_.data())) return stop(SimulationStatus::constraints_lost);
        record(at, xo_, uo_);
    }
}

void AdaptiveRun::report(const EventWatch::Root& root, const std::vector<double>& x, const std::vector<double>& u) {
    observe(root.time, x, u);
    std::copy(frame_.begin(), frame_.end(), sink_.event(root.event, root.time));
}

double AdaptiveRun::first_step() {
    ports_.dynamics.accelerate(t_, x_.data(), u_.data(), acceleration_.data());
    double speed = 0.0, acceleration = 0.0;
    for (size_t i = 0; i < u_.size(); ++i) {
        speed = std::max(speed, std::abs(u_[i]));
        acceleration = std::max(acceleration, std::abs(acceleration_[i]));
    }
    return stepper_->first_step(speed, acceleration);
}

}  // namespace

std::unique_ptr<Run> make_adaptive_run(RunParts parts, std::unique_ptr<AdaptiveStepper> stepper) {
    return std::make_unique<AdaptiveRun>(std::move(parts), std::move(stepper));
}

}  // namespace bellcrank
