// Stops: unilateral rows of which the augmented rule takes those that push (model/stops.hpp).
#include <algorithm>
#include <cmath>

#include "formulations/dca/iterate.hpp"

namespace bellcrank {

// Takes the active stops into the equations. True if that changed the matrices.
bool Dca::enable_stops(const std::vector<std::uint8_t>& active) {
    bool changed = false;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        changed |= enabled_[stop_rows_[i]] != active[i];
        enabled_[stop_rows_[i]] = active[i];
    }
    if (changed) factored_ = false;
    return changed;
}

void Dca::gather_gaps() {
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.gap[i] = rows_.C[stop_rows_[i]];
}

// Leaves Ĵ û in speed_.
void Dca::gather_stops(const double* u) {
    gather_gaps();
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.speed[i] = speed_[stop_rows_[i]] + rows_.Ct[stop_rows_[i]];
}

// Finds λ with y = S λ − b for b = wanted_, y = 0 on equations, and y complementary to λ on closed stops. The residual
// b − S λ is carried from one iteration to the next.
void Dca::solve_with_stops(Level level, std::vector<double>& lambda) {
    std::vector<double>& left = drift_;
    stops_.find_active([&] {
        enable_stops(stops_.active());
        if (!factored_) factor();
        std::fill(lambda.begin(), lambda.end(), 0.0);
        left = wanted_;
        const double tolerance = level == velocities ? options_.velocity_tolerance : options_.acceleration_tolerance;
        double largest = 0.0;
        iterate(
            level, [&] { rhs_ = left; },
            [&] {
                std::fill(step_.begin(), step_.end(), 0.0);
                rows_.add_transposed(rhs_.data(), step_.data());
                rows_.multiply(step_.data(), speed_.data());
                double change = 0.0;
                for (const double v : step_) change = std::max(change, std::abs(v));
                for (int r = 0; r < rows_.rows(); ++r) {
                    left[r] -= speed_[r] + compliance_[r] * rhs_[r];
                    lambda[r] += rhs_[r];
                }
                largest = std::max(largest, change);
                return largest > 0.0 ? change / (tolerance * largest) : 0.0;
            });
        double scale = 1e-300;
        for (const double l : lambda) scale = std::max(scale, std::abs(l));
        for (size_t i = 0; i < stop_rows_.size(); ++i) {
            stops_.force[i] = lambda[stop_rows_[i]];
            stops_.leaving[i] = -left[stop_rows_[i]];
        }
        return scale;
    });
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (!stops_.is_kept(static_cast<int>(i))) lambda[stop_rows_[i]] = std::max(lambda[stop_rows_[i]], 0.0);
}

// y is the acceleration off the stops that something lies on.
void Dca::accelerate_with_stops(const double* u) {
    gather_stops(u);
    stops_.seek_contacts();
    solve_with_stops(accelerations, lambda_);
    double scale = 1e-300;
    for (const double b : wanted_) scale = std::max(scale, std::abs(b));
    stops_.note_touched(scale);
    statistics_.closed_stops = stops_.pushing();
}

void Dca::watch_stops(double t, const double* x, const double* u) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watch();
}

void Dca::gaps(double t, const double* x, const double* u, double* out) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watched_gaps(out);
}

}  // namespace bellcrank
