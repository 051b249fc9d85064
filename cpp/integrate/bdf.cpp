#include "integrate/bdf.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bellcrank {

namespace {

constexpr int kMostRefusalsBdf = 3;  // in a row; then the history is not trusted any more

constexpr double kSolvedBdf = 0.1;

// Part of the tolerance that steps are chosen for (Byrne, Hindmarsh, 1975, section 3); for which the order is raised.
constexpr double kBdfAim = 1.0 / 6.0;
constexpr double kAimHigherBdf = 1.0 / 10.0;
constexpr double kMostGrowthBdf = 10.0;
constexpr double kLeastGrowthBdf = 1.5;  // below it the step stays as it is, and with it γ

}  // namespace

Bdf::Bdf(Dynamics& dynamics, Implicit& implicit, const Tolerances& tolerances, int max_order)
    : dynamics_(dynamics),
      implicit_(implicit),
      size_(dynamics_.tangent_size()),
      stride_(padded(size_)),
      max_order_(std::clamp(max_order, 1, kMaxBdfOrder)),
      stable_(dynamics, implicit),
      equation_(dynamics, implicit, kSolvedBdf),
      tolerances_(tolerances),
      weights_(dynamics, tolerances, stride_),
      components_(std::max(1, 2 * dynamics_.velocity_components())) {
    for (auto* v : {&positions_, &velocities_, &work_}) v->assign(static_cast<size_t>(kMaxBdfOrder + 2) * stride_, 0.0);
    for (auto* v :
         {&speed_, &rate_, &slope_, &shift_, &change_, &last_shift_, &last_change_, &delta_, &udot_, &weight_, &other_})
        v->assign(stride_, 0.0);
    pose_.assign(dynamics_.configuration_size(), 0.0);
}

void Bdf::begin(double t, double h, const double* x, const double* u) {
    dynamics_.accelerate(t, x, u, udot_.data());
    for (int i = 0; i < size_; ++i) {
        position(1)[i] = h * u[i];
        velocity(0)[i] = u[i];
        velocity(1)[i] = h * udot_[i];
    }
    std::fill(std::begin(past_), std::end(past_), 0.0);
    h_ = h;
    order_ = 1;
    wait_ = 2;
    refusals_ = 0;
    last_scale_ = 0.0;
    fresh_ = false;
    equation_.restart();
    stable_.restart();
    weigh();
}

void Bdf::weigh() {
    const double* u = velocity(0);
    for (int i = 0; i < stride_; ++i) weight_[i] = weights_.velocity(i, std::abs(u[i]));
}

// The histories for steps of another length.
void Bdf::rescale(double h) {
    const double ratio = h / h_;
    double power = 1.0;
    for (int j = 1; j <= order_; ++j) {
        power *= ratio;
        double *z = position(j), *w = velocity(j);
        for (int i = 0; i < stride_; ++i) {
            z[i] *= power;
            w[i] *= power;
        }
    }
    h_ = h;
}

void Bdf::measure_distances() {
    double distance = h_;
    for (int i = 0; i <= order_ + 1; ++i) {
        xi_[i] = distance / h_;
        distance += past_[i];
    }
    coefficients_.update(xi_, order_ + 2);
    gamma_ = h_ / coefficients_.coefficient(order_, 1);
}

// x, u, h u̇ and, by the configurations, h u at the end of the step by the histories' polynomials.
void Bdf::predict(const double* x) {
    std::copy_n(velocity(0), stride_, speed_.begin());
    std::fill(rate_.begin(), rate_.end(), 0.0);
    std::fill(slope_.begin(), slope_.end(), 0.0);
    for (int j = 1; j <= order_; ++j) {
        const double *z = position(j), *w = velocity(j), part = j / h_;
        double* along = way(j - 1);
        for (int i = 0; i < stride_; ++i) {
            speed_[i] += w[i];
            rate_[i] += j * w[i];
            slope_[i] += j * z[i];
            along[i] = part * z[i];
        }
    }
    dynamics_.retract_along(h_, x, work_.data(), order_ - 1, stride_, pose_.data());
}

