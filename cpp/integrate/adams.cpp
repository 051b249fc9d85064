#include "integrate/adams.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

constexpr double kDependent = 1e-2;  // below such a pivot the first error is none to go by
constexpr double kDoubtful = 10.0;   // a first residual as large as that is taken for what it says
constexpr double kSettled = 100.0;   // change of the end between corrections, in tolerances
constexpr int kMostCorrections = 2;

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

// Whether that is more than a factor known already.
bool allows_more(double error, double aim, int order, double factor) {
    for (int i = 0; i <= order; ++i) error *= factor;
    return error < aim;
}

}  // namespace

Adams::Adams(Dynamics& dynamics, Projection& projection, const Tolerances& tolerances, int max_order)
    : dynamics_(dynamics),
      projection_(projection),
      rounding_(dynamics, projection),
      size_(dynamics_.free_components()),
      stride_(padded(size_)),
      flat_(dynamics_.has_flat_charts()),
      max_order_(std::clamp(max_order, 1, kMaxAdamsOrder)),
      tolerances_(tolerances),
      components_(std::max(1, 2 * dynamics_.velocity_components())) {
    history_.assign(static_cast<size_t>(kMaxAdamsOrder + 2) * stride_, 0.0);
    scaled_ = history_;
    for (auto* v : {&velocity_, &slope_, &along_, &rate_, &residual_, &change_, &last_residual_, &weight_})
        v->assign(stride_, 0.0);
    for (auto* v : {&speed_, &displacement_, &acceleration_}) v->assign(dynamics_.tangent_size(), 0.0);
    pose_.assign(dynamics_.configuration_size(), 0.0);
}

void Adams::restart() { fresh_ = true; }

void Adams::begin(double t, double h, const double* x, const double* u) {
    dynamics_.accelerate(t, x, u, acceleration_.data());
    dynamics_.compress(u, history(0));
    dynamics_.compress(acceleration_.data(), rate_.data());
    for (int i = 0; i < size_; ++i) history(1)[i] = h * rate_[i];
    std::fill(std::begin(past_), std::end(past_), 0.0);
    h_ = h;
    order_ = 1;
    refusals_ = 0;
    last_scale_ = 0.0;
    fresh_ = false;
    starting_ = true;
    closed_stops_ = dynamics_.statistics().closed_stops;
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
        for (int i = 0; i < stride_; i += kLanes) store_lane(z + i, power * load_lane(z + i));
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

// u, h u̇ and ∫u at the end of the step by the history's polynomial.
void Adams::predict() {
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane start = load_lane(history(0) + i);
        Lane u = start, slope = broadcast(0.0), along = start;
        for (int j = 1; j <= order_; ++j) {
            const Lane z = load_lane(history(j) + i);
            u += z;
            slope += static_cast<double>(j) * z;
            along += kInverse.of[j + 1] * z;
        }
        store_lane(velocity_.data() + i, u);
        store_lane(slope_.data() + i, slope);
        store_lane(along_.data() + i, h_ * along);
    }
}

// The state there.
void Adams::follow_time(const double* x) {
    dynamics_.expand(velocity_.data(), speed_.data());
    if (!flat_) return dynamics_.retract_along(h_, x, history(0), order_, stride_, pose_.data());
    dynamics_.expand(along_.data(), displacement_.data());
    dynamics_.retract(x, displacement_.data(), pose_.data());
}

// The norm of the error that a residual v makes in velocity and displacement: root mean square in units of the
// tolerance. Displacements are measured against one metre and one radian.
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

// The velocity of the end, and the displacement from its prediction, by the residual.
void Adams::correct_end(double velocity_part, double position_part, double* u1) {
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane r = load_lane(residual_.data() + i);
        store_lane(rate_.data() + i, load_lane(velocity_.data() + i) + velocity_part * r);
        store_lane(along_.data() + i, position_part * r);
    }
    dynamics_.expand(rate_.data(), u1);
    dynamics_.expand(along_.data(), displacement_.data());
}

