// Adams: the next step, its order, and the history of that order.
#include <algorithm>
#include <cmath>

#include "integrate/adams.hpp"
#include "integrate/adams_history.hpp"

namespace bellcrank {

namespace {

// Steps and orders are chosen for this part of the tolerance, so that few are refused; a change of order must promise
// a little more. Of one coordinate the estimate passes through zero again and again, and where a velocity does, its
// weight is large: aiming at half the tolerance, every fourth step of a pendulum in joint coordinates is refused.
constexpr double kAim = 0.25;
constexpr double kAimLower = 0.2;
constexpr double kAimHigher = 0.15;
constexpr double kMostGrowth = 2.0;
constexpr double kLeastGrowth = 1.1;  // below it the step stays as it is, and with it all coefficients
constexpr double kNegligible = 1e-6;  // an error as small may be rounding, and tells nothing of the order
constexpr double kEasy = 0.8;         // what the corrector leaves of the first error where no stability limits steps
// At the limit of stability orders fall to those that leave room there, and a correction changes the residual by more
// than the residual itself. A rough motion has low orders too, and a fast one such corrections; neither has both for
// long.
constexpr int kStableOrder = 6;
constexpr double kUnstable = 1.5;
constexpr int kStable = 2;          // steps at the limit that one elsewhere outweighs
constexpr int kMostRefusals = 3;    // in a row; then the history is not trusted any more
constexpr int kMostOfRounding = 6;  // if rounding is to blame: low orders would creep where it is large

// The error of a method of order q goes with the power q + 1 of the step.
double step_factor(double error, double aim, int order) {
    return std::pow(aim / std::max(error, 1e-30), 1.0 / (order + 1));
}

// Whether that is more than a factor known already.
bool allows_more(double error, double aim, int order, double factor) {
    for (int i = 0; i <= order; ++i) error *= factor;
    return error < aim;
}

}  // namespace

double Adams::refused(double h, const StepOutcome& outcome) {
    starting_ = false;
    if (++refusals_ >= (outcome.rounding ? kMostOfRounding : kMostRefusals)) {
        restart();
        return 0.1 * h;
    }
    return h * std::clamp(step_factor(outcome.error, kAim, order_), 0.2, 0.9);
}

double Adams::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    const bool unstable = order_ <= kStableOrder && returned_ > kUnstable;
    unstable_ = unstable ? unstable_ + 1 : std::max(0, unstable_ - kStable);
    double factor = 1.0;
    const int next = choose_order(outcome.error, factor);
    if (after_refusal) factor = std::min(factor, 1.0);
    correct(next);
    refusals_ = 0;
    closed_stops_ = end_stops_;
    for (int i = kMaxAdamsOrder + 1; i > 0; --i) past_[i] = past_[i - 1];
    past_[0] = h;
    return h * factor;
}

// The order, one less or one more, that allows the longest step; the factor by which the step may change. Where the
// corrector takes away much of the residual, the step is about as long as forces that change fast let it be
// (stability), and from order 2 on one order more would be stable for shorter steps only.
int Adams::choose_order(double error, double& factor) {
    const int q = order_;
    factor = step_factor(error, kAim, q);
    int next = q;
    double scale = coefficients_.product(q);
    for (int i = 0; i <= q; ++i) scale *= h_;
    if (q > 1 && (starting_ || factor < kMostGrowth)) {
        const double top = coefficients_.coefficient(q - 1, q - 1);  // what a residual adds to q Z_q
        const double *z = history(q), *r = residual_.data();
        double* work = scaled_.data();
        for (int i = 0; i < stride_; ++i) work[i] = q * z[i] + top * r[i];
        const double error_lower = coefficients_.product(q - 1) * error_of(work, q - 1);
        const bool lower = starting_ ? error_lower <= error && error > kNegligible
                                     : allows_more(error_lower, kAimLower, q - 1, factor);
        if (lower) factor = step_factor(error_lower, kAimLower, q - 1), next = q - 1;
    }
    if (starting_) {
        starting_ = next == q && factor > 1.0 && q < max_order_;
        if (starting_) next = q + 1;
    } else if (next == q && q < max_order_ && last_scale_ != 0.0 && factor < kMostGrowth && !(left_ < kEasy && q > 1)) {
        const double ratio = scale / last_scale_;
        const double *r = residual_.data(), *before = last_residual_.data();
        double* work = scaled_.data();
        for (int i = 0; i < stride_; ++i) work[i] = r[i] - ratio * before[i];
        const double higher = error_of(work, q + 1);
        if (allows_more(higher, kAimHigher, q + 1, factor))
            factor = step_factor(higher, kAimHigher, q + 1), next = q + 1;
    }
    last_scale_ = next == q ? scale : 0.0;
    if (factor >= 1.0) {
        factor = factor < kLeastGrowth ? 1.0 : std::min(factor, kMostGrowth);
    } else {
        factor = std::clamp(factor, 0.5, 0.9);
    }
    return next;
}

// The history at the end of the step, of the order to go on with.
void Adams::correct(int next) {
    const int q = order_, top = std::max(q, next);
    if (top > q) std::fill_n(history(top), stride_, 0.0);
    double weight[kMaxAdamsOrder + 2];
    for (int j = 1; j <= top; ++j) weight[j] = coefficients_.coefficient(top - 1, j - 1) / j;
    advance_history(top, history_.data(), residual_.data(), weight, stride_);
    std::copy_n(velocity_.begin(), stride_, history(0));
    if (next < q) lower_order();
    order_ = next;
    residual_.swap(last_residual_);
    weigh();
}

// The oldest acceleration is given up: what it told is taken from all derivatives.
void Adams::lower_order() {
    const int q = order_;
    const double* top = history(q);
    for (int k = q - 2; k >= 0; --k) {
        const double part = q * coefficients_.product(q - 2) * coefficients_.coefficient(q - 2, k) / (k + 2);
        double* z = history(k + 2);
        if (k + 2 < q)
            for (int i = 0; i < stride_; ++i) z[i] -= part * top[i];
    }
}

}  // namespace bellcrank
