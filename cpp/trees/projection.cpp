// Formulations in joint coordinates: onto the rows that the tree leaves, and whether they hold.
#include <algorithm>
#include <cmath>

#include "trees/joint_system.hpp"

namespace bellcrank {

namespace {

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;
// Part of the tolerance that closing rows at poses along chains of joints may be wrong by rounding.
constexpr double kRounding = 0.1;
// Error up to which a row that was dropped for doubt holds.
constexpr double kHeld = 1e-7;
// Error beyond which a row that was dropped does not follow from the others: it is given up, and the constraints are
// not met. Errors of rates count in parts of the fastest speed, or of 1 m/s, 1 rad/s.
constexpr double kGivenUp = 1e-6;
constexpr double kRateGivenUp = 1e-4;
// What may be corrected beyond the way since the last step [m, rad], by coarse methods too.
constexpr double kLittleCorrected = 0.02;

}  // namespace

// Rows that were dropped are judged as well: they follow from the others, or are given up.
bool JointSystem::project(double t, double* x, double* u) {
    stops_.open();
    before_.assign(u, u + tangent_size());
    const double jump = set_driven(t, x, u);
    if (closing_rows_.empty()) return true;
    const bool met = close_positions(t, x);
    // Out of a stop that it ran into a body may be pushed as far as it went.
    const bool pushed = stops_.pushing() > 0;
    stops_.empty() ? correct_velocities(t, x, u) : meet_stops_at(t, x, u, jump);
    return met && (pushed || in_proportion(t, u)) && rates_hold(t, x, u);
}

bool JointSystem::close_positions(double t, double* x) {
    stops_.open();
    trusted_pivot_ = options_.rank_tolerance;
    corrected_ = 0.0;
    prepared_.clear();
    wrong_ = 0.0;
    if (!stops_.empty()) begin_stops(t, x);
    do correct_positions(t, x);
    while (pushes_into_more_stops(t, x));
    if (stops_.pushing() > 1 && (Stops::is_far(corrected_, wrong_) || !(largest_error(true) <= kGivenUp)))
        close_stops_singly(t, x);
    correct_doubted_rows(t, x);
    correct_without_velocity_rows(t, x);
    const bool given_up = !(largest_error(true) <= kGivenUp) || !stops_.hold();
    return !given_up && largest_error(false) <= std::max(1e3 * options_.position_tolerance, 1e-8);
}

// Where a coordinate jumps, as a rotation vector does at half a turn, its row can be met by going somewhere else, where
// no motion leads.
bool JointSystem::in_proportion(double t, const double* u) const {
    const double passed = std::abs(t - followed_at_);
    if (last_fastest_ < 0.0 || passed == 0.0 || corrected_ <= kLittleCorrected) return true;
    return corrected_ <= passed * std::max(last_fastest_, fastest(u)) + kLittleCorrected;
}

// A row dropped for doubt holds as those do that it nearly depends on, or the configuration is on another branch than
// it seemed. Where one does not hold, those that are independent without doubt are corrected as well; what they are
// left with counts as an error again.
void JointSystem::correct_doubted_rows(double t, double* x) {
    if (trusted_pivot_ <= options_.rank_tolerance || largest_error(true) <= kHeld) return;
    trusted_pivot_ = options_.rank_tolerance;
    correct_positions(t, x);
    if (trusted_pivot_ <= options_.rank_tolerance) return;
    trusted_pivot_ = options_.rank_tolerance;
    factor();
}

// Where a condition of velocities says what the rate of a row of positions does, either may be the one that is dropped.
// Only the other can hold positions: where rows were dropped these are corrected once more, without such conditions.
void JointSystem::correct_without_velocity_rows(double t, double* x) {
    if (of_velocity_.empty() || statistics_.dropped_rows == 0) return;
    positions_alone_ = true;
    correct_positions(t, x);
    positions_alone_ = false;
    prepare(t, x);
}

// Largest of errors_ over the rows that are dropped, or over the others; where there are such, worst_row_ is its row.
double JointSystem::largest_error(bool dropped) {
    double largest = 0.0;
    for (size_t i = 0; i < errors_.size(); ++i) {
        const double error = std::abs(errors_[i]);
        if (is_dropped(i) != dropped || error < largest) continue;
        largest = error;
        if (!dropped || !(error <= kGivenUp)) worst_row_ = closing_rows_[i];
        if (std::isnan(error)) break;
    }
    return largest;
}

double JointSystem::largest_violation() {
    double largest = 0.0;
    for (size_t i = 0; i < errors_.size(); ++i) {
        const double error = i < loops() ? std::abs(errors_[i]) : -errors_[i];
        if (error > largest) largest = error, worst_row_ = closing_rows_[i];
    }
    return largest;
}

double JointSystem::largest_rate() const {
    double largest = 0.0;
    for (size_t i = 0; i < loops(); ++i) largest = std::max(largest, std::abs(errors_[i]));
    return largest;
}

// A correction changes rates by little: they are found again only where one did not hold before it.
bool JointSystem::rates_hold(double t, const double* x, const double* u) {
    const double limit = kRateGivenUp * std::max(1.0, fastest(u));
    const int worst = worst_row_;
    const bool hold = largest_error(true) <= limit;
    if (!hold) find_rates_held(t, x, u);
    const bool met = hold || largest_error(true) <= limit;
    if (met) worst_row_ = worst;
    return met;
}

// Stops act at the ends of steps.
void JointSystem::project_stage(double t, double* x, double* u) {
    stops_.open();
    if (is_open()) return;
    trusted_pivot_ = options_.rank_tolerance;
    factor_at(t, x, u);
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    set_driven(t, x, u);
    correct_positions(t, x);
    correct_velocities(t, x, u);
}

// Makes rows, factors and errors_ ready at x.
void JointSystem::prepare(double t, const double* x) {
    factor_at(t, x, at_rest_.data());
    find_errors(t, x);
    ignore_left_out();
    prepared_ = stops_.active();
}

void JointSystem::ignore_left_out() {
    for (size_t i = 0; i < errors_.size(); ++i)
        if (is_left_out(i)) errors_[i] = 0.0;
}

// Rates beyond those that impacts ask for.
void JointSystem::find_rates_held(double t, const double* x, const double* u) {
    find_rates(t, x, u);
    for (int i = 0; i < stops_.count(); ++i) errors_[loops() + i] -= stops_.bounce()[i];
    ignore_left_out();
}

// The error at which corrections may end. Where rows are dependent up to an angle θ, an error C costs the acceleration
// C/θ². One that is rounding is left alone: its correction would be rounding by θ.
double JointSystem::tolerance() const {
    return options_.position_tolerance * std::clamp(statistics_.smallest_pivot, kRounding, 1.0);
}

// Closing rows are left with errors up to the tolerance: coordinates on them are known no better than that.
double JointSystem::position_noise(const double*) const {
    return closing_rows_.empty() ? 0.0 : options_.position_tolerance;
}

// Newton's method along M⁻¹Jᵀ, the least motion in the norm of the kinetic energy; ends with J and factors at x. A
// configuration that is wrong by ε tells nothing about rows that are dependent up to an angle of that size: near a
// singular configuration such rows are dropped as if it were singular.
void JointSystem::correct_positions(double t, double* x) {
    std::fill(errors_.begin(), errors_.end(), 0.0);
    if (is_open()) return;
    double error = 0.0;
    for (int i = 0; i <= options_.max_corrections; ++i) {
        prepare(t, x);
        const double next = largest_error(false);
        const bool slow = i > 0 && !(next < 0.25 * error);
        error = next;
        if (i == 0) wrong_ = std::max(wrong_, error);
        if (error <= tolerance() || (slow && error < 1e-9) || i == options_.max_corrections) break;
        const double* xi = step();
        const double doubtful = options_.doubt * fastest(xi);
        if (doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                factor();
                xi = step();
            }
        }
        retract(x, xi, x);
        corrected_ += fastest(xi);
        ++statistics_.corrections;
    }
}

// Leaves in errors_ what the rates were.
void JointSystem::correct_velocities(double t, const double* x, double* u) {
    find_rates_held(t, x, u);
    const double* change = step();
    for (int k = 0; k < tangent_size(); ++k) u[k] += change[k];
}

// The largest component of a displacement or velocity.
double JointSystem::fastest(const double* u) const {
    double largest = 0.0;
    for (int k = 0; k < tangent_size(); ++k) largest = std::max(largest, std::abs(u[k]));
    return largest;
}

}  // namespace bellcrank
