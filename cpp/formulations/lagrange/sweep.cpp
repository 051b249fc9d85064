#include "formulations/lagrange/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Stages of elimination from which on a system is too large for the caches close to the processor.
constexpr int kLargeStages = 16;

constexpr int kMostFailures = 8;

// Error of accelerations that needs no refinement, in parts of the largest.
constexpr double kBearableSlip = 1e-12;

// No mechanism is larger [m].
constexpr double kFarthest = 1e9;

double largest_linear(const double* records, int count) {
    double largest = 0.0;
    for (int b = 0; b < count; ++b)
        for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(records[kTwist * b + k]));
    return largest;
}

// Of a box around all centres of mass, the sum of its sides.
double extent(const double* x, int bodies) {
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        double least = x[k], most = x[k];
        for (int b = 1; b < bodies; ++b) {
            least = std::min(least, x[kPose * b + k]);
            most = std::max(most, x[kPose * b + k]);
        }
        sum += most - least;
    }
    return sum;
}

}  // namespace

Sweep::Sweep(const Model& model, const AngleBranches& branches)
    : delassus_(model, Retention::passing), rows_(model, branches, delassus_.row_order()) {
    delassus_.bind(rows_);
}

bool Sweep::accelerate(double t, const double* x, const double* u, const PivotRule& rule, const FreeMotion& free,
                       double* lambda, double* udot) {
    delassus_.begin(rule, {});
    for (int s = 0; s < rows_.stages(); ++s) {
        free.finish(rows_.new_bodies(s), u, udot);
        rows_.evaluate_stage(s, t, x, true, u, udot, lambda);
        delassus_.factor_stage(s);
        delassus_.forward_stage(s, lambda);
    }
    const double least = delassus_.closes_loops() ? kSafePivot : kExactPivot;
    if (delassus_.dropped_count() > 0 || !(delassus_.smallest_pivot() >= least)) return false;
    for (int s = rows_.stages() - 1; s >= 0; --s) {
        delassus_.backward_stage(s, lambda);
        rows_.add_accelerations_again(s, x, lambda, udot);
    }
    return true;
}

// Eliminated with its diagonal shifted by parts σ of itself, S̃ λ = r leaves the rows a slip of σ D λ. To move all that
// is beyond a joint rigidly along with its slip is one way to obey it, and what bodies do instead is the least in the
// mean over masses (Gauss's principle). So that mean of the accelerations' error is no more than the sum of all slips,
// those of angles times the extent of the mechanism; rows that are no joint's count as both.
bool Lagrange::bears_shift(const double* x, const double* udot) const {
    if (shift_ == 0.0) return true;
    double straight = 0.0, turning = 0.0;
    for (int r = 0; r < rows_.rows(); ++r)
        (displaces_[r] ? straight : turning) += shift_ * sweep_->diagonal(r) * std::abs(lambda_[r]);
    const double bearable = kBearableSlip * largest_linear(udot, model_->bodies());
    if (straight + kFarthest * turning <= bearable) return true;
    return straight + (1.0 + 2.0 * extent(x, model_->bodies())) * turning <= bearable;  // a locked e is half an angle
}

// A mechanism whose pivots ask for a second look again and again has to keep its factors.
bool Lagrange::sweeps() const {
    return rows_.stages() >= kLargeStages && failed_sweeps_ < kMostFailures && stops_.empty() && !wide_masses_ &&
           !always_precise_ && options_.refinements <= 0 && !delassus_.has_hubs() && !tight_ && given_up_.empty() &&
           (shift_ == 0.0 || open_);
}

void Lagrange::accelerate_in_passing(double t, const double* x, const double* u, double* udot) {
    if (!sweeps() || is_current(t, x)) return accelerate(t, x, u, udot);
    if (sweep_ == nullptr) sweep_ = std::make_unique<Sweep>(*model_, branches_);
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    ++statistics_.factorizations;
    const bool regular = sweep_->accelerate(t, x, u, pivot_rule(), free_motion_, lambda_.data(), udot);
    if (!regular || !bears_shift(x, udot)) {
        ++failed_sweeps_;
        return accelerate(t, x, u, udot);
    }
    ++statistics_.evaluations;
}

}  // namespace bellcrank
