// Unilateral rows: joint limits and stops. An active set is found at each evaluation; its multipliers push only.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"

namespace bellcrank {

namespace {

// What leaves a stop faster than by rounding, as a fraction of the speed that counts as rest.
constexpr double kLeaving = 1e-5;

// An acceleration off a stop that is rounding, against what the rows ask for.
constexpr double kTouching = 1e-10;

}  // namespace

// Takes the active stops into the equations. True if that changed what is factored.
bool Lagrange::enable_stops(const std::vector<std::uint8_t>& active) {
    bool changed = false;
    for (size_t i = 0; i < stops_.size(); ++i) {
        changed |= enabled_[stops_[i]] != active[i];
        enabled_[stops_[i]] = active[i];
    }
    if (changed) forget_dependent_rows();
    return changed;
}

// Position level: a penetrated stop is pushed out, every other one is left alone.
void Lagrange::reset_stops() {
    for (size_t i = 0; i < stops_.size(); ++i) {
        reached_[i] = rows_.C[stops_[i]];
        active_[i] = 0;
    }
}

bool Lagrange::close_penetrated_stops() {
    for (size_t i = 0; i < stops_.size(); ++i)
        active_[i] |= !watched_[i] && rows_.C[stops_[i]] < -options_.position_tolerance;
    return enable_stops(active_);
}

bool Lagrange::open_stops() {
    std::fill(active_.begin(), active_.end(), 0);
    return enable_stops(active_);
}

// Finds λ with y = S λ − b for b = rhs_, y = 0 on equations, and on closed stops y ≥ 0, λ ≥ 0, yᵀλ = 0. One stop enters
// or leaves per pass: the strongest pull leaves first, then the deepest violation enters; after many passes the first
// one found does (Bland), which cannot cycle. What is left of a pull is rounding.
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
        if (change < 0) break;
        active_[change] = !active_[change];
    }
    for (int r : stops_) lambda[r] = std::max(lambda[r], 0.0);
}

// Eq. 35 with y the accelerations off the stops that something lies on. A stop that is hit at speed does not act here:
// its impact is taken at the end of the step, from the speed that it is hit at.
void Lagrange::accelerate_with_stops(const double* u) {
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stops_.size(); ++i) {
        const int r = stops_[i];
        const double speed = speed_[r] + rows_.Ct[r];
        candidate_[i] = rows_.C[r] <= options_.contact_tolerance && speed >= -options_.rest_speed &&
                        speed <= kLeaving * options_.rest_speed;
    }
    solve_with_stops(lambda_);
    double scale = 1e-300;
    for (const double b : rhs_) scale = std::max(scale, std::abs(b));
    for (size_t i = 0; i < stops_.size(); ++i) {
        const double leaving = residual_[stops_[i]] - rhs_[stops_[i]];
        touched_[i] = active_[i] || (candidate_[i] && leaving <= kTouching * scale);
    }
    statistics_.closed_stops = static_cast<int>(std::count(active_.begin(), active_.end(), 1));
}

// C and Ċ of a stop.
double Lagrange::gap_of_stop(size_t stop, double t, const double* x, const double* u, double& rate) const {
    const Row& row = model_->rows[model_row_of_stop_[stop]];
    FunctionValue f{0.0, 0.0, 0.0};
    if (row.function >= 0) f = model_->functions[row.function](t);
    double gap = -f.f - row.constant;
    rate = -f.d1;
    for (int k = row.term_begin; k < row.term_end; ++k) {
        const CoordinateMotion c = coordinate_motion(*model_, branches_, model_->terms[k].coordinate, x, u);
        gap += model_->terms[k].coefficient * c.value;
        rate += model_->terms[k].coefficient * c.rate;
    }
    return gap;
}

// What lies on a stop, or leaves it so slowly that it would not bounce when it comes back, is left to the
// accelerations.
void Lagrange::watch_stops(double t, const double* x, const double* u) {
    for (size_t i = 0; i < stops_.size(); ++i) {
        double rate = 0.0;
        const double gap = gap_of_stop(i, t, x, u, rate);
        watched_[i] = gap > options_.contact_tolerance || rate > options_.rest_speed;
    }
}

void Lagrange::gaps(double t, const double* x, const double* u, double* out) {
    double rate = 0.0;
    for (size_t i = 0; i < stops_.size(); ++i) out[i] = watched_[i] ? gap_of_stop(i, t, x, u, rate) : 1.0;
}

// Gaps and speeds of the stops where a step starts.
void Lagrange::remember_stops(double t, const double* x, const double* u) {
    remembered_ = is_current(t, x);
    if (!remembered_) return;
    remembered_at_ = t;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stops_.size(); ++i) {
        gap_[i] = rows_.C[stops_[i]];
        closing_[i] = speed_[stops_[i]] + rows_.Ct[stops_[i]];
    }
}

// Whether a stop was met within the step and is being left at its end: the cubic of gaps and speeds at both ends is
// negative there or between them.
bool Lagrange::passed_a_stop(double t, const double* u) {
    const double h = t - remembered_at_, slow = h * kLeaving * options_.rest_speed;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stops_.size(); ++i) {
        const int r = stops_[i];
        const double start = gap_[i], end = reached_[i];
        const double approach = h * closing_[i], leave = h * (speed_[r] + rows_.Ct[r]);
        if (watched_[i] || start <= options_.contact_tolerance || approach >= 0.0 || leave <= slow) continue;
        if (end < -options_.contact_tolerance) return true;
        const double a = 3.0 * (end - start) - 2.0 * approach - leave, b = 2.0 * (start - end) + approach + leave;
        const double s = -approach / (a + std::sqrt(a * a - 3.0 * b * approach));  // where the cubic is least
        if (start + s * (approach + s * (a + s * b)) < -options_.contact_tolerance) return true;
    }
    return false;
}

// The speed at which a stop was hit within the step. With constant acceleration its square is linear in the gap between
// the start and the end of the step, which went beyond the stop. Taken from the end, each impact would add energy, and
// what lies on a stop would be thrown up again by the weight it gathered in the step.
double Lagrange::speed_of_impact(size_t stop) const {
    const double end = speed_[stops_[stop]];
    if (!remembered_) return end;
    const double start = closing_[stop], open = gap_[stop] > options_.contact_tolerance ? gap_[stop] : 0.0;
    const double part = open > reached_[stop] ? std::min(open / (open - reached_[stop]), 1.0) : 1.0;
    return -std::sqrt(start * start + part * (end * end - start * start));
}

// Eq. 37 with y the speeds off the stops beyond what restitution asks for: Newton's law of impact, v⁺ = −e v⁻, or
// v⁺ = 0 for an approach too slow to bounce.
void Lagrange::set_impact_speeds() {
    bool impact = false;
    for (size_t i = 0; i < stops_.size(); ++i) {
        const int r = stops_[i];
        candidate_[i] = !watched_[i] && rows_.C[r] <= options_.contact_tolerance;
        const double speed = candidate_[i] && speed_[r] < 0.0 ? speed_of_impact(i) : 0.0;
        const bool bounces = speed < -options_.rest_speed;
        if (bounces) rhs_[r] -= restitution_[i] * speed;
        active_[i] = candidate_[i] && speed_[r] < 0.0;
        impact |= bounces;
    }
    statistics_.impacts += impact;
}

}  // namespace bellcrank
