// Unilateral rows in the equations of maximal coordinates (model/stops.hpp).
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"

namespace bellcrank {

// Takes the active stops into the equations. True if that changed what is factored.
bool Lagrange::enable_stops(const std::vector<std::uint8_t>& active) {
    bool changed = false;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        changed |= enabled_[stop_rows_[i]] != active[i];
        enabled_[stop_rows_[i]] = active[i];
    }
    if (changed) forget_dependent_rows();
    return changed;
}

bool Lagrange::close_penetrated_stops() {
    gather_gaps();
    stops_.close_penetrated();
    return enable_stops(stops_.active());
}

bool Lagrange::open_stops() {
    stops_.open();
    return enable_stops(stops_.active());
}

void Lagrange::gather_gaps() {
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.gap[i] = rows_.C[stop_rows_[i]];
}

// Leaves Ĵ û in speed_.
void Lagrange::gather_stops(const double* u) {
    gather_gaps();
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.speed[i] = speed_[stop_rows_[i]] + rows_.Ct[stop_rows_[i]];
}

// Finds λ with y = S λ − b for b = rhs_, y = 0 on equations, and y complementary to λ on closed stops.
void Lagrange::solve_with_stops(std::vector<double>& lambda) {
    stops_.find_active([&] {
        if (enable_stops(stops_.active())) refactor();
        std::copy(rhs_.begin(), rhs_.end(), lambda.begin());
        solve(lambda);
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(lambda.data(), step_.data());
        rows_.multiply(step_.data(), residual_.data());
        double scale = 1e-300;
        for (const double l : lambda) scale = std::max(scale, std::abs(l));
        for (size_t i = 0; i < stop_rows_.size(); ++i) {
            stops_.force[i] = lambda[stop_rows_[i]];
            stops_.leaving[i] = residual_[stop_rows_[i]] - rhs_[stop_rows_[i]];
        }
        return scale;
    });
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (!stops_.is_kept(static_cast<int>(i))) lambda[stop_rows_[i]] = std::max(lambda[stop_rows_[i]], 0.0);
}

// Eq. 35 with y the accelerations off the stops that something lies on.
void Lagrange::accelerate_with_stops(const double* u) {
    gather_stops(u);
    stops_.seek_contacts();
    solve_with_stops(lambda_);
    double scale = 1e-300;
    for (const double b : rhs_) scale = std::max(scale, std::abs(b));
    stops_.note_touched(scale);
    statistics_.closed_stops = stops_.pushing();
}

void Lagrange::watch_stops(double t, const double* x, const double* u) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watch();
}

void Lagrange::gaps(double t, const double* x, const double* u, double* out) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watched_gaps(out);
}

// Eq. 37 with y the speeds off the stops beyond what restitution asks for.
void Lagrange::set_impact_speeds() {
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.speed[i] = speed_[stop_rows_[i]];
    gather_gaps();
    statistics_.impacts += stops_.seek_impacts();
    for (size_t i = 0; i < stop_rows_.size(); ++i) rhs_[stop_rows_[i]] += stops_.bounce()[i];
}

}  // namespace bellcrank
