#include "integrate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "integrate/progress.hpp"
#include "interruption/interruption.hpp"
#include "model/model.hpp"

namespace bellcrank {

Run::Run(RunParts parts)
    : ports_(parts.ports),
      contacts_(ports_.record.contacts()),
      options_(std::move(parts.options)),
      functions_(ports_.record, options_.events, options_.measured),
      observation_(std::move(parts.observation)),
      x_(parts.x),
      u_(parts.u),
      sink_(parts.sink),
      tape_(parts.tape),
      ledger_(ports_.dynamics, ports_.projection, ports_.record, observation_),
      poles_(ports_.record, ports_.steps),
      way_(ports_.dynamics),
      x1_(x_),
      u1_(u_),
      frame_(ports_.record.observation_size(observation_)),
      t_(parts.t),
      end_(t_),
      goal_(t_),
      first_(std::isnan(options_.first_sample) ? t_ : options_.first_sample),
      samples_(options_.samples) {
    samples_.resize(options_.periods.size(), 0);
    result_.time = t_;
    ledger_.stand(t_, x_.data(), u_.data());
}

int Run::most_changed(double t, const double* x, const double* u, double t1, const double* x1, const double* u1) {
    std::vector<double> start(ports_.record.observation_size({})), end = start;
    ports_.record.measure(t, x, u, {}, start.data());
    ports_.record.measure(t1, x1, u1, {}, end.data());
    const int bodies = ports_.record.model().bodies();
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
        found.slow_sample = static_cast<int>(i);
        if (found.attempts_left > kMostAttempts) return give_up(found), true;
        if (found.attempts_left > kManyAttempts) tell_slow(found);
    }
    return false;
}

void Run::tell_slow(const SlowRun& found) {
    if (!std::isnan(result_.slow.slow_since)) return;
    result_.slow = found;
    result_.slow.slow_since = t_;
    if (found.slow_event < 0 && found.slow_sample < 0) result_.slow.slow_body = most_accelerated(result_.last_step);
    sink_.crawls(result_.slow);
}

void Run::give_up(const SlowRun& found) {
    const double since = result_.slow.slow_since;
    result_.slow = found;
    result_.slow.slow_since = std::isnan(since) ? t_ : since;
    if (found.slow_event < 0 && found.slow_sample < 0) result_.slow.slow_body = most_accelerated(result_.last_step);
    stop(SimulationStatus::endless);
}

// The body whose velocity changes most in a time.
int Run::most_accelerated(double h) {
    ports_.dynamics.accelerate(t_, x_.data(), u_.data(), u1_.data());
    for (size_t i = 0; i < u_.size(); ++i) u1_[i] = u_[i] + h * u1_[i];
    return most_changed(t_, x_.data(), u_.data(), t_, x_.data(), u1_.data());
}

void Run::begin_if_due() {
    if (!begun_) {
        result_.row = poles_.undefined(t_, x_.data(), u_.data());
        if (result_.row >= 0) return stop(SimulationStatus::pole_reached);
        if (ports_.stops.has_friction()) spoil_tape("dry friction holds and slips");
        if (!ports_.stops.settle_friction(t_, x_.data(), u_.data(), -1, 0.0)) return stop_for_friction();
        if (is_changed()) return;
        begin_interval();
        record_if_due();
        ports_.steps.commit(t_, x_.data(), u_.data());
    } else if (moved_) {
        spoil_tape("its state was set");
    } else if (changed_) {
        begin_interval();
    }
    if (!begun_ || changed_ || moved_) begin(!begun_ ? Start::first : moved_ ? Start::moved : Start::changed);
    begun_ = changed_ = true;  // a step that is left by an exception leaves no history
    moved_ = false;
}

void Run::stop_for_friction() {
    const FrictionJam jam = ports_.stops.friction_jam();
    result_.friction_law = jam.law;
    result_.friction_part = jam.part;
    stop(jam.law < 0 ? SimulationStatus::friction_not_found : SimulationStatus::friction_jams);
}

