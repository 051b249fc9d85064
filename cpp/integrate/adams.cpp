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

}  // namespace

Adams::Adams(const System& system, const Tolerances& tolerances, int max_order)
    : size_(system.free_components()),
      stride_(padded(size_)),
      flat_(system.has_flat_charts()),
      max_order_(std::clamp(max_order, 1, kMaxAdamsOrder)),
      tolerances_(tolerances),
      components_(std::max(1, 2 * system.velocity_components())) {
    history_.assign(static_cast<size_t>(kMaxAdamsOrder + 2) * stride_, 0.0);
    scaled_ = history_;
    for (auto* v : {&velocity_, &slope_, &along_, &rate_, &residual_, &change_, &last_residual_, &weight_})
        v->assign(stride_, 0.0);
    for (auto* v : {&speed_, &displacement_, &acceleration_}) v->assign(system.tangent_size(), 0.0);
    pose_.assign(system.configuration_size(), 0.0);
}

// Order 1 errs by half the derivative of the acceleration, of which nothing is known yet: as much as itself per second.
double Adams::first_step(double, double acceleration) const {
    return 0.25 * std::sqrt((tolerances_.relative + tolerances_.absolute) / (acceleration + 1e-3));
}

void Adams::restart() { fresh_ = true; }

void Adams::begin(System& system, double t, double h, const double* x, const double* u) {
    system.accelerate(t, x, u, acceleration_.data());
    system.compress(u, history(0));
    system.compress(acceleration_.data(), rate_.data());
    for (int i = 0; i < size_; ++i) history(1)[i] = h * rate_[i];
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
void Adams::follow_time(const System& system, const double* x) {
    system.expand(velocity_.data(), speed_.data());
    if (!flat_) return system.retract_along(h_, x, history(0), order_, stride_, pose_.data());
    system.expand(along_.data(), displacement_.data());
    system.retract(x, displacement_.data(), pose_.data());
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

// The velocity of the end, and the displacement from its prediction, by the residual.
void Adams::correct_end(const System& system, double velocity_part, double position_part, double* u1) {
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane r = load_lane(residual_.data() + i);
        store_lane(rate_.data() + i, load_lane(velocity_.data() + i) + velocity_part * r);
        store_lane(along_.data() + i, position_part * r);
    }
    system.expand(rate_.data(), u1);
    system.expand(along_.data(), displacement_.data());
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
    follow_time(system, x);
    system.accelerate(t + h, pose_.data(), speed_.data(), acceleration_.data());
    if (system.project_prediction(t + h, pose_.data(), speed_.data())) {
        system.compress(speed_.data(), velocity_.data());
        system.accelerate(t + h, pose_.data(), speed_.data(), acceleration_.data());
    }
    take_residual(system);
    StepOutcome outcome;
    outcome.order = order_;
    outcome.error = error_of(residual_.data(), order_);
    outcome.jump = h <= kJump && outcome.error > 1.0 && system.statistics().closed_stops != closed_stops_;
    complete_ = outcome.error <= kDoubtful || outcome.jump;
    if (!complete_) return outcome;
    const double a = coefficients_.velocity(order_), b = coefficients_.position(order_), first = outcome.error;
    const auto impacts = system.statistics().impacts;
    for (int i = 0; i < kMostCorrections; ++i) {
        correct_end(system, a, h * b, u1);
        outcome.constraints_met =
            system.finish_step(t + h, pose_.data(), displacement_.data(), x1, u1, acceleration_.data());
        outcome.impact = system.statistics().impacts != impacts;
        take_residual(system);
        if (i == 0) returned_ = norm(change_.data(), a, b) / first;
        outcome.error = error_of(residual_.data(), order_);
        if (!outcome.constraints_met || outcome.impact || !(outcome.error <= 1.0)) break;
        if (norm(change_.data(), a, b) <= kSettled) break;
    }
    left_ = system.statistics().smallest_pivot < kDependent ? 1.0 : outcome.error / first;
    system.compress(u1, velocity_.data());
    end_stops_ = system.statistics().closed_stops;
    return outcome;
}

// h u̇ less its prediction, and by how much that changed.
void Adams::take_residual(const System& system) {
    system.compress(acceleration_.data(), rate_.data());
    for (int i = 0; i < stride_; i += kLanes) {
        const Lane residual = h_ * load_lane(rate_.data() + i) - load_lane(slope_.data() + i);
        store_lane(change_.data() + i, residual - load_lane(residual_.data() + i));
        store_lane(residual_.data() + i, residual);
    }
}

// A residual of order q is the q-th difference of accelerations: the squares of its weights add up to the binomial
// coefficient of 2q over q. Three times that, for rounding is sampled only. Of a step that was not corrected the
// prediction is sampled, as a stage: where the constraints ask for its projection, its residual may be no more.
double Adams::rounding(System& system, double t, double h, const double* x1, const double* u1) {
    const double *x = complete_ ? x1 : pose_.data(), *u = complete_ ? u1 : speed_.data();
    const std::vector<double>& change = sample_rounding(system, t, x, u, acceleration_.data(), complete_, true);
    double weight = 1.0;
    for (int i = 1; i <= order_; ++i) weight *= static_cast<double>(order_ + i) / i;
    for (int k = 0; k < size_; ++k) change_[k] = 3.0 * std::sqrt(weight) * h * change[k];
    return error_of(change_.data(), order_);
}

void Adams::interpolate(const System& system, double theta, const double*, const double*, const double* x1,
                        const double*, double* x_out, double* u_out) {
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
    system.expand(rate_.data(), u_out);
    if (!flat_) return system.retract_along(s * h_, x1, scaled_.data(), order_, stride_, x_out);
    system.expand(along_.data(), displacement_.data());
    system.retract(x1, displacement_.data(), x_out);
}

}  // namespace bellcrank
