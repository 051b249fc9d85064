// Whether rows that were dropped follow from the others. One that does not hold is given up, and the constraints are
// not met.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"

namespace bellcrank {

namespace {

// Errors that show it. Errors of rates count in parts of the fastest speed, or of 1 m/s, 1 rad/s.
constexpr double kGivenUp = 1e-6;
constexpr double kRateGivenUp = 1e-4;

}  // namespace

bool Lagrange::dropped_rows_within(const std::vector<double>& errors, double limit) const {
    if (!out_of_force_) return true;
    for (int r = 0; r < rows_.rows(); ++r)
        if (rigid_[r] && !unilateral_[r] && in_force_[r] == 0.0 && !(std::abs(errors[r]) <= limit)) return false;
    return true;
}

bool Lagrange::dropped_positions_hold() const { return dropped_rows_within(rows_.C, kGivenUp); }

// `before`: the rates before the last correction, which changes them by little: they are found again only where one did
// not hold.
bool Lagrange::dropped_rates_hold(const double* u, const std::vector<double>& before) {
    if (!out_of_force_) return true;
    double fastest = 1.0;
    for (int k = 0; k < tangent_size(); ++k) fastest = std::max(fastest, std::abs(u[k]));
    if (dropped_rows_within(before, kRateGivenUp * fastest)) return true;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) speed_[r] += rows_.Ct[r];
    return dropped_rows_within(speed_, kRateGivenUp * fastest);
}

}  // namespace bellcrank