void Run::begin_interval() {
    if (tape_ == nullptr) return;
    const Model& model = ports_.record.model();
    std::vector<double> inputs(model.data().inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = model.input(static_cast<int>(i));
    tape_->begin_interval(t_, std::move(inputs));
    tape_->add({t_}, x_.data(), u_.data());
}

namespace {

// Two times so near, as part of a period, are one. Multiples of it and of other lengths differ in their last digits.
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
    ports_.record.observe(t, x.data(), u.data(), observation_, frame_.data());
    ledger_.write(t, frame_.data() + frame_.size() - ledger_.works().size());
}

void Run::observe(double* frame) {
    observe(t_, x_, u_);
    std::ranges::copy(frame_, frame);
}

void Run::move(double t) {
    t_ = result_.time = t;
    ledger_.move(t, x_.data(), u_.data());
    ports_.steps.commit(t, x_.data(), u_.data());
    moved_ = true;
}

void Run::record_if_due() {
    if (next_ >= outputs_.size() || outputs_[next_] != t_) return;
    record(t_, x_, u_);
    ++next_;
}

bool Run::is_changed(int met) {
    const std::vector<int>& due = functions_.due(t_, x_.data(), u_.data());
    for (const int event : due) {
        if (event == met) continue;
        observe(t_, x_, u_);
        std::ranges::copy(frame_, sink_.event(event, t_));
        result_.ended = true;
    }
    return result_.ended;
}

void Run::stop(SimulationStatus status) {
    result_.status = status;
    result_.tyre = contacts_.lost();
    if (status == SimulationStatus::constraints_lost) result_.row = ports_.projection.worst_row();
}

bool Run::is_sound(bool constraints_met) {
    result_.body = ports_.record.first_non_finite_body(x1_.data(), u1_.data());
    if (result_.body >= 0) return stop(SimulationStatus::not_finite), false;
    if (!constraints_met) return stop(SimulationStatus::constraints_lost), false;
    return true;
}

bool Run::accept(double t, double h) {
    x_.swap(x1_);
    u_.swap(u1_);
    ledger_.settle(t, x_.data(), u_.data());
    if (tape_ != nullptr) tape_->add({t, t_ + h}, x_.data(), u_.data());
    t_ = result_.time = t;
    result_.last_step = h;
    ++result_.steps;
    ports_.steps.commit(t, x_.data(), u_.data());
    poles_.settle();
    if (!sink_.alive(t)) return stop(SimulationStatus::interrupted), false;
    return true;
}

// A run comes over a pole on a way so short that the motion there is one of uniform acceleration.
namespace {

// Change of a velocity, of those that are corrected by it [m/s, rad/s], up to which a way is one of uniform
// acceleration.
constexpr double kRough = 1e-5;
// Closer than this part of the way to the middle of a way over a pole nothing is recorded.
constexpr double kOnPole = 1e-5;

}  // namespace

double Run::before_a_pole(double h) {
    const double part = poles_.longest_step(t_, h, x_.data(), u_.data());
    result_.row = poles_.reached();
    if (result_.row >= 0) stop(SimulationStatus::pole_reached);
    return part;
}

// u1 = u + h/2 (u̇ + u̇1) and ξ = h u + h²/6 (2 u̇ + u̇1), first with the acceleration of the start for that of the end.
bool Run::finds_way_over_pole(double most, double& h) {
    h = poles_.way_over();
    if (!(h > 0.0) || 0.5 * h >= most) return false;
    h = std::min(h, most);
    way_rate_.resize(u_.size()), way_end_rate_.resize(u_.size());
    way_step_.assign(u_.size(), 0.0);
    ports_.dynamics.accelerate(t_, x_.data(), u_.data(), way_rate_.data());
    ports_.dynamics.add_frame_rates(way_step_.data(), u_.data(), way_rate_.data());
    way_end_rate_ = way_rate_;
    double change = 0.0, fastest = 1.0;
    for (const bool first : {true, false}) {
        for (size_t i = 0; i < u_.size(); ++i) {
            way_step_[i] = h * (u_[i] + h / 6.0 * (2.0 * way_rate_[i] + way_end_rate_[i]));
            u1_[i] = u_[i] + 0.5 * h * (way_rate_[i] + way_end_rate_[i]);
            change = std::max(change, 0.5 * h * std::abs(way_end_rate_[i] - way_rate_[i]));
            fastest = std::max(fastest, std::abs(u1_[i]));
        }
        ports_.dynamics.retract(x_.data(), way_step_.data(), x1_.data());
        if (first) result_.row = poles_.turn_over(t_ + h, x1_.data(), u1_.data());
        const bool met = result_.row < 0 && ports_.projection.project(t_ + h, x1_.data(), u1_.data());
        if (result_.row >= 0 || !met || !(change <= kRough * fastest)) {
            poles_.switch_sides();
            if (result_.row >= 0) stop(SimulationStatus::pole_reached);
            return false;
        }
        if (!first) break;
        ports_.dynamics.accelerate(t_ + h, x1_.data(), u1_.data(), way_end_rate_.data());
        ports_.dynamics.add_frame_rates(way_step_.data(), u1_.data(), way_end_rate_.data());
    }
    way_.lay(t_, h, x_.data(), u_.data(), x1_.data(), u1_.data());
    return true;
}

// Up to the middle of the way directions count as before. A time that falls on the pole itself gives way to one beside.
void Run::output_on_way(double begin, double h) {
    const double middle = begin + 0.5 * h;
    way_x_.resize(x_.size()), way_u_.resize(u_.size());
    bool over = true;
    const auto be_on = [&](bool side) {
        if (side != over) poles_.switch_sides();
        over = side;
    };
    for (; next_ < outputs_.size() && outputs_[next_] < begin + h; ++next_) {
        const double time = outputs_[next_];
        be_on(time >= middle);
        way_.at(over ? std::max(time, middle + kOnPole * h) : std::min(time, middle - kOnPole * h), way_x_.data(),
                way_u_.data());
        ports_.projection.project(time, way_x_.data(), way_u_.data());
        record(time, way_x_, way_u_);
    }
    be_on(true);
}

std::unique_ptr<Run> make_run(RunParts parts) {
    const std::string& method = parts.options.method;
    const MethodSettings& settings = parts.options.settings;
    if (auto fixed = make_fixed_stepper(method, parts.ports, settings)) {
        if (fixed->by_impulses() && parts.observation.works > 0)
            throw std::invalid_argument("work is not added up by methods that step by impulses");
        return make_fixed_run(std::move(parts), std::move(fixed));
    }
    auto adaptive = make_adaptive_stepper(method, parts.ports, settings);
    return make_adaptive_run(std::move(parts), std::move(adaptive));
}

}  // namespace bellcrank
