// Stops in joint coordinates: closing rows that are in the equations only where they push (model/stops.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "trees/joint_system.hpp"

namespace bellcrank {

// At poses_ and twists_.
void JointSystem::measure_stops(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    stops_.measure(*model_, branches_, t, poses_.data(), twists_.data());
}

// What is penetrated is pushed out.
void JointSystem::begin_stops(double t, const double* x) {
    measure_stops(t, x, at_rest_.data());
    stops_.reset();
    stops_.close_penetrated();
    began_.assign(x, x + configuration_size());
}

void JointSystem::close_stops_singly(double t, double* x) {
    std::ranges::copy(began_, x);
    trusted_pivot_ = options_.rank_tolerance;
    corrected_ = 0.0;
    prepared_.clear();
    measure_stops(t, x, at_rest_.data());
    stops_.close_singly([&] {
        correct_positions(t, x);
        measure_stops(t, x, at_rest_.data());
    });
    stops_.close_penetrated();
    do correct_positions(t, x);
    while (pushes_into_more_stops(t, x));
}

// Pushing out of one stop may push into another.
bool JointSystem::pushes_into_more_stops(double t, const double* x) {
    const int before = stops_.pushing();
    if (stops_.empty()) return false;
    measure_stops(t, x, at_rest_.data());
    stops_.close_penetrated();
    return stops_.pushing() > before;
}

void JointSystem::watch_stops(double t, const double* x, const double* u) {
    if (stops_.empty()) return;
    measure_stops(t, x, u);
    stops_.watch();
}

void JointSystem::gaps(double t, const double* x, const double* u, double* out, double* rates) {
    measure_stops(t, x, u);
    stops_.watched_gaps(out, rates);
}

double JointSystem::first_met(double t, const double* x, const double* u) {
    measure_stops(t, x, u);
    return stops_.first_met(t);
}

// Forces of the last solution, and the size of all multipliers.
double JointSystem::gather_forces() {
    double scale = 1e-300;
    for (size_t i = 0; i < closing_rows_.size(); ++i) scale = std::max(scale, std::abs(multiplier(i)));
    for (int i = 0; i < stops_.count(); ++i) stops_.force[i] = stops_.active()[i] ? multiplier(loops() + i) : 0.0;
    return scale;
}

// With y the accelerations off the stops that something lies on: C̈ at the bodies' accelerations.
void JointSystem::accelerate_with_stops(double t, const double* x, const double* u, double* udot) {
    measure_stops(t, x, u);
    stops_.seek_contacts();
    double largest = norm(model_->gravity);
    stops_.find_active([&] {
        accelerate_held(t, x, u, udot);
        if (!stops_.seeks()) return 0.0;
        body_accelerations(t, x, u, udot, rates_.data());
        measure_stops(t, x, u);  // poses_, twists_
        stop_rows_.evaluate_jacobians(t, poses_.data());
        stop_rows_.evaluate_residuals(t, poses_.data(), twists_.data(), rates_.data(), residuals_.data());
        for (int i = 0; i < stops_.count(); ++i)
            stops_.leaving[i] = -residuals_[stop_rows_.storage_row(stops_.rows()[i])];
        largest = std::max(largest, fastest(udot));
        return gather_forces();
    });
    stops_.note_touched(largest);
    statistics_.closed_stops = stops_.pushing();
}

// Stops that something lies on without pushing may be redundant with others: then the loads of all rows are open.
void JointSystem::share_loads(double t, const double* x, const double* u, const double* udot) {
    solve_multipliers(t, x, u, udot);
    if (stops_.touched() == stops_.active()) return;
    const std::vector<double> told = reactions_.lambda;
    load_reactions(t, x, u, udot);
    for (const Block& block : model_->blocks)
        for (int row = block.row_begin; row < block.row_end; ++row)
            if (block.compliance > 0.0) reactions_.lambda[row] = told[row];
    std::vector<int> pushing;
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.touched()[i]) pushing.push_back(stops_.rows()[i]);
    reactions_.spread_least_norm(rigid_rows(), pushing);
}

std::vector<int> JointSystem::rigid_rows() const {
    std::vector<int> rigid;
    for (const Block& block : model_->blocks)
        for (int row = block.row_begin; row < block.row_end; ++row)
            if (block.compliance == 0.0 && !block.unilateral) rigid.push_back(row);
    return rigid;
}

// Of the rates of rows that follow functions of time.
double JointSystem::largest_jump(double t, const double* x, const double* u) {
    find_rates(t, x, u);
    double largest = 0.0;
    for (size_t i = 0; i < loops(); ++i)
        if (is_driven_[i]) largest = std::max(largest, std::abs(errors_[i]));
    return largest;
}

// Stops that are kept hold as equations while velocities are corrected, and push as all others that are closed where
// something is hit, or the speed of a drive jumps: then what approaches is judged by the speeds before that. A stop
// that was met within the step and is being left counts as an impact as well.
void JointSystem::meet_stops_at(double t, const double* x, double* u, double jump) {
    measure_stops(t, x, before_.data());
    stops_.keep();
    stops_.seek_impacts();
    if (!is_open() && prepared_ != stops_.active()) prepare(t, x);
    if (stops_.is_fast(std::max(jump, is_open() ? 0.0 : largest_jump(t, x, u)))) {
        stops_.open();
        if (!is_open()) prepare(t, x);
    }
    if (!is_open()) correct_velocities(t, x, u);
    measure_stops(t, x, u);
    responses_.clear();
    const std::pair<double, const double*> at{t, x};  // captures that fit into a function without room of its own
    impact_.find(stops_, [this, &at](int stop, double* speeds) { return respond(at.first, at.second, stop, speeds); });
    if (!impact_.struck().empty()) {
        const size_t n = before_.size();
        for (size_t i = 0; i < impact_.struck().size(); ++i)
            for (size_t k = 0; k < n; ++k) u[k] += impact_.impulses()[i] * responses_[i * n + k];
        prepare(t, x);
        find_rates_held(t, x, u);
        measure_stops(t, x, u);
    }
    statistics_.impacts += stops_.bounces() || stops_.passed(t);
}

// From the speed 1 off one stop, by what pushes.
bool JointSystem::respond(double t, const double* x, int stop, double* speeds) {
    stops_.push_alone(stop);
    prepare(t, x);
    const size_t row = loops() + stop;
    if (is_dropped(row)) return false;
    std::fill(errors_.begin(), errors_.end(), 0.0);
    errors_[row] = -1.0;
    const double* change = step();
    const double impulse = multiplier(row);
    if (!(impulse > 0.0)) return false;
    const size_t begin = responses_.size();
    for (int k = 0; k < tangent_size(); ++k) responses_.push_back(change[k] / impulse);
    measure_stops(t, x, responses_.data() + begin);
    for (int i = 0; i < stops_.count(); ++i) speeds[i] = stops_.speed[i];
    measure_stops(t, x, at_rest_.data());
    for (int i = 0; i < stops_.count(); ++i) speeds[i] -= stops_.speed[i];
    return true;
}

}  // namespace bellcrank