// Predict; evaluate; correct, by the formula of one order more (local extrapolation); evaluate again at the projected
// end, with the factors of the predicted configuration. The history takes the last evaluation.
//
// Off the constraints, even by no more than the error of the prediction, an acceleration near a singular configuration
// may be wrong by more than the step may err. Then the first residual is none to go by, and the end is corrected again.
StepOutcome Adams::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    if (fresh_) begin(t, h, x, u);
    if (h != h_) rescale(h);
    measure_distances();
    predict();
    follow_time(x);
    dynamics_.accelerate(t + h, pose_.data(), speed_.data(), acceleration_.data());
    if (projection_.project_prediction(t + h, pose_.data(), speed_.data())) {
        dynamics_.compress(speed_.data(), velocity_.data());
        dynamics_.accelerate(t + h, pose_.data(), speed_.data(), acceleration_.data());
    }
    take_residual();
    StepOutcome outcome;
    outcome.order = order_;
    outcome.error = error_of(residual_.data(), order_);
    outcome.jump = h <= kJump && outcome.error > 1.0 && dynamics_.statistics().closed_stops != closed_stops_;
    complete_ = outcome.error <= kDoubtful || outcome.jump;
    if (!complete_) return outcome;
    const double a = coefficients_.velocity(order_), b = coefficients_.position(order_), first = outcome.error;
    const auto impacts = dynamics_.statistics().impacts;
    for (int i = 0; i < kMostCorrections; ++i) {
        correct_end(a, h * b, u1);
        outcome.constraints_met =
            projection_.finish_step(t + h, pose_.data(), displacement_.data(), x1, u1, acceleration_.data());
        outcome.impact = dynamics_.statistics().impacts != impacts;
        take_residual();
        if (i == 0) returned_ = norm(change_.data(), a, b) / first;
        outcome.error = error_of(residual_.data(), order_);
        if (!outcome.constraints_met || outcome.impact || !(outcome.error <= 1.0)) break;
        if (norm(change_.data(), a, b) <= kSettled) break;
    }
    left_ = dynamics_.statistics().smallest_pivot < kDependent ? 1.0 : outcome.error / first;
    dynamics_.compress(u1, velocity_.data());
    end_stops_ = dynamics_.statistics().closed_stops;
    return outcome;
}

// h u̇ less its prediction, and by how much that changed.
void Adams::take_residual() {
    dynamics_.compress(acceleration_.data(), rate_.data());
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane residual = h_ * load_lane(rate_.data() + i) - load_lane(slope_.data() + i);
        store_lane(change_.data() + i, residual - load_lane(residual_.data() + i));
        store_lane(residual_.data() + i, residual);
    }
}

// A residual of order q is the q-th difference of accelerations: the squares of its weights add up to the binomial
// coefficient of 2q over q. Three times that, for rounding is sampled only. Of a step that was not corrected the
// prediction is sampled, as a stage: where the constraints ask for its projection, its residual may be no more.
double Adams::rounding(double t, double h, const double* x1, const double* u1) {
    const double *x = complete_ ? x1 : pose_.data(), *u = complete_ ? u1 : speed_.data();
    const std::vector<double>& change = rounding_.take(t, x, u, acceleration_.data(), complete_, true);
    double weight = 1.0;
    for (int i = 1; i <= order_; ++i) weight *= static_cast<double>(order_ + i) / i;
    for (int k = 0; k < size_; ++k) change_[k] = 3.0 * std::sqrt(weight) * h * change[k];
    return error_of(change_.data(), order_);
}

void Adams::interpolate(double theta, const double*, const double*, const double* x1, const double*, double* x_out,
                        double* u_out) {
    const double s = theta - 1.0;
    double power = 1.0;
    std::fill(rate_.begin(), rate_.end(), 0.0);
    std::fill(along_.begin(), along_.end(), 0.0);
    for (int j = 0; j <= order_; ++j, power *= s) {
        const double *z = history(j), part = s * h_ * kInverse.of[j + 1];
        double* to = scaled_.data() + static_cast<size_t>(j) * stride_;
        for (int i = 0; i < size_; ++i) {
            to[i] = power * z[i];
            rate_[i] += to[i];
            along_[i] += part * to[i];
        }
    }
    dynamics_.expand(rate_.data(), u_out);
    if (!flat_) return dynamics_.retract_along(s * h_, x1, scaled_.data(), order_, stride_, x_out);
    dynamics_.expand(along_.data(), displacement_.data());
    dynamics_.retract(x1, displacement_.data(), x_out);
}

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
