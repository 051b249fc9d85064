#include "integrate/adams.hpp"

#include <algorithm>
#include <cmath>

#include "integrate/adams_history.hpp"
#include "spatial/lanes.hpp"

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
constexpr double kJump = 1e-7;        // a step as short [s] may hold the opening or closing of a stop
constexpr double kEasy = 0.8;         // what the corrector leaves of the first error where no stability limits steps
constexpr double kDependent = 1e-2;   // below such a pivot the first error is none to go by
constexpr int kMostRefusals = 3;      // in a row; then the history is not trusted any more

constexpr double kDoubtful = 10.0;  // a first residual as large as that is taken for what it says
constexpr double kSettled = 100.0;  // change of the end between corrections, in tolerances
constexpr int kMostCorrections = 2;

// The error of a method of order q goes with the power q + 1 of the step.
double step_factor(double error, double aim, int order) {
    return std::pow(aim / std::max(error, 1e-30), 1.0 / (order + 1));
}

int padded(int size) { return (size + 7) / 8 * 8; }

}  // namespace

Adams::Adams(const System& system, const Tolerances& tolerances, int max_order)
    : size_(system.tangent_size()),
      stride_(padded(size_)),
      max_order_(std::clamp(max_order, 1, kMaxAdamsOrder)),
      tolerances_(tolerances),
      components_(std::max(1, 2 * system.velocity_components())) {
    history_.assign(static_cast<size_t>(kMaxAdamsOrder + 2) * stride_, 0.0);
    scaled_ = history_;
    for (auto* v :
         {&velocity_, &slope_, &residual_, &change_, &last_residual_, &displacement_, &acceleration_, &weight_})
        v->assign(stride_, 0.0);
    pose_.assign(system.configuration_size(), 0.0);
}

// Order 1 errs by half the derivative of the acceleration, of which nothing is known yet: as much as itself per second.
double Adams::first_step(double, double acceleration) const {
    return 0.25 * std::sqrt((tolerances_.relative + tolerances_.absolute) / (acceleration + 1e-3));
}

void Adams::restart() { fresh_ = true; }

void Adams::begin(System& system, double t, double h, const double* x, const double* u) {
    system.accelerate(t, x, u, acceleration_.data());
    std::copy_n(u, size_, history(0));
    for (int i = 0; i < size_; ++i) history(1)[i] = h * acceleration_[i];
    std::fill(std::begin(past_), std::end(past_), 0.0);
    h_ = h;
    order_ = 1;
    refusals_ = 0;
    last_scale_ = 0.0;
    fresh_ = false;
    starting_ = true;
    closed_stops_ = system.statistics().closed_stops;
    weigh();
}

void Adams::weigh() {
    const double *u = history(0), relative = tolerances_.relative, absolute = tolerances_.absolute;
    for (int i = 0; i < stride_; ++i) weight_[i] = 1.0 / (absolute + relative * std::abs(u[i]));
}

// The history for steps of another length.
void Adams::rescale(double h) {
    const double ratio = h / h_;
    double power = 1.0;
    for (int j = 1; j <= order_; ++j) {
        power *= ratio;
        double* z = history(j);
        for (int i = 0; i < stride_; ++i) z[i] *= power;
    }
    h_ = h;
}

void Adams::measure_distances() {
    const double inverse = 1.0 / h_;
    double distance = h_;
    for (int i = 0; i <= order_; ++i) {
        xi_[i] = distance * inverse;
        distance += past_[i];
    }
    coefficients_.update(xi_, order_ + 1);
}

// u and h u̇ at the end of the step by the history's polynomial.
void Adams::predict() {
    for (int i = 0; i < stride_; i += kLanes) {
        Lane u = load_lane(history(0) + i), slope = broadcast(0.0);
        for (int j = 1; j <= order_; ++j) {
            const Lane z = load_lane(history(j) + i);
            u += z;
            slope += static_cast<double>(j) * z;
        }
        store_lane(velocity_.data() + i, u);
        store_lane(slope_.data() + i, slope);
    }
}

// Of the error that a residual v makes in velocity and displacement; root mean square in units of the tolerance.
// Displacements are measured against one metre and one radian.
double Adams::norm(const double* v, double velocity_part, double position_part) const {
    const double b = position_part * h_ / (tolerances_.absolute + tolerances_.relative);
    const double uu = velocity_part * velocity_part, xx = b * b;
    Lane sum = broadcast(0.0);
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane r = load_lane(v + i), w = load_lane(weight_.data() + i);
        sum += r * r * (uu * (w * w) + xx);
    }
    double total = 0.0;
    for (int l = 0; l < kLanes; ++l) total += lane_get(sum, l);
    return std::sqrt(total / components_);
}

double Adams::error_of(const double* residual, int order) const {
    return norm(residual, coefficients_.velocity(order) - coefficients_.velocity(order - 1),
                coefficients_.position(order) - coefficients_.position(order - 1));
}