// What lies on a stop may still have a speed below that of rest, and loses it, however short the step: an error that
// the projection alone makes, with no history to blame, is a jump.
StepOutcome Bdf::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    if (fresh_) begin(t, h, x, u);
    implicit_.meet_accelerations(false);
    if (h != h_) {
        rescale(h);
        equation_.stretch();
    }
    measure_distances();
    if (stable_.look(t, x, u, order_, h, gamma_)) equation_.linearize_again(t, x, u);
    predict(x);
    StepOutcome outcome;
    outcome.order = order_;
    converged_ = solve(t + h, x1, u1);
    if (!converged_) {
        outcome.error = 1e6;
        return outcome;
    }
    const auto impacts = dynamics_.statistics().impacts;
    const bool solved = h <= kJump && past_[0] == 0.0 && error_of(u1) <= 1.0;
    outcome.constraints_met = implicit_.finish_corrected_step(t + h, x1, u1);
    outcome.impact = dynamics_.statistics().impacts != impacts;
    outcome.error = error_of(u1);
    outcome.jump = solved && outcome.error > 1.0;
    return outcome;
}

// Newton's method for u̇(t, x, u) = (h u̇_predicted + Λ'(0) (u − u_predicted))/h, where x goes with u. The better of the
// two predictions of u is the one to start from: that of the velocities.
bool Bdf::solve(double t, double* x1, double* u1) {
    const double slope = coefficients_.coefficient(order_, 1), unit = 1.0 / (slope * xi_[order_]);
    std::copy_n(speed_.begin(), size_, u1);
    const auto follow = [&](const double* u, double* x, double* rate) {
        for (int i = 0; i < size_; ++i) {
            shift_[i] = gamma_ * (u[i] - slope_[i] / h_);
            rate[i] = (rate_[i] + slope * (u[i] - speed_[i])) / h_;
        }
        dynamics_.retract(pose_.data(), shift_.data(), x);
    };
    const auto size = [&](const double* delta) {
        for (int i = 0; i < size_; ++i) other_[i] = gamma_ * delta[i];
        return unit * norm(other_.data(), delta);
    };
    return equation_.solve(t, gamma_, false, x1, u1, follow, size);
}

// The error of an end, from its difference to the predictions.
double Bdf::error_of(const double* u1) {
    for (int i = 0; i < size_; ++i) {
        shift_[i] = gamma_ * (u1[i] - slope_[i] / h_);
        change_[i] = u1[i] - speed_[i];
    }
    return norm(shift_.data(), change_.data()) / (coefficients_.coefficient(order_, 1) * xi_[order_]);
}

// Root mean square in units of the tolerance.
double Bdf::norm(const double* position, const double* velocity) const {
    double sum = 0.0;
    for (int i = 0; i < size_; ++i) {
        const double x = weights_.displacement(i) * position[i], u = weight_[i] * velocity[i];
        sum += x * x + u * u;
    }
    return std::sqrt(sum / components_);
}

double Bdf::refused(double h, const StepOutcome& outcome) {
    wait_ = std::max(wait_, 2);
    if (!converged_) return 0.25 * h;
    if (++refusals_ >= kMostRefusalsBdf) {
        restart();
        return 0.1 * h;
    }
    return h * std::clamp(step_factor(outcome.error, kBdfAim, order_), 0.1, 0.9);
}

double Bdf::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    double factor = 1.0;
    equation_.step_taken();
    --wait_;
    const int next = choose_order(outcome.error, factor);
    if (after_refusal) factor = std::min(factor, 1.0);
    correct(next);
    refusals_ = 0;
    for (int i = kMaxBdfOrder + 2; i > 0; --i) past_[i] = past_[i - 1];
    past_[0] = h;
    return h * factor;
}

// Ends are projected, which the histories do not contain: followed back from the end, the curve would miss the start,
// and meet stops there that have just been left. So its first half goes from the start, with the velocities expanded
// there.
void Bdf::interpolate(double theta, const double* x, const double*, const double* x1, const double*, double* x_out,
                      double* u_out) {
    const bool from_start = theta < 0.5;
    const double s = theta - 1.0, along_part = from_start ? theta : s;
    std::copy_n(velocity(0), size_, u_out);
    double power = 1.0;
    for (int j = 1; j <= order_; ++j) {
        const double *z = position(j), *w = velocity(j);
        double* along = way(j - 1);
        power *= s;
        for (int i = 0; i < size_; ++i) {
            along[i] = j / h_ * z[i];
            u_out[i] += power * w[i];
        }
    }
    for (int k = 0; from_start && k < order_ - 1; ++k)
        for (int j = order_ - 2; j >= k; --j)
            for (int i = 0; i < size_; ++i) way(j)[i] -= way(j + 1)[i];
    power = 1.0;
    for (int j = 1; j < order_; ++j) {
        power *= along_part;
        for (int i = 0; i < size_; ++i) way(j)[i] *= power;
    }
    dynamics_.retract_along(along_part * h_, from_start ? x : x1, work_.data(), order_ - 1, stride_, x_out);
}

