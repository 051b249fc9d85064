#include "integrate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

int Run::most_changed(const std::vector<double>& start, const std::vector<double>& end) const {
    const int bodies = system_.model().bodies();
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
    return most_changed(start, end);
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

std::unique_ptr<Run> make_run(System& system, SimulationOptions options, Observation observation, double t,
                              std::vector<double>& x, std::vector<double>& u, Sink& sink) {
    auto stepper = make_stepper(options.method, system, options.settings);
    if (stepper->by_impulses() && observation.works > 0)
        throw std::invalid_argument("work is not added up by methods that step by impulses");
    if (stepper->adaptive())
        return make_adaptive_run(system, std::move(options), std::move(observation), t, x, u, sink, std::move(stepper));
    return make_fixed_run(system, std::move(options), std::move(observation), t, x, u, sink, std::move(stepper));
}

}  // namespace bellcrank
