#include "integrate/run_tangent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "interruption/interruption.hpp"
#include "model/model.hpp"
#include "tangents/frame_motion.hpp"

namespace bellcrank {

namespace {

constexpr int kMostPieces = 4096;     // of a step that is followed
constexpr double kGrazing = 1e-2;     // m/s, rad/s: slower impacts are remarked on
constexpr double kTogether = 1e-9;    // m, rad: stops as near are met together
constexpr double kOpen = 1e-6;        // change of a row that is not kept
constexpr double kIdle = 1e-9;        // load of a stop, in parts of the largest
constexpr double kForceJump = 10.0;   // change of an acceleration over a mean step, in parts of the largest
constexpr double kFoundAgain = 1e-6;  // velocities behind an impact, in parts of the largest

void refuse_spoiled(const Tape& tape) {
    if (tape.spoiled() == nullptr) return;
    throw Refusal("derivatives of this run are not implemented: at t = " + std::to_string(tape.spoiled_at()) + " s " +
                  tape.spoiled());
}

// What the motion is found to where errors of a run are looked for; of a method without tolerances nothing is known.
Tolerances exactly(const std::string& method, const Tolerances& of_run) {
    constexpr double kSmaller = 1e-3, kLeast = 1e-13;
    const double factor = method == "rk4" ? 0.0 : kSmaller;
    return {std::max(factor * of_run.relative, kLeast), std::max(factor * of_run.absolute, kLeast)};
}

}  // namespace

RunTangent::RunTangent(const Ports& ports, const Model& model, Tape tape, const std::string& method,
                       const Tolerances& tolerances, bool is_looser, std::vector<Watched> watched, SetInputs set_inputs)
    : ports_(ports),
      model_(model),
      tape_(std::move(tape)),
      watched_(std::move(watched)),
      stages_(ports.dynamics, ports.projection),
      is_looser_(is_looser),
      changes_frames_(ports.dynamics.has_frames_of_ways()),
      exact_(ports.dynamics, ports.projection, exactly(method, tolerances)),
      set_inputs_(std::move(set_inputs)),
      at_(tape_.count() - 1),
      held_(at_ < 0 ? -1 : tape_[at_].interval),
      by_numbers_(model) {
    refuse_spoiled(tape_);
    for (const Watched& one : watched_) {
        const bool of_frame = one.what == Watched::What::frame;
        watches_rates_ |= one.what == Watched::What::second || of_frame;
        measured_.of_frames |= of_frame;
        watches_loads_ |= one.what == Watched::What::multiplier;
    }
    if (tape_.ending() != nullptr) read_ending();
    const size_t n = ports_.dynamics.tangent_size();
    for (auto* v : {&udot_, &udot1_, &by_x_, &by_u_, &stage_x_, &stage_u_, &end_zeta_, &zeta_, &off_})
        v->assign(n, 0.0);
    rates_.assign(kDirections * n, 0.0);
    loads_.assign(kDirections * static_cast<size_t>(model_.rows_total()), 0.0);
    none_.assign(model_.rows_total(), 0.0);
    for (auto* list : {&of_x_, &of_u_})
        for (std::vector<double>& v : *list) v.assign(n, 0.0);
    for (std::vector<double>& v : at_u_) v.assign(n, 0.0);
    for (std::vector<double>& v : at_x_) v.assign(ports_.dynamics.configuration_size(), 0.0);
    if (method != "dopri5" || is_looser_) step_anew(method, tolerances);
    for (int i = 0; i < tape_.count(); ++i)
        if (tape_[i].impact) impacts_.push_back(i);
}

// Steps of other lengths than those of the run: from one of its stations to another one farther on, or in parts to the
// next, as the error of these stages allows. Where the run stood at a station, this goes on.
void RunTangent::step_anew(const std::string& method, const Tolerances& tolerances) {
    Tape made = tape_.like();
    DormandPrince stepper(ports_.dynamics, ports_.projection, tolerances);
    std::vector<double> x, u, x1, u1;
    double h = 0.0;
    for (int i = 0; i < tape_.count();) {
        made.copy(tape_, i);
        if (!flows(i)) {
            if (tape_[i].impact) h = 0.0;
            i = next(i);
            continue;
        }
        look_for_interrupts();
        stand(i);
        stepper.restart();
        x.assign(tape_.x(i), tape_.x(i) + ports_.dynamics.configuration_size());
        u.assign(tape_.u(i), tape_.u(i) + ports_.dynamics.tangent_size());
        x1 = x, u1 = u;
        double t = tape_[i].t;
        if (h == 0.0) h = length(i);
        int end = farthest(i, t + h), output = i + 1;
        const auto copy_outputs = [&](double to) {
            for (; output < end && tape_[output].t < to; ++output)
                if (tape_[output].output >= 0) made.copy_within(tape_, output);
        };
        for (int tries = 0;; ++tries) {
            if (tries == kMostPieces)
                throw Refusal("derivatives of runs that are stiff, as this one by " + method +
                              " is at t = " + std::to_string(t) + " s, are not implemented");
            const double whole = tape_[end].arrived - t;
            const bool last = h * (1.0 + 1e-9) >= whole;
            const double step = last ? whole : h;
            const StepOutcome outcome = stepper.step(t, step, x.data(), u.data(), x1.data(), u1.data());
            if (!outcome.constraints_met || !(outcome.error <= 1.0)) {
                h = std::isfinite(outcome.error) ? stepper.refused(step, outcome) : 0.25 * step;
                if (t == tape_[i].t) end = farthest(i, t + h);
                continue;
            }
            copy_outputs(last ? std::numeric_limits<double>::infinity() : t + step);
            h = stepper.accepted(step, outcome, false);
            if (last) break;
            t += step;
            x.swap(x1), u.swap(u1);
            made.add({.t = t, .arrived = t, .interval = tape_[i].interval}, x.data(), u.data());
            ports_.steps.commit(t, x.data(), u.data());
            ports_.stops.watch_stops(t, x.data(), u.data());
        }
        i = end;
    }
    refuse_spoiled(made);
    walk_to(tape_.count() - 1);
    tape_ = std::move(made);
    at_ = tape_.count() - 1;
}

int RunTangent::steps() const {
    int found = 0;
    for (int i = 0; i < tape_.count(); i = next(i)) found += flows(i);
    return found;
}

// The last station up to a time to which nothing but smooth motion leads, at least the next one. Errors of the run are
// seen in its own steps only.
int RunTangent::farthest(int i, double to) const {
    int end = next(i);
    if (!is_looser_) return end;
    for (int j = end; next(j) < tape_.count() && is_plain(j) && tape_[next(j)].arrived <= to * (1.0 + 1e-14);
         j = next(j))
        end = next(j);
    return end;
}

// Whether the motion goes on through it as if it was none.
bool RunTangent::is_plain(int i) const {
    return !tape_[i].impact && !tape_[i].meets && tape_[i].t == tape_[i].arrived &&
           tape_[i].interval == tape_[next(i)].interval;
}

int RunTangent::next(int i) const {
    for (++i; i < tape_.count() && tape_[i].within; ++i);
    return i;
}

// The continuous extension of order four (DormandPrince::interpolate()).
RunTangent::Within RunTangent::within(int i, double t) const {
    const double h = length(i), a = (t - tape_[i].t) / h, b = 1.0 - a;
    Within out{a - a * b + 2.0 * a * a * b, {}};
    for (int s = 0; s <= kStages; ++s) out.rate[s] = h * a * a * b * b * DopriStages::kD[s];
    out.rate[0] += h * (a * b - a * a * b);
    out.rate[kStages] -= h * a * a * b;
    return out;
}

// Branches of angles are followed from station to station, as the run did: turns are counted on the way.
void RunTangent::walk_to(int i) {
    while (at_ != i) {
        at_ += at_ < i ? 1 : -1;
        hold(tape_[at_].interval);
        ports_.steps.commit(tape_[at_].t, tape_.x(at_), tape_.u(at_));
    }
}

void RunTangent::hold(int interval) {
    if (interval == held_) return;
    set_inputs_(tape_.intervals()[interval].t, tape_.intervals()[interval].inputs);
    held_ = interval;
    for (Lanes& lanes : lanes_) lanes.numbers->renew();
    change_numbers();
}

// Along the directions, as far as they change in this interval.
void RunTangent::change_numbers() {
    for (size_t g = 0; g < lanes_.size(); ++g) {
        changes_.clear();
        for (size_t p = 0; p < places_.size(); ++p) {
            if (places_[p].interval >= 0 && places_[p].interval != held_) continue;
            changes_.push_back({places_[p].place, {}});
            for (size_t k = 0, d = kDirections * g; k < kDirections && d < static_cast<size_t>(count_); ++k, ++d)
                changes_.back().along[k] = along_[d * places_.size() + p];
        }
        lanes_[g].numbers->change(changes_);
    }
}

// Branches of angles, and which stops are left alone, as they were there.
void RunTangent::stand(int i) {
    walk_to(i);
    ports_.steps.commit(tape_[i].t, tape_.x(i), tape_.u(i));
    tape_[i].meets ? ports_.stops.meet_stops() : ports_.stops.watch_stops(tape_[i].t, tape_.x(i), tape_.u(i));
}

RunTangent::State RunTangent::begin() {
    stand(0);
    return state(0);
}

void RunTangent::accelerate(int i) {
    stand(i);
    ports_.dynamics.accelerate(tape_[i].t, tape_.x(i), tape_.u(i), udot_.data());
}

void RunTangent::forward(int count, const double* dx, const double* du, std::span<const HeldPlace> places,
                         const double* along, double* out, double* left, double* impacts) {
    const size_t n = ports_.dynamics.tangent_size();
    stand(0);
    count_ = count;
    of_impacts_ = impacts;
    places_.assign(places.begin(), places.end());
    along_.assign(along, along + static_cast<size_t>(count) * places.size());
    remarks_.clear();
    steepest_ = {};
    lanes_.resize((count + kDirections - 1) / kDirections);
    for (size_t g = 0; g < lanes_.size(); ++g) {
        Lanes& lanes = lanes_[g];
        for (auto* v : {&lanes.x, &lanes.u, &lanes.end_x, &lanes.end_u, &lanes.stage_x, &lanes.stage_u, &lanes.u1})
            v->assign(kDirections * n, 0.0);
        for (int s = 0; s <= kStages; ++s)
            for (auto* v : {&lanes.rate_x[s], &lanes.rate_u[s]}) v->assign(kDirections * n, 0.0);
        for (int k = 0; k < kDirections && kDirections * static_cast<int>(g) + k < count; ++k) {
            const size_t d = kDirections * g + k;
            for (size_t i = 0; i < n; ++i) {
                lanes.x[kDirections * i + k] = dx[d * n + i];
                lanes.u[kDirections * i + k] = du[d * n + i];
            }
        }
        lanes.numbers = std::make_unique<ModelTangent>(model_);
    }
    change_numbers();
    for (int i = 0; i < tape_.count(); i = next(i)) {
        look_for_interrupts();
        if (flows(i)) {
            flow(i, out, left);
            continue;
        }
        accelerate(i);
        arrive(i, out, left);
        if (tape_[i].impact) pass_impact(i);
    }
    note_touching();
    note_jump();
    walk_to(tape_.count() - 1);
}

// What lies on a stop that hardly pushes may leave it: changes are those to the side on which it stays.
void RunTangent::note_idle(int i) {
    const int count = ports_.stops.stops();
    if (count == 0 || std::ranges::find(remarks_, Remark::What::idle, &Remark::what) != remarks_.end()) return;
    loads_.resize(std::max(loads_.size(), none_.size()));
    bool known = false;
    for (int s = 0; s < count; ++s) {
        if (!ports_.stops.is_touched(s)) continue;
        if (!known) ports_.record.multipliers(tape_[i].t, tape_.x(i), tape_.u(i), udot_.data(), loads_.data());
        known = true;
        double most = 0.0;
        for (size_t r = 0; r < none_.size(); ++r) most = std::max(most, std::abs(loads_[r]));
        const double load = std::abs(loads_[ports_.stops.row_of_stop(s)]);
        if (load <= kIdle * most) return remarks_.push_back({Remark::What::idle, tape_[i].t, s, load});
    }
}

// From a state on a stop that is being left, changes are those to one side.
void RunTangent::note_touching() {
    std::vector<double> gaps(ports_.stops.stops()), rates(gaps.size());
    stand(0);
    ports_.stops.gaps(tape_[0].t, tape_.x(0), tape_.u(0), gaps.data(), rates.data());
    for (int s = 0; s < static_cast<int>(gaps.size()); ++s)
        if (rates[s] != 0.0 && std::abs(gaps[s]) < kTogether)
            remarks_.push_back({Remark::What::touching, tape_[0].t, s, gaps[s]});
}

void RunTangent::watch_stage(const DopriStages::Stage& at, double h) {
    if (at.number == 0) begun_.assign(at.udot, at.udot + udot_.size());
    for (size_t k = 0; k < begun_.size(); ++k) {
        steepest_.largest = std::max(steepest_.largest, std::abs(at.udot[k]));
        const double change = std::abs(at.udot[k] - begun_[k]);
        if (change > steepest_.rate * h) steepest_ = {steepest_.largest, change / h, at.time, change};
    }
}

// Steps shrink to a moment at which a force jumps, and accelerations change within the smallest as they do not
// elsewhere over many.
void RunTangent::note_jump() {
    const double mean = (tape_[tape_.count() - 1].t - tape_[0].t) / std::max(steps(), 1);
    if (steepest_.rate * mean > kForceJump * steepest_.largest)
        remarks_.push_back({Remark::What::jump, steepest_.t, -1, steepest_.change});
}

// Closed at a station, where the rows that hold are known from its acceleration.
void RunTangent::arrive(int i, double* out, double* left) {
    note_idle(i);
    for (size_t g = 0; g < lanes_.size(); ++g) {
        Lanes& lanes = lanes_[g];
        double open[kDirections];
        ports_.derivatives.close_directions(tape_[i].t, tape_.x(i), tape_.u(i), of(lanes, lanes.x, lanes.u),
                                            lanes.x.data(), lanes.u.data(), open);
        const int first = kDirections * static_cast<int>(g);
        for (int k = 0; k < kDirections && first + k < count_; ++k) {
            if (i == 0) left[first + k] = open[k];
            note_open(i, open[k]);
        }
        Derivatives::Directions here = of(lanes, lanes.x, lanes.u);
        if (ends_here(i)) {
            if (g == 0) find_ending();
            reach_ending(lanes);
            here.t = lanes.t;
        }
        if (tape_[i].output >= 0) record(i, here, first, out);
    }
}

// Where rows cannot be kept: at the start for a direction that opens a loop, later at a singular pose. The worst is
// remarked on.
void RunTangent::note_open(int i, double open) {
    if (i == 0 || !(open > kOpen)) return;
    const auto noted = std::ranges::find(remarks_, Remark::What::open, &Remark::what);
    if (noted == remarks_.end())
        remarks_.push_back({Remark::What::open, tape_[i].t, -1, open});
    else if (open > noted->size)
        *noted = {Remark::What::open, tape_[i].t, -1, open};
}

std::vector<double>& RunTangent::list_of(Watched::What what, std::vector<double>& multipliers) {
    if (what == Watched::What::multiplier) return multipliers;
    return what == Watched::What::frame ? measured_.frames : measured_.coordinates[static_cast<int>(what)];
}

void RunTangent::record(int i, const Derivatives::Directions& directions, int first, double* out) {
    const double t = tape_[i].t, *x = tape_.x(i), *u = tape_.u(i);
    if (watches_rates_ || watches_loads_)
        ports_.derivatives.tangent(t, x, u, udot_.data(), directions, rates_.data(),
                                   watches_loads_ ? loads_.data() : nullptr);
    ports_.derivatives.measure_tangent(t, x, u, udot_.data(), directions, watches_rates_ ? rates_.data() : nullptr,
                                       measured_);
    for (int k = 0; k < kDirections && first + k < count_; ++k) {
        double* to = out + (static_cast<size_t>(tape_[i].output) * count_ + first + k) * watched_.size();
        for (const Watched& one : watched_)
            *to++ =
                one.what == Watched::What::time ? (directions.t != nullptr ? directions.t[k] : 0.0) : changed(one, k);
    }
}

RunTangent::State RunTangent::state(int i) const {
    return {{tape_.x(i), tape_.x(i) + ports_.dynamics.configuration_size()},
            {tape_.u(i), tape_.u(i) + ports_.dynamics.tangent_size()}};
}

void RunTangent::reach(int i, int station, State& out, std::vector<double>& zeta) {
    out.x.assign(tape_.x(station), tape_.x(station) + ports_.dynamics.configuration_size());
    out.u.assign(tape_.u(station), tape_.u(station) + ports_.dynamics.tangent_size());
    if (!changes_frames_) return;
    ports_.dynamics.displacement(tape_.x(i), tape_.x(station), zeta.data());
    ports_.dynamics.retract(tape_.x(i), zeta.data(), out.x.data());
    ports_.dynamics.change_frames(tape_.x(station), out.x.data(), 1, out.u.data());
}

// Of four directions x and v of a state, with v for the rate of x.
void RunTangent::turn(const double* zeta, const double* u, const std::vector<double>& x, const std::vector<double>& v,
                      std::vector<double>& of_x, std::vector<double>& of_u) {
    of_x = v;
    ports_.derivatives.add_turning(zeta, u, 1.0, x.data(), v.data(), kDirections, of_x.data(), of_u.data());
    ports_.derivatives.add_bending(u, x.data(), kDirections, of_u.data());
}

void RunTangent::flow(int i, double* out, double* left) {
    const double h = length(i);
    stand(i);
    stages_.find(tape_[i].t, h, tape_.x(i), tape_.u(i), false, [&](const DopriStages::Stage& at) {
        const int s = at.number;
        watch_stage(at, h);
        if (s == 0) {
            std::copy_n(at.udot, udot_.size(), udot_.begin());
            arrive(i, out, left);
        }
        const bool closes = s > 0 && ports_.dynamics.statistics().dropped_rows > 0;
        const double *a = DopriStages::before(s), square = 0.5 * h * h * DopriStages::kC[1] * DopriStages::kC[1];
        for (Lanes& lanes : lanes_) {
            lanes.stage_x = lanes.x, lanes.stage_u = lanes.u;
            for (int j = 0; j < s; ++j)
                for (size_t k = 0; k < lanes.x.size(); ++k) {
                    lanes.stage_x[k] += h * a[j] * lanes.rate_x[j][k];
                    lanes.stage_u[k] += h * a[j] * lanes.rate_u[j][k];
                }
            if (s == 1)
                for (size_t k = 0; k < lanes.x.size(); ++k) lanes.stage_x[k] += square * lanes.rate_u[0][k];
            const Derivatives::Directions here = of(lanes, lanes.stage_x, lanes.stage_u);
            double open[kDirections];
            if (closes)
                ports_.derivatives.close_directions(at.time, at.x, at.u, here, lanes.stage_x.data(),
                                                    lanes.stage_u.data(), open);
            ports_.derivatives.tangent(at.time, at.x, at.u, at.udot, here, lanes.rate_u[s].data(), nullptr);
            turn(stages_.xi.data(), at.u, lanes.stage_x, lanes.stage_u, lanes.rate_x[s], lanes.rate_u[s]);
        }
    });
    for (Lanes& lanes : lanes_) {
        lanes.end_x = lanes.x, lanes.end_u = lanes.u;
        for (int s = 0; s < kStages; ++s)
            for (size_t k = 0; k < lanes.x.size(); ++k) {
                lanes.end_x[k] += h * DopriStages::kB[s] * lanes.rate_x[s][k];
                lanes.end_u[k] += h * DopriStages::kB[s] * lanes.rate_u[s][k];
            }
    }
    const int end = next(i);
    if (end > i + 1 || changes_frames_) reach(i, end, end_, end_zeta_);
    if (end > i + 1) pass_outputs(i, out);
    for (Lanes& lanes : lanes_) {
        for (auto* v : {&lanes.end_x, &lanes.end_u})
            ports_.dynamics.change_frames(end_.x.data(), tape_.x(end), kDirections, v->data());
        lanes.x.swap(lanes.end_x), lanes.u.swap(lanes.end_u);
    }
}

// What is recorded within a step, from the rates at its stages and at its end.
void RunTangent::pass_outputs(int i, double* out) {
    const int end = next(i);
    const double t = tape_[end].arrived, *x = end_.x.data(), *u = end_.u.data();
    stand(end);
    ports_.dynamics.accelerate(t, x, u, udot_.data());
    for (Lanes& lanes : lanes_) {
        ports_.derivatives.tangent(t, x, u, udot_.data(), of(lanes, lanes.end_x, lanes.end_u),
                                   lanes.rate_u[kStages].data(), nullptr);
        turn(end_zeta_.data(), u, lanes.end_x, lanes.end_u, lanes.rate_x[kStages], lanes.rate_u[kStages]);
    }
    for (int m = i + 1; m < end; ++m) {
        const Within at = within(i, tape_[m].t);
        const bool solves = watches_rates_ || watches_loads_;
        solves ? accelerate(m) : stand(m);
        if (changes_frames_) reach(i, m, beside_, zeta_);
        for (size_t g = 0; g < lanes_.size(); ++g) {
            Lanes& lanes = lanes_[g];
            for (size_t k = 0; k < lanes.x.size(); ++k) {
                lanes.stage_x[k] = lanes.x[k] + at.end * (lanes.end_x[k] - lanes.x[k]);
                lanes.stage_u[k] = lanes.u[k] + at.end * (lanes.end_u[k] - lanes.u[k]);
                for (int s = 0; s <= kStages; ++s) {
                    lanes.stage_x[k] += at.rate[s] * lanes.rate_x[s][k];
                    lanes.stage_u[k] += at.rate[s] * lanes.rate_u[s][k];
                }
            }
            for (auto* v : {&lanes.stage_x, &lanes.stage_u})
                ports_.dynamics.change_frames(beside_.x.data(), tape_.x(m), kDirections, v->data());
            const Derivatives::Directions here = of(lanes, lanes.stage_x, lanes.stage_u);
            double open[kDirections];
            if (solves)
                ports_.derivatives.close_directions(tape_[m].t, tape_.x(m), tape_.u(m), here, lanes.stage_x.data(),
                                                    lanes.stage_u.data(), open);
            record(m, here, kDirections * static_cast<int>(g), out);
        }
    }
}

int RunTangent::number_of_impact(int i) const {
    return static_cast<int>(std::ranges::lower_bound(impacts_, i) - impacts_.begin());
}

double RunTangent::beside_impact(int number, double* before, double* behind) {
    const int i = impacts_[number];
    observe(i, before);
    observe(i + 1, behind);
    walk_to(tape_.count() - 1);
    return tape_[i].t;
}

// What is watched at a station.
void RunTangent::observe(int i, double* values) {
    Observation what;
    what.accelerations = watches_rates_;
    const auto place_in = [](std::vector<int>& list, int number) {
        list.push_back(number);
        return static_cast<int>(list.size()) - 1;
    };
    std::vector<int> places;
    for (const Watched& one : watched_)
        if (one.what == Watched::What::multiplier)
            places.push_back(place_in(what.rows, one.number));
        else if (one.what <= Watched::What::second)
            places.push_back(place_in(what.coordinates, one.number));
        else
            places.push_back(one.number);
    const FrameLayout layout(FrameCounts::of(what, model_.bodies()));
    std::vector<double> frame(layout.size());
    stand(i);
    ports_.record.observe(tape_[i].t, tape_.x(i), tape_.u(i), what, frame.data());
    // A body's numbers, as `frame` counts them.
    constexpr Section kOfBody[] = {Section::position, Section::velocity, Section::acceleration,
                                   Section::angular_velocity, Section::angular_acceleration};
    for (size_t k = 0; k < watched_.size(); ++k) {
        const auto in = [&](Section section, int place) { return frame[layout.begin(section) + place]; };
        const int place = places[k], number = place % kFrameNumbers;
        switch (watched_[k].what) {
            case Watched::What::value:
                values[k] = in(Section::coordinates, place);
                break;
            case Watched::What::rate:
                values[k] = in(Section::rates, place);
                break;
            case Watched::What::second:
                values[k] = in(Section::coordinate_accelerations, place);
                break;
            case Watched::What::multiplier:
                values[k] = in(Section::multipliers, place);
                break;
            case Watched::What::frame:
                values[k] = in(kOfBody[number / 3], 3 * (place / kFrameNumbers) + number % 3);
                break;
            case Watched::What::time:
                values[k] = tape_[i].t;
                break;
        }
    }
}

// The stop that is met at a station, after its acceleration, and the impact.
RunTangent::Hit RunTangent::hit(int i) {
    const double t = tape_[i].t;
    std::vector<double> gaps(ports_.stops.stops()), rates(gaps.size());
    ports_.stops.gaps(t, tape_.x(i), tape_.u(i), gaps.data(), rates.data());
    int met = -1;
    for (int s = 0; s < static_cast<int>(gaps.size()); ++s)
        if (rates[s] < 0.0 && (met < 0 || std::abs(gaps[s]) < std::abs(gaps[met]))) met = s;
    if (met < 0)
        throw Refusal("derivatives of this run are not implemented: at t = " + std::to_string(t) +
                      " s a stop is met that nothing approaches");
    for (int s = 0; s < static_cast<int>(gaps.size()); ++s)
        if (s != met && rates[s] < 0.0 && std::abs(gaps[s]) < kTogether)
            remarks_.push_back({Remark::What::together, t, s, gaps[s]});
    if (-rates[met] < kGrazing) remarks_.push_back({Remark::What::grazing, t, met, -rates[met]});
    return {met, ports_.stops.row_of_stop(met), rates[met], state(i)};
}

// Velocities behind an impact, with the rows and factors by which it was found.
void RunTangent::strike(int i, Hit& hit) {
    ports_.stops.meet_stops();
    const std::vector<double>& u1 = hit.behind.u;
    ports_.projection.project(tape_[i].t, hit.behind.x.data(), hit.behind.u.data());
    double most = 0.0, missed = 0.0;
    for (size_t k = 0; k < u1.size(); ++k) {
        most = std::max({most, std::abs(u1[k]), std::abs(tape_.u(i)[k])});
        missed = std::max(missed, std::abs(u1[k] - tape_.u(i + 1)[k]));
    }
    if (!(missed <= kFoundAgain * most))
        throw Refusal("derivatives of this run are not implemented: the impact at t = " + std::to_string(tape_[i].t) +
                      " s is another one when it is followed again");
}

// On the way to the impact and from it on at the same times as before: δx of where it is met is δx + u δt, with δu
// likewise; behind it u1 δt and u̇1 δt are taken off.
void RunTangent::pass_impact(int i) {
    const double t = tape_[i].t, *x = tape_.x(i), *u = tape_.u(i);
    const size_t n = udot_.size();
    Hit met = hit(i);
    for (Lanes& lanes : lanes_) {
        ports_.derivatives.measure_tangent(t, x, u, udot_.data(), of(lanes, lanes.x, lanes.u), nullptr, measured_);
        for (int k = 0; k < kDirections; ++k) lanes.t[k] = -measured_.rows[kDirections * met.row + k] / met.rate;
        const int first = kDirections * static_cast<int>(&lanes - lanes_.data()), here = number_of_impact(i);
        for (int k = 0; k < kDirections && first + k < count_; ++k)
            of_impacts_[static_cast<size_t>(here) * count_ + first + k] = lanes.t[k];
        for (size_t j = 0; j < n; ++j)
            for (int k = 0; k < kDirections; ++k) {
                lanes.x[kDirections * j + k] += u[j] * lanes.t[k];
                lanes.u[kDirections * j + k] += udot_[j] * lanes.t[k];
            }
    }
    strike(i, met);
    for (Lanes& lanes : lanes_)
        ports_.derivatives.impact_tangent(t, met.behind.x.data(), u, met.behind.u.data(),
                                          {lanes.t, lanes.x.data(), lanes.u.data(), lanes.numbers.get()},
                                          lanes.u1.data());
    stand(i + 1);
    ports_.dynamics.accelerate(tape_[i + 1].t, tape_.x(i + 1), tape_.u(i + 1), udot1_.data());
    for (Lanes& lanes : lanes_)
        for (size_t j = 0; j < n; ++j)
            for (int k = 0; k < kDirections; ++k) {
                lanes.x[kDirections * j + k] -= tape_.u(i + 1)[j] * lanes.t[k];
                lanes.u[kDirections * j + k] = lanes.u1[kDirections * j + k] - udot1_[j] * lanes.t[k];
            }
}

}  // namespace bellcrank
