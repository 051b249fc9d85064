// Stops in joint coordinates: closing rows that are in the equations only where they push (model/stops.hpp).
#include <algorithm>
#include <cmath>

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

void JointSystem::gaps(double t, const double* x, const double* u, double* out) {
    measure_stops(t, x, u);
    stops_.watched_gaps(out);
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

// With y the speeds off the stops beyond what restitution asks for. A stop that was met within the step and is being
// left counts as an impact as well.
void JointSystem::meet_impacts(double t, const double* x, double* u) {
    measure_stops(t, x, u);
    const bool impact = stops_.seek_impacts();
    before_.assign(u, u + tangent_size());
    stops_.find_active([&] {
        std::copy(before_.begin(), before_.end(), u);
        if (!is_open()) {
            if (prepared_ != stops_.active()) prepare(t, x);
            correct_velocities(t, x, u);
        }
        measure_stops(t, x, u);
        for (int i = 0; i < stops_.count(); ++i) stops_.leaving[i] = stops_.speed[i] - stops_.bounce()[i];
        return gather_forces();
    });
    statistics_.impacts += impact || stops_.passed(t);
}

}  // namespace bellcrank
