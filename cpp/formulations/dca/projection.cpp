// Mass-orthogonal projections: positions, then velocities, with the matrices of the augmented rule.
#include <algorithm>
#include <cmath>
#include <limits>

#include "formulations/dca/iterate.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// Errors with which rows hold; of rates, in parts of the fastest speed or of 1 m/s, 1 rad/s.
constexpr double kMetPosition = 1e-8, kMetRate = 1e-4;

// Errors of positions that matrices formed anew would not make less.
constexpr double kHeld = 1e-13;

// Positions that matrices formed once do not correct are corrected with new ones, so many times.
constexpr int kMostRenewals = 25;

// Smallest relative pivot below which the stages of a step are projected too.
constexpr double kNearSingular = 1e-2;

}  // namespace

// Largest error of the rows that hold.
double Dca::largest_error() const {
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!rigid_[r] || (unilateral_[r] && !enabled_[r])) continue;
        largest = std::max(largest, std::abs(rows_.C[r]));
    }
    return largest;
}

bool Dca::project(double t, double* x, double* u) {
    return !options_.projections || ConstrainedBodies::project(t, x, u);
}

bool Dca::finish_correction(double t, double* x) {
    correct_without_velocity_rows(t, x);
    return largest_error() <= kMetPosition;
}

bool Dca::correct_velocities(double* u) {
    correct_velocities(u, true);
    return largest_rate(u) <= kMetRate;
}

// Off the constraints rows that depend on others may do so no longer, as in Bennett's linkage, and ask for
// accelerations that have nothing to do with the motion: there, as near singular poses, the stages of a step are
// projected.
void Dca::project_stage(double t, double* x, double* u) {
    if (rows_.rows() == 0 || !options_.projections) return;
    if (!is_current(t, x)) {
        open_stops();
        refresh(t, x);
    }
    if (statistics_.smallest_pivot >= kNearSingular && statistics_.dropped_rows == 0) return;
    correct_positions(t, x);
    correct_velocities(u, false);
}

// Positions: (S + 1/α) δτ = −C, x ← x ⊕ M⁻¹ Jᵀ δτ. The matrices are those of the pose that the projection began at; J
// and C at the end of it are known.
void Dca::correct_positions(double t, double* x) {
    evaluate_rows(t, x);
    for (int renewals = 0; renewals <= kMostRenewals; ++renewals) {
        ready();
        bool evaluated = true;
        const bool settled = iterate(
            positions,
            [&] {
                if (!evaluated) rows_.evaluate_values(t, x);
                evaluated = false;
                for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = rigid_[r] ? -rows_.C[r] : 0.0;
            },
            [&] {
                const double change = apply(rhs_, nullptr).step;
                retract(x, step_.data(), x);
                ++statistics_.corrections;
                moved_ += change;
                corrected_ += change;
                return change / options_.position_tolerance;
            });
        evaluate_jacobians(t, x);
        remember(t, x);
        if (settled || largest_error() <= kHeld) return;
        if (moved_ <= most_moved_) factored_ = false;
    }
}

// Where a condition of velocities says what the rate of a row of positions does, it would hold back the correction of
// that row: then positions are corrected once more without such conditions.
void Dca::correct_without_velocity_rows(double t, double* x) {
    if (velocity_rows_.empty() || !(largest_error() > 1e2 * options_.position_tolerance)) return;
    for (const int r : velocity_rows_) enabled_[r] = 0;
    factor();
    correct_positions(t, x);
    for (const int r : velocity_rows_) enabled_[r] = 1;
    factor();
}

// (S + 1/α) δμ = −Ċ, u ← u + M⁻¹ Jᵀ δμ; with impacts, stops take part.
void Dca::correct_velocities(double* u, bool impacts) {
    const auto rates = [&] {
        find_rates(u);
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -speed_[r];
    };
    ready();
    const double fastest = std::max(size(u), std::numeric_limits<double>::min());
    if (impacts && !stops_.empty()) {
        meet_stops_at(u);
    } else {
        iterate(velocities, rates, [&] { return apply(rhs_, u).step / (options_.velocity_tolerance * fastest); });
    }
    flatten(u);
}

// Largest |Ċ|, in parts of the fastest speed or of 1 m/s, 1 rad/s. Stops are left.
double Dca::largest_rate(const double* u) {
    find_rates(u);
    double largest = 0.0, fastest = 1.0;
    for (int k = 0; k < tangent_size(); ++k) fastest = std::max(fastest, std::abs(u[k]));
    for (int r = 0; r < rows_.rows(); ++r) {
        if (unilateral_[r]) speed_[r] = 0.0;
        largest = std::max(largest, std::abs(speed_[r]));
    }
    return largest / fastest;
}

double Dca::position_noise(const double* x) const {
    return rows_.rows() == 0 ? 0.0 : std::max(options_.position_tolerance * length_, rounding_of_rows(x));
}

}  // namespace bellcrank