// Predict; evaluate; correct, by the formula of one order more (local extrapolation); evaluate again at the projected
// end, with the factors of the predicted configuration. The history takes the last evaluation.
//
// Off the constraints, even by no more than the error of the prediction, an acceleration near a singular configuration
// may be wrong by more than the step may err. Then the first residual is none to go by, and the end is corrected again.
StepOutcome Adams::step(System& system, double t, double h, const double* x, const double* u, double* x1, double* u1) {
    if (fresh_) begin(system, t, h, x, u);
    if (h != h_) rescale(h);
    measure_distances();
    predict();
    system.retract_along(h, x, history(0), order_, stride_, pose_.data());
    system.accelerate(t + h, pose_.data(), velocity_.data(), acceleration_.data());
    if (system.project_prediction(t + h, pose_.data(), velocity_.data()))
        system.accelerate(t + h, pose_.data(), velocity_.data(), acceleration_.data());
    take_residual();
    StepOutcome outcome;
    outcome.order = order_;
    outcome.error = error_of(residual_.data(), order_);
    outcome.jump = h <= kJump && outcome.error > 1.0 && system.statistics().closed_stops != closed_stops_;
    if (!(outcome.error <= kDoubtful) && !outcome.jump) return outcome;
    const double a = coefficients_.velocity(order_), b = coefficients_.position(order_), first = outcome.error;
    const auto impacts = system.statistics().impacts;
    for (int i = 0; i < kMostCorrections; ++i) {
        for (int k = 0; k < size_; ++k) {
            u1[k] = velocity_[k] + a * residual_[k];
            displacement_[k] = h * b * residual_[k];
        }
        outcome.constraints_met =
            system.settle(t + h, pose_.data(), displacement_.data(), x1, u1, acceleration_.data());
        outcome.impact = system.statistics().impacts != impacts;
        take_residual();
        outcome.error = error_of(residual_.data(), order_);
        if (!outcome.constraints_met || outcome.impact || !(outcome.error <= 1.0)) break;
        if (norm(change_.data(), a, b) <= kSettled) break;
    }
    left_ = system.statistics().smallest_pivot < kDependent ? 1.0 : outcome.error / first;
    std::copy_n(u1, size_, velocity_.begin());
    end_stops_ = system.statistics().closed_stops;
    return outcome;
}

// h u̇ less its prediction, and by how much that changed.
void Adams::take_residual() {
    for (int k = 0; k < size_; ++k) {
        const double residual = h_ * acceleration_[k] - slope_[k];
        change_[k] = residual - residual_[k];
        residual_[k] = residual;
    }
}

// A residual of order q is the q-th difference of accelerations: the squares of its weights add up to the binomial
// coefficient of 2q over q. Three times that, for rounding is sampled only.
double Adams::rounding(System& system, double t, double h, const double* x1, const double* u1) {
    const std::vector<double>& change = sample_rounding(system, t, x1, u1, acceleration_.data(), true);
    double weight = 1.0;
    for (int i = 1; i <= order_; ++i) weight *= static_cast<double>(order_ + i) / i;
    for (int k = 0; k < size_; ++k) change_[k] = 3.0 * std::sqrt(weight) * h * change[k];
    return error_of(change_.data(), order_);
}

double Adams::refused(double h, const StepOutcome& outcome) {
    starting_ = false;
    if (++refusals_ >= kMostRefusals) {
        restart();
        return 0.1 * h;
    }
    return h * std::clamp(step_factor(outcome.error, kAim, order_), 0.2, 0.9);
}

double Adams::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
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
        const double other = step_factor(error_lower, kAimLower, q - 1);
        const bool lower = starting_ ? error_lower <= error && error > kNegligible : other > factor;
        if (lower) factor = other, next = q - 1;
    }
    if (starting_) {
        starting_ = next == q && factor > 1.0 && q < max_order_;
        if (starting_) next = q + 1;
    } else if (next == q && q < max_order_ && last_scale_ != 0.0 && factor < kMostGrowth && !(left_ < kEasy && q > 1)) {
        const double ratio = scale / last_scale_;
        const double *r = residual_.data(), *before = last_residual_.data();
        double* work = scaled_.data();
        for (int i = 0; i < stride_; ++i) work[i] = r[i] - ratio * before[i];
        const double other = step_factor(error_of(work, q + 1), kAimHigher, q + 1);
        if (other > factor) factor = other, next = q + 1;
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
    std::copy_n(velocity_.begin(), size_, history(0));
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

void Adams::interpolate(const System& system, double theta, const double*, const double*, const double* x1,
                        const double*, double* x_out, double* u_out) {
    const double s = theta - 1.0;
    double power = 1.0;
    std::fill_n(u_out, size_, 0.0);
    for (int j = 0; j <= order_; ++j, power *= s) {
        const double* z = history(j);
        double* to = scaled_.data() + static_cast<size_t>(j) * stride_;
        for (int i = 0; i < size_; ++i) {
            to[i] = power * z[i];
            u_out[i] += to[i];
        }
    }
    system.retract_along(s * h_, x1, scaled_.data(), order_, stride_, x_out);
}

}  // namespace bellcrank
