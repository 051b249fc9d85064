// Unilateral rows: joint limits and stops. An active set is found at each evaluation; its multipliers push only.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"

namespace bellcrank {

// Takes the active stops into the equations. True if that changed what is factored.
bool Lagrange::enable_stops(const std::vector<std::uint8_t>& active) {
    bool changed = false;
    for (size_t i = 0; i < stops_.size(); ++i) {
        changed |= enabled_[stops_[i]] != active[i];
        enabled_[stops_[i]] = active[i];
    }
    if (changed) dependent_rows_ = rows_.rows();
    return changed;
}

// Position level: a penetrated stop is pushed out, every other one is left alone.
bool Lagrange::close_penetrated_stops() {
    for (size_t i = 0; i < stops_.size(); ++i) active_[i] = rows_.C[stops_[i]] < -options_.position_tolerance;
    return enable_stops(active_);
}

bool Lagrange::open_stops() {
    std::fill(active_.begin(), active_.end(), 0);
    return enable_stops(active_);
}

// Finds λ with y = S λ − b for b = rhs_, y = 0 on equations, and on closed stops y ≥ 0, λ ≥ 0, yᵀλ = 0. One stop enters
// or leaves per pass: the strongest pull leaves first, then the deepest violation enters; after many passes the first
// one found does (Bland), which cannot cycle.
void Lagrange::solve_with_stops(std::vector<double>& lambda) {
    const std::vector<double>& b = rhs_;
    const int passes = 4 * static_cast<int>(stops_.size()) + 10;
    for (size_t i = 0; i < stops_.size(); ++i) active_[i] = candidate_[i] && active_[i];
    for (int pass = 0; pass < passes; ++pass) {
        if (enable_stops(active_)) refactor();
        std::copy(b.begin(), b.end(), lambda.begin());
        solve(lambda);
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(lambda.data(), step_.data());
        rows_.multiply(step_.data(), residual_.data());

        double scale = 1e-300;
        for (size_t r = 0; r < lambda.size(); ++r) scale = std::max(scale, std::abs(lambda[r]));
        int change = -1;
        double worst = -1e-10 * scale;
        const bool first_found = pass > passes / 2;
        for (size_t i = 0; i < stops_.size() && !(first_found && change >= 0); ++i)
            if (active_[i] && lambda[stops_[i]] < worst) change = static_cast<int>(i), worst = lambda[stops_[i]];
        if (change < 0) {
            worst = -1e-12;
            for (size_t i = 0; i < stops_.size() && !(first_found && change >= 0); ++i) {
                const double y = residual_[stops_[i]] - b[stops_[i]];
                if (candidate_[i] && !active_[i] && y < worst) change = static_cast<int>(i), worst = y;
            }
        }
        if (change < 0) return;
        active_[change] = !active_[change];
    }
}

// Eq. 35 with y the accelerations off the stops.
void Lagrange::accelerate_with_stops(const double* u) {
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stops_.size(); ++i) {
        const int r = stops_[i];
        candidate_[i] = rows_.C[r] <= options_.contact_tolerance && speed_[r] + rows_.Ct[r] <= options_.rest_speed;
    }
    solve_with_stops(lambda_);
}

// Eq. 37 with y the speeds off the stops beyond what restitution asks for: Newton's law of impact, v⁺ = −e v⁻, or
// v⁺ = 0 for an approach too slow to bounce.
void Lagrange::set_impact_speeds() {
    bool impact = false;
    for (size_t i = 0; i < stops_.size(); ++i) {
        const int r = stops_[i];
        candidate_[i] = rows_.C[r] <= options_.contact_tolerance;
        const bool bounces = candidate_[i] && speed_[r] < -options_.rest_speed;
        if (bounces) rhs_[r] -= restitution_[i] * speed_[r];
        active_[i] = candidate_[i] && speed_[r] < 0.0;
        impact |= bounces;
    }
    statistics_.impacts += impact;
}

}  // namespace bellcrank