// With D_m = h^(m+1) y^(m+1)/(m+1)!, a formula of order m errs by Π_{i ≤ m} ξ_i D_m/Λ_m'(0). The order, one less or one
// more, that allows the longest step; the factor by which the step may change.
int Bdf::choose_order(double error, double& factor) {
    const int q = order_;
    const double scale = coefficients_.product(q + 1) * std::pow(h_, q + 1);
    factor = step_factor(error, kBdfAim, q);
    const bool unstable = q > stable_.highest();
    int next = q;
    if ((wait_ <= 0 || unstable) && q > 1 && factor < kMostGrowthBdf) {
        const double top = coefficients_.coefficient(q, q);
        const double *z = position(q), *w = velocity(q);
        for (int i = 0; i < size_; ++i) {
            delta_[i] = z[i] + top * shift_[i];
            other_[i] = w[i] + top * change_[i];
        }
        const double unit = coefficients_.product(q - 1) / coefficients_.coefficient(q - 1, 1);
        const double lower = step_factor(unit * norm(delta_.data(), other_.data()), kBdfAim, q - 1);
        if (lower > factor || unstable) factor = lower, next = q - 1;
    }
    if (wait_ <= 0 && q < std::min(max_order_, stable_.highest()) && last_scale_ != 0.0) {
        const double ratio = scale / last_scale_;
        for (int i = 0; i < size_; ++i) {
            delta_[i] = shift_[i] - ratio * last_shift_[i];
            other_[i] = change_[i] - ratio * last_change_[i];
        }
        const double unit = 1.0 / (coefficients_.coefficient(q + 1, 1) * xi_[q + 1]);
        const double higher = step_factor(unit * norm(delta_.data(), other_.data()), kAimHigherBdf, q + 1);
        if (higher > std::min(factor, kMostGrowthBdf)) factor = higher, next = q + 1;
    }
    if (factor < kLeastGrowthBdf && factor > 0.9 && !unstable) factor = 1.0, next = q;
    factor = std::clamp(factor, 0.2, kMostGrowthBdf);
    if (factor >= 1.0 && factor < kLeastGrowthBdf) factor = 1.0;
    if (wait_ <= 0 && next == q) wait_ = factor > 1.0 ? q + 1 : 1;
    if (next != q) wait_ = next + 1;
    last_scale_ = next == q ? scale : 0.0;
    return next;
}

// The histories at the end of the step, of the order to go on with.
void Bdf::correct(int next) {
    const int q = order_;
    double weight[kMaxBdfOrder + 2];
    for (int j = 1; j <= q; ++j) weight[j] = coefficients_.coefficient(q, j);
    advance_history(q, positions_.data(), shift_.data(), weight, stride_);
    advance_history(q, velocities_.data(), change_.data(), weight, stride_);
    for (int i = 0; i < size_; ++i) velocity(0)[i] = speed_[i] + change_[i];
    if (next > q) raise_order();
    if (next < q) lower_order();
    order_ = next;
    shift_.swap(last_shift_);
    change_.swap(last_change_);
    weigh();
}

// D_q s² Π_{i < q} (s + ξ_i) is added: value and slope at the end of the step stay, and the values at all but the
// oldest of the times before.
void Bdf::raise_order() {
    const int q = order_;
    const double top = 1.0 / coefficients_.product(q + 1);
    std::fill_n(position(q + 1), stride_, 0.0);
    std::fill_n(velocity(q + 1), stride_, 0.0);
    for (int k = 0; k < q; ++k) {
        const double part = top * coefficients_.product(q - 1) * coefficients_.coefficient(q - 1, k);
        double *z = position(k + 2), *w = velocity(k + 2);
        for (int i = 0; i < size_; ++i) {
            z[i] += part * shift_[i];
            w[i] += part * change_[i];
        }
    }
}

// Likewise the last term is taken away as a multiple of s² Π_{i < q−1} (s + ξ_i).
void Bdf::lower_order() {
    const int q = order_;
    const double *z_top = position(q), *w_top = velocity(q);
    for (int k = 0; k + 2 < q; ++k) {
        const double part = coefficients_.product(q - 2) * coefficients_.coefficient(q - 2, k);
        double *z = position(k + 2), *w = velocity(k + 2);
        for (int i = 0; i < stride_; ++i) {
            z[i] -= part * z_top[i];
            w[i] -= part * w_top[i];
        }
    }
}

}  // namespace bellcrank
