// The end of a step with the factors of its prediction: onto the constraints, and the acceleration there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formulations/lagrange.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// A correction with the factors of a configuration that is off by an angle ε leaves about ε/√(smallest pivot) of what
// it corrects. Beyond this part the factors are renewed.
constexpr double kMostStale = 0.1;

// Of a row whose coordinates are of size one or less. Where rows are dependent up to an angle θ the correction of an
// error ε moves the pose by ε/θ, with it the velocity by ε/θ² and the acceleration by ε/θ³; if the error is rounding,
// so is all of that.
constexpr double kLastPlace = std::numeric_limits<double>::epsilon();

// Errors of the velocity [m/s, rad/s] that need no second correction, in those of positions that are allowed.
constexpr double kVelocityTolerance = 100.0;  // 1/s

// Change of the multipliers, against the largest, that needs no second one.
constexpr double kForceTolerance = 1e-9;

}  // namespace

// Newton's method from `near`, whose C, J and factors are at hand: to first order C(near ⊕ ξ) = C + J ξ, and the
// correction adds to ξ itself. All that follows are corrections of small errors: of the velocity, and of the
// multipliers of `near`, whose residual is formed with the rows of the new configuration.
bool Lagrange::finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) {
    const bool known = known_ != Known::nothing && t == time_ && is_configuration(near), first = known_ == Known::all;
    const bool regular = velocity_rows_.empty() || statistics_.dropped_rows == 0;
    if (rows_.rows() == 0 || !stops_.empty() || !regular || wide_masses_ || delassus_.is_precise() || !known)
        return System::finish_step(t, near, xi, x, u, udot);
    if (first) {
        scale(xi, scaled_.data());
        rows_.multiply(scaled_.data(), rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = rigid_[r] ? -(rows_.C[r] + rhs_[r]) : 0.0;
        const double *in_force = in_force_.data(), *left = rhs_.data();
        const double error =
            largest_size(rows_.rows(), [&](int r, auto load) { return load(in_force + r) * load(left + r); });
        if (error > std::max(kLastPlace, 0.25 * rounding_of_rows(near))) {
            delassus_.solve(rhs_.data());
            rows_.add_accelerations(rhs_.data(), xi);
        }
    }
    const double theta = std::sqrt(std::max(statistics_.smallest_pivot, options_.rank_tolerance));
    const double stale = largest_rotation(xi) / theta;
    if (!(stale < kMostStale)) return System::finish_step(t, near, xi, x, u, udot);
    retract(near, xi, x);
    known_ = Known::factors;
    rows_.evaluate_jacobians(t, x);
    if (!finish_positions(t, x)) {
        std::fill_n(xi, tangent_size(), 0.0);
        return System::finish_step(t, x, xi, x, u, udot);
    }
    const bool met = finish_velocities(u, stale) && dropped_positions_hold();
    finish_acceleration(t, x, u, stale, udot);
    return met;
}

// False if the error does not fall fast.
bool Lagrange::finish_positions(double t, double* x) {
    const double tolerance = std::max(options_.position_tolerance, rounding_of_rows(x));
    double error = largest_error();
    for (int i = 0; error > tolerance; ++i) {
        position_step();
        retract(x, step_.data(), x);
        ++statistics_.corrections;
        rows_.evaluate_jacobians(t, x);
        const double next = largest_error();
        if (!(next < 0.25 * error) || i == options_.max_corrections) return false;
        error = next;
    }
    return true;
}

// False if a row that was dropped does not hold.
bool Lagrange::finish_velocities(double* u, double stale) {
    for (int i = 0; i < 3; ++i) {
        scale(u, scaled_.data());
        rows_.multiply(scaled_.data(), impulse_.data());
        double largest = 0.0;
        for (int r = 0; r < rows_.rows(); ++r) {
            impulse_[r] = rigid_[r] ? -(impulse_[r] + rows_.Ct[r]) : 0.0;
            if (!delassus_.dropped(r)) largest = std::max(largest, std::abs(impulse_[r]));
        }
        if (i == 0 && out_of_force_) speed_ = impulse_;
        delassus_.solve(impulse_.data());
        rows_.add_accelerations(impulse_.data(), u);
        if (!(stale * largest > kVelocityTolerance * options_.position_tolerance)) break;
    }
    flatten(u);
    return dropped_rates_hold(u, speed_);
}

void Lagrange::finish_acceleration(double t, const double* x, const double* u, double stale, double* udot) {
    ++statistics_.evaluations;
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    free_motion_.finish(u, udot);
    rows_.add_accelerations(lambda_.data(), udot);
    for (int i = 0; i < 3; ++i) {
        refine_acceleration(t, x, u, udot);
        double largest = 0.0, change = 0.0;
        for (size_t r = 0; r < lambda_.size(); ++r) {
            largest = std::max(largest, std::abs(lambda_[r]));
            change = std::max(change, std::abs(residual_[r]));
        }
        if (!(stale * change > kForceTolerance * largest)) return;
    }
}

}  // namespace bellcrank
