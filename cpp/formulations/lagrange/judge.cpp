// Whether rows that were dropped follow from the others, and whether the end of a step was only corrected. A row that
// does not hold is given up, and the constraints are not met.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"

namespace bellcrank {

namespace {

// Errors that show it. Errors of rates count in parts of the fastest speed, or of 1 m/s, 1 rad/s.
constexpr double kGivenUp = 1e-6;
constexpr double kRateGivenUp = 1e-4;

// What may be corrected beyond the way since the last step [rad], by coarse methods too.
constexpr double kLittleCorrected = 0.02;

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

// Where a coordinate jumps, as a rotation vector does at half a turn, its row can be met by going somewhere else, where
// no motion leads.
bool Lagrange::in_proportion(double t, const double* u) const {
    const double passed = std::abs(t - followed_at_);
    if (last_fastest_ < 0.0 || passed == 0.0 || corrected_ <= kLittleCorrected) return true;
    const double fastest = std::max(last_fastest_, largest_rotation(u));
    return corrected_ <= passed * fastest + kLittleCorrected;
}

}  // namespace bellcrank
