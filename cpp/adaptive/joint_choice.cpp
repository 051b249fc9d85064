#include "adaptive/joint_choice.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

void JointChoice::forget() {
    computed_.clear();
    largest_ = squares_ = total_ = largest_rounding_ = rounding_squares_ = error_ = 0.0;
}

void JointChoice::count(double square, double rounding) {
    squares_ += square;
    largest_ = std::max(largest_, std::sqrt(square));
    largest_rounding_ = std::max(largest_rounding_, rounding);
    rounding_squares_ += rounding * rounding;
}

namespace {

double part(double error, double whole) {
    return error == 0.0 ? 0.0 : whole > 0.0 ? std::min(1.0, error / whole) : 1.0;
}

}  // namespace

double JointChoice::rounding_at(double largest_left, double squares_left) const {
    switch (measure_) {
        case ErrorMeasure::relative_linkage:
            return part(std::sqrt(rounding_squares_), std::sqrt(std::max(total_, squares_ + squares_left)));
        case ErrorMeasure::relative_joint:
            return part(largest_rounding_, std::max(largest_, largest_left));
        default:
            return rounding();
    }
}

// Accelerations of all joints are at least those computed. Near balance a total, a small difference of large numbers,
// tells nothing more: then all joints are computed.
double JointChoice::measured(double largest_left, double squares_left) const {
    const auto of_joint = [&] { return std::max(largest_left, largest_rounding_); };
    const auto of_linkage = [&] { return std::sqrt(squares_left + rounding_squares_); };
    switch (measure_) {
        case ErrorMeasure::absolute_linkage:
            return of_linkage();
        case ErrorMeasure::relative_linkage:
            return part(of_linkage(), std::sqrt(std::max(total_, squares_)));
        case ErrorMeasure::absolute_joint:
            return of_joint();
        case ErrorMeasure::relative_joint:
            return part(of_joint(), largest_);
    }
    return 0.0;
}

}  // namespace bellcrank
