// The transpose of run_tangent.cpp: from the end of the tape to its start, the gradient by each station's state. What
// the method's states are off the motion from one to the next, weighed by that gradient, is the error of what was
// recorded.
#include <algorithm>
#include <cmath>

#include "integrate/run_tangent.hpp"
#include "interruption/interruption.hpp"
#include "tangents/frame_motion.hpp"

namespace bellcrank {

namespace {

constexpr int kMostExact = 200;  // of a step, to find its error

}  // namespace

void RunTangent::backward(const double* seeds, const double* impacts, std::span<const HeldPlace> places,
                          Derivatives::Gradient& start, double* by_numbers, double* error) {
    impact_seeds_ = impacts;
    places_.assign(places.begin(), places.end());
    further_.clear();
    for (const HeldPlace& one : places_)
        if (std::ranges::find(further_, one.place) == further_.end()) further_.push_back(one.place);
    by_numbers_.clear();
    std::fill_n(by_numbers, places_.size(), 0.0);
    // What was found in an interval is by the numbers that act there.
    const auto take = [&](int interval) {
        for (size_t p = 0; p < places_.size(); ++p)
            if (places_[p].interval < 0 || places_[p].interval == interval)
                by_numbers[p] += by_numbers_.at(places_[p].place);
        by_numbers_.clear();
    };
    error_ = error;
    if (error != nullptr) *error = 0.0;
    remarks_.clear();
    steepest_ = {};
    for (auto* v : {&by_x_, &by_u_}) std::fill(v->begin(), v->end(), 0.0);
    for (int i = tape_.count() - 1; i >= 0; --i) {
        if (tape_[i].within) continue;
        look_for_interrupts();
        if (i + 1 < tape_.count() && tape_[i].interval != tape_[next(i)].interval) take(tape_[next(i)].interval);
        if (flows(i)) {
            if (error_ != nullptr) *error_ += error_at(i, next(i), by_x_, by_u_);
            flow_back(i, seeds);
        } else {
            if (tape_[i].impact && error_ != nullptr) *error_ += error_of_impact(i);
            if (tape_[i].impact) pass_impact_back(i);
            accelerate(i);
        }
        depart(i, seeds);
    }
    take(tape_[0].interval);
    note_touching();
    note_jump();
    walk_to(tape_.count() - 1);
    start = {0.0, by_x_, by_u_, {}};
}

double RunTangent::dot(const std::vector<double>& a, const double* b) {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

void RunTangent::add(std::vector<double>& to, const std::vector<double>& from) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// The transpose of arrive().
void RunTangent::depart(int i, const double* seeds) {
    note_idle(i);
    const double t = tape_[i].t, *x = tape_.x(i), *u = tape_.u(i);
    by_t_ = 0.0;
    if (tape_[i].output >= 0) add_seeds(i, seeds, by_x_, by_u_);
    if (ends_here(i)) {
        find_ending();
        leave_ending();
    }
    ports_.derivatives.close_adjoint(t, x, u, by_x_.data(), by_u_.data(), further_, found_, by_numbers_);
    by_x_ = found_.x, by_u_ = found_.u;
}

// The transpose of record().
void RunTangent::add_seeds(int i, const double* seeds, std::vector<double>& of_x, std::vector<double>& of_u) {
    const double t = tape_[i].t, *x = tape_.x(i), *u = tape_.u(i);
    for (std::vector<double>& list : measured_.coordinates) list.assign(model_.coordinates.size(), 0.0);
    measured_.rows.clear();
    measured_.frames.assign(measured_.of_frames ? kFrameNumbers * model_.bodies() : 0, 0.0);
    seeds_of_rows_.assign(model_.rows_total(), 0.0);
    const double* seed = seeds + static_cast<size_t>(tape_[i].output) * watched_.size();
    for (const Watched& one : watched_)
        (one.what == Watched::What::time ? by_t_ : list_of(one.what, seeds_of_rows_)[one.number]) += *seed++;
    ports_.derivatives.measure_adjoint(t, x, u, udot_.data(), measured_, further_, found_, by_numbers_);
    add(of_x, found_.x), add(of_u, found_.u);
    by_t_ += found_.t;
    if (!watches_rates_ && !watches_loads_) return;
    of_udot_ = found_.udot;
    ports_.derivatives.adjoint(t, x, u, udot_.data(), of_udot_.data(), seeds_of_rows_.data(), further_, found_,
                               by_numbers_);
    add(of_x, found_.x), add(of_u, found_.u);
    by_t_ += found_.t;
}

// The run takes an impact from a state that is off its rows by the error of a step's curve. Closed, that state meets
// the stop a little earlier or later: by what the next station is off the motion then. Where it was still to be met
// then, another impact follows at once.
double RunTangent::error_of_impact(int i) {
    const double t = tape_[i].t;
    const std::vector<double> of_x = by_x_, of_u = by_u_;
    std::vector<double> gaps(ports_.stops.stops()), rates(gaps.size()), before(udot_.size());
    accelerate(i);
    Hit met = hit(i);
    stand(i + 1);
    ports_.stops.gaps(tape_[i + 1].t, tape_.x(i + 1), tape_.u(i + 1), gaps.data(), rates.data());
    if (rates[met.stop] < 0.0) return 0.0;
    accelerate(i);
    std::vector<double>&x = met.behind.x, &u = met.behind.u;
    ports_.projection.project(t, x.data(), u.data());
    ports_.dynamics.accelerate(t, x.data(), u.data(), udot_.data());
    ports_.stops.gaps(t, x.data(), u.data(), gaps.data(), rates.data());
    const double late = -gaps[met.stop] / rates[met.stop];
    const auto go_on = [&](double by) {
        for (size_t k = 0; k < u.size(); ++k) {
            before[k] = by * u[k];
            u[k] += by * udot_[k];
        }
        ports_.dynamics.retract(x.data(), before.data(), x.data());
    };
    go_on(late);
    ports_.stops.meet_stops();
    ports_.projection.project(t + late, x.data(), u.data());
    ports_.stops.watch_stops(t + late, x.data(), u.data());
    ports_.dynamics.accelerate(t + late, x.data(), u.data(), udot_.data());
    go_on(-late);
    return weigh(i + 1, met.behind, of_x, of_u);
}

// By what a station is off the exact state, in the frames that its own go over into there, times the gradient.
double RunTangent::weigh(int station, State& exact, const std::vector<double>& of_x, const std::vector<double>& of_u) {
    const double* x = tape_.x(station);
    ports_.dynamics.displacement(x, exact.x.data(), off_.data());
    if (changes_frames_) {
        beside_.x.resize(exact.x.size());
        ports_.dynamics.retract(x, off_.data(), beside_.x.data());
        ports_.dynamics.change_frames(exact.x.data(), beside_.x.data(), 1, exact.u.data());
    }
    double error = dot(of_x, off_.data());
    for (size_t k = 0; k < of_u.size(); ++k) error += of_u[k] * (exact.u[k] - tape_.u(station)[k]);
    return error;
}

// The transpose of pass_outputs(): to the rates of the stages, and the states at both ends.
void RunTangent::pass_outputs_back(int i, const double* seeds) {
    const int end = next(i);
    for (int m = end - 1; m > i; --m) {
        const Within at = within(i, tape_[m].t);
        const bool solves = watches_rates_ || watches_loads_;
        solves ? accelerate(m) : stand(m);
        for (auto* v : {&stage_x_, &stage_u_}) std::fill(v->begin(), v->end(), 0.0);
        add_seeds(m, seeds, stage_x_, stage_u_);
        if (solves) {
            ports_.derivatives.close_adjoint(tape_[m].t, tape_.x(m), tape_.u(m), stage_x_.data(), stage_u_.data(),
                                             further_, found_, by_numbers_);
            stage_x_ = found_.x, stage_u_ = found_.u;
        }
        if (error_ != nullptr) *error_ += error_at(i, m, stage_x_, stage_u_);
        if (changes_frames_) reach(i, m, beside_, zeta_);
        for (auto* v : {&stage_x_, &stage_u_})
            ports_.dynamics.change_frames(tape_.x(m), beside_.x.data(), 1, v->data());
        for (size_t k = 0; k < by_x_.size(); ++k) {
            by_x_[k] += at.end * stage_x_[k], by_u_[k] += at.end * stage_u_[k];
            start_x_[k] += (1.0 - at.end) * stage_x_[k], start_u_[k] += (1.0 - at.end) * stage_u_[k];
            for (int s = 0; s <= kStages; ++s) {
                of_x_[s][k] += at.rate[s] * stage_x_[k];
                of_u_[s][k] += at.rate[s] * stage_u_[k];
            }
        }
    }
    const double *x = end_.x.data(), *u = end_.u.data();
    stand(end);
    ports_.dynamics.accelerate(tape_[end].arrived, x, u, udot_.data());
    ports_.derivatives.adjoint(tape_[end].arrived, x, u, udot_.data(), of_u_[kStages].data(), none_.data(), further_,
                               found_, by_numbers_);
    turn_back(end_zeta_.data(), u, of_x_[kStages], of_u_[kStages], found_.x, found_.u);
    add(by_x_, found_.x), add(by_u_, found_.u);
}

// The transpose of turn().
void RunTangent::turn_back(const double* zeta, const double* u, const std::vector<double>& of_x,
                           const std::vector<double>& of_u, std::vector<double>& x, std::vector<double>& v) {
    ports_.derivatives.add_turning(zeta, u, -1.0, of_x.data(), of_u.data(), 1, x.data(), v.data());
    ports_.derivatives.add_bending(u, of_u.data(), 1, x.data());
    add(v, of_x);
}

// By what a station is off the motion from station i on, times the gradient there. That motion is found in steps of its
// own, of so much smaller errors that kinks within a step are seen as well.
double RunTangent::error_at(int i, int station, const std::vector<double>& of_x, const std::vector<double>& of_u) {
    const auto is_zero = [](double value) { return value == 0.0; };
    if (std::ranges::all_of(of_x, is_zero) && std::ranges::all_of(of_u, is_zero)) return 0.0;
    stand(i);
    exact_.restart();
    State from = state(i), to = from;
    const double end = tape_[station].arrived;
    double t = tape_[i].t, h = end - t;
    for (int tries = 0; t < end; ++tries) {
        const bool gives_up = tries >= kMostExact;
        const bool last = gives_up || h * (1.0 + 1e-9) >= end - t;
        const double step = last ? end - t : h;
        const StepOutcome outcome = exact_.step(t, step, from.x.data(), from.u.data(), to.x.data(), to.u.data());
        if (!gives_up && (!outcome.constraints_met || !(outcome.error <= 1.0))) {
            h = std::isfinite(outcome.error) ? exact_.refused(step, outcome) : 0.25 * step;
            continue;
        }
        h = exact_.accepted(step, outcome, false);
        std::swap(from, to);
        t += step;
        if (last) break;
        ports_.steps.commit(t, from.x.data(), from.u.data());
        ports_.stops.watch_stops(t, from.x.data(), from.u.data());
    }
    return weigh(station, from, of_x, of_u);
}

// The transpose of flow(): through the stages in reverse.
void RunTangent::flow_back(int i, const double* seeds) {
    const double h = length(i), square = 0.5 * h * h * DopriStages::kC[1] * DopriStages::kC[1];
    start_x_.assign(udot_.size(), 0.0), start_u_ = start_x_;
    for (auto* list : {&of_x_, &of_u_})
        for (std::vector<double>& v : *list) std::fill(v.begin(), v.end(), 0.0);
    const int end = next(i);
    if (end > i + 1 || changes_frames_) reach(i, end, end_, end_zeta_);
    for (auto* v : {&by_x_, &by_u_}) ports_.dynamics.change_frames(tape_.x(end), end_.x.data(), 1, v->data());
    if (end > i + 1) pass_outputs_back(i, seeds);
    stand(i);
    stages_.find(tape_[i].t, h, tape_.x(i), tape_.u(i), false, [&](const DopriStages::Stage& at) {
        watch_stage(at, h);
        at_t_[at.number] = at.time;
        std::copy_n(at.x, at_x_[at.number].size(), at_x_[at.number].begin());
        std::copy_n(at.u, at_u_[at.number].size(), at_u_[at.number].begin());
        at_zeta_[at.number] = stages_.xi;
    });
    const size_t n = udot_.size();
    for (int s = 0; s < kStages; ++s)
        for (size_t k = 0; k < n; ++k) {
            of_x_[s][k] += h * DopriStages::kB[s] * by_x_[k];
            of_u_[s][k] += h * DopriStages::kB[s] * by_u_[k];
        }
    for (int s = kStages - 1; s >= 0; --s) {
        const double t = at_t_[s], *x = at_x_[s].data(), *u = at_u_[s].data();
        ports_.dynamics.accelerate(t, x, u, udot_.data());
        const bool closes = s > 0 && ports_.dynamics.statistics().dropped_rows > 0;
        ports_.derivatives.adjoint(t, x, u, udot_.data(), of_u_[s].data(), none_.data(), further_, found_, by_numbers_);
        stage_x_ = found_.x, stage_u_ = found_.u;
        turn_back(at_zeta_[s].data(), u, of_x_[s], of_u_[s], stage_x_, stage_u_);
        if (closes) {
            ports_.derivatives.close_adjoint(t, x, u, stage_x_.data(), stage_u_.data(), further_, found_, by_numbers_);
            stage_x_ = found_.x, stage_u_ = found_.u;
        }
        add(by_x_, stage_x_), add(by_u_, stage_u_);
        const double* a = DopriStages::before(s);
        for (int j = 0; j < s; ++j)
            for (size_t k = 0; k < n; ++k) {
                of_x_[j][k] += h * a[j] * stage_x_[k];
                of_u_[j][k] += h * a[j] * stage_u_[k];
            }
        if (s == 1)
            for (size_t k = 0; k < n; ++k) of_u_[0][k] += square * stage_x_[k];
    }
    add(by_x_, start_x_), add(by_u_, start_u_);
}

// The transpose of pass_impact().
void RunTangent::pass_impact_back(int i) {
    const double t = tape_[i].t, *x = tape_.x(i), *u = tape_.u(i);
    stand(i + 1);
    ports_.dynamics.accelerate(tape_[i + 1].t, tape_.x(i + 1), tape_.u(i + 1), udot1_.data());
    double by_t = impact_seeds_[number_of_impact(i)] - dot(by_x_, tape_.u(i + 1)) - dot(by_u_, udot1_.data());
    accelerate(i);
    Hit met = hit(i);
    strike(i, met);
    ports_.derivatives.impact_adjoint(t, met.behind.x.data(), u, met.behind.u.data(), by_u_.data(), further_, found_,
                                      by_numbers_);
    add(by_x_, found_.x);
    by_u_ = found_.u;
    by_t += found_.t + dot(by_x_, u) + dot(by_u_, udot_.data());
    for (std::vector<double>& list : measured_.coordinates) list.clear();
    measured_.frames.clear();
    measured_.rows.assign(model_.rows_total(), 0.0);
    measured_.rows[met.row] = -by_t / met.rate;
    ports_.derivatives.measure_adjoint(t, x, u, udot_.data(), measured_, further_, found_, by_numbers_);
    add(by_x_, found_.x);
}

}  // namespace bellcrank
