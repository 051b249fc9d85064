#include "integrate/runge_kutta.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bellcrank {

namespace {

constexpr int kDopriStages = 7;
constexpr double kEstimateOrder = 5.0;
constexpr double kSafety = 0.9;

// Relative pivot of rows below which accelerations may be known to fewer digits than the tolerance asks for.
constexpr double kDoubtfulPivot = 1e-3;
constexpr double kDopriA[] = {1.0 / 5,       3.0 / 40,       9.0 / 40,        44.0 / 45,      -56.0 / 15,
                              32.0 / 9,      19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729,
                              9017.0 / 3168, -355.0 / 33,    46732.0 / 5247,  49.0 / 176,     -5103.0 / 18656};
constexpr double kDopriB[] = {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0.0};
constexpr double kDopriC[] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0};
// Difference of the fifth- and fourth-order weights.
constexpr double kDopriE[] = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
// Weights of the continuous extension beyond the cubic Hermite part (Hairer, Nørsett, Wanner I, section II.6).
constexpr double kDopriD[] = {-12715105075.0 / 11282082432.0,  0.0,
                              87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
                              701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
                              69997945.0 / 29380423.0};

}  // namespace

DormandPrince::DormandPrince(Dynamics& dynamics, Projection& projection, const Tolerances& tolerances)
    : dynamics_(dynamics),
      projection_(projection),
      rounding_(dynamics, projection),
      tolerances_(tolerances),
      weights_(dynamics, tolerances, dynamics.tangent_size()),
      components_(std::max(1, 2 * dynamics.velocity_components())) {
    const int n = dynamics.tangent_size();
    for (auto* k : {&kx_, &ku_}) k->assign(kDopriStages, std::vector<double>(n, 0.0));
    for (auto* v : {&xi_, &ui_, &within_}) v->assign(n, 0.0);
    for (auto* x : {&xs_, &start_x_, &end_x_}) x->assign(dynamics.configuration_size(), 0.0);
    for (auto* u : {&start_u_, &end_u_, &end_rate_}) u->assign(n, std::numeric_limits<double>::quiet_NaN());
}

void DormandPrince::combine(double h, const double* weights, int count, const double* u) {
    const size_t n = xi_.size();
    std::fill(xi_.begin(), xi_.end(), 0.0);
    std::copy_n(u, n, ui_.begin());
    for (int j = 0; j < count; ++j) {
        const double w = h * weights[j];
        if (w == 0.0) continue;
        const double *kx = kx_[j].data(), *ku = ku_[j].data();
        for (size_t i = 0; i < n; ++i) {
            xi_[i] += w * kx[i];
            ui_[i] += w * ku[i];
        }
    }
}

void DormandPrince::stages(double t, double h, const double* x, const double* u, bool first_known) {
    const double* a = kDopriA;
    doubtful_.pivot = kDoubtfulPivot;
    for (int s = 0; s < kDopriStages - 1; a += s, ++s) {
        if (s == 0 && first_known) continue;
        combine(h, a, s, u);
        // The second stage is one of Euler; with the acceleration known its position is one order better.
        const double square = 0.5 * kDopriC[s] * h * kDopriC[s] * h;
        if (s == 1)
            for (size_t i = 0; i < xi_.size(); ++i) xi_[i] += square * ku_[0][i];
        dynamics_.retract(x, xi_.data(), xs_.data());
        if (s > 0) projection_.project_stage(t + kDopriC[s] * h, xs_.data(), ui_.data());
        const double time = t + kDopriC[s] * h, *at = s == 0 ? x : xs_.data();
        dynamics_.accelerate(time, at, ui_.data(), ku_[s].data());
        if (s > 0 && dynamics_.statistics().smallest_pivot < doubtful_.pivot)
            doubtful_.keep(time, dynamics_.statistics().smallest_pivot, xs_, ui_, ku_[s]);
        dynamics_.add_frame_rates(xi_.data(), ui_.data(), ku_[s].data());
        dynamics_.chart_rate(xi_.data(), ui_.data(), kx_[s].data());
    }
}

// The seventh stage is taken at the projected end: it closes the error estimate and, once the step is accepted, it is
// the first stage of the next one, whose chart starts there (ξ = 0, where the chart rate is u itself).
StepOutcome DormandPrince::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    const auto same = [&](const std::vector<double>& sx, const std::vector<double>& su) {
        return std::equal(su.begin(), su.end(), u) && std::equal(sx.begin(), sx.end(), x);
    };
    bool first_known = same(start_x_, start_u_);
    if (!first_known && same(end_x_, end_u_)) {
        kx_[0] = end_u_;
        ku_[0] = end_rate_;
        first_known = true;
    }
    start_x_.assign(x, x + start_x_.size());
    start_u_.assign(u, u + start_u_.size());
    stages(t, h, x, u, first_known);
    combine(h, kDopriB, kDopriStages - 1, u);
    dynamics_.retract(x, xi_.data(), x1);
    std::copy(ui_.begin(), ui_.end(), u1);

    StepOutcome outcome;
    const auto impacts = dynamics_.statistics().impacts;
    outcome.constraints_met = projection_.project(t + h, x1, u1);
    outcome.impact = dynamics_.statistics().impacts != impacts;
    dynamics_.accelerate(t + h, x1, u1, ku_[6].data());
    end_rate_ = ku_[6];
    dynamics_.add_frame_rates(xi_.data(), u1, ku_[6].data());
    dynamics_.chart_rate(xi_.data(), u1, kx_[6].data());
    outcome.error = error_norm(h, x, u, u1);
    outcome.doubtful = doubtful_.pivot < kDoubtfulPivot;
    end_x_.assign(x1, x1 + end_x_.size());
    end_u_.assign(u1, u1 + end_u_.size());
    h_ = h;
    return outcome;
}

// Root mean square of the estimate over all components of displacement and velocity.
double DormandPrince::error_norm(double h, const double*, const double* u, const double* u1) const {
    double sum = 0.0;
    const size_t n = xi_.size();
    for (size_t i = 0; i < n; ++i) {
        double ex = 0.0, eu = 0.0;
        for (int s = 0; s < kDopriStages; ++s) {
            ex += kDopriE[s] * kx_[s][i];
            eu += kDopriE[s] * ku_[s][i];
        }
        const double speed = std::max(std::abs(u[i]), std::abs(u1[i]));
        ex *= h * weights_.displacement(static_cast<int>(i));
        eu *= h * weights_.velocity(static_cast<int>(i), speed);
        sum += ex * ex + eu * eu;
    }
    return std::sqrt(sum / components_);
}

// The accelerations of the stages go into the estimate with the weights e, whose root of squares is 0.073; three times
// that, for rounding is sampled only: at the end of the step, and at the stage whose rows are nearest to depending on
// each other.
double DormandPrince::rounding(double t, double h, const double* x1, const double* u1) {
    constexpr double kWeight = 3.0 * 0.073;
    const auto error = [&](const std::vector<double>& change) {
        double sum = 0.0;
        for (size_t i = 0; i < change.size(); ++i) {
            const double e = kWeight * h * change[i] * weights_.velocity(static_cast<int>(i), std::abs(u1[i]));
            sum += e * e;
        }
        return std::sqrt(sum / components_);
    };
    const double end = error(rounding_.take(t, x1, u1, end_rate_.data(), false, false));
    if (!(doubtful_.pivot < kDoubtfulPivot)) return end;
    const Stage& at = doubtful_;
    return std::max(end, error(rounding_.take(at.time, at.x.data(), at.u.data(), at.rate.data(), false, false)));
}

// A first guess that moves no body by more than a small fraction of a metre or radian; the control corrects it.
double DormandPrince::first_step(double speed, double acceleration) const {
    const double scale = std::pow(tolerances_.relative + tolerances_.absolute, 0.2);
    return 0.1 * std::min(scale / (speed + 1e-6), std::sqrt(scale / (acceleration + 1e-6)));
}

double DormandPrince::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    const double growth = kSafety * std::pow(std::max(outcome.error, 1e-10), -1.0 / kEstimateOrder);
    return h * std::clamp(growth, 0.2, after_refusal ? 1.0 : 5.0);
}

// The derivative at the end of the last step is that of the motion before.
void DormandPrince::restart() {
    std::fill(start_u_.begin(), start_u_.end(), std::numeric_limits<double>::quiet_NaN());
    std::fill(end_u_.begin(), end_u_.end(), std::numeric_limits<double>::quiet_NaN());
}

double DormandPrince::refused(double h, const StepOutcome& outcome) {
    return h * std::max(0.2, kSafety * std::pow(outcome.error, -1.0 / kEstimateOrder));
}

// y(θ) = y0 + θ (Δ + (1−θ)(r3 + θ (r4 + (1−θ) r5))), Δ = y1 − y0, r3 = h k1 − Δ, r4 = Δ − h k7 − r3, r5 = h Σ d k.
void DormandPrince::interpolate(double theta, const double* x, const double* u, const double*, const double*,
                                double* x_out, double* u_out) {
    const double rest = 1.0 - theta;
    const auto extend = [&](const std::vector<std::vector<double>>& k, size_t i, double delta) {
        const double r3 = h_ * k[0][i] - delta, r4 = delta - h_ * k[6][i] - r3;
        double r5 = 0.0;
        for (int s = 0; s < kDopriStages; ++s) r5 += kDopriD[s] * k[s][i];
        return theta * (delta + rest * (r3 + theta * (r4 + rest * h_ * r5)));
    };
    for (size_t i = 0; i < xi_.size(); ++i) {
        within_[i] = extend(kx_, i, xi_[i]);
        u_out[i] = u[i] + extend(ku_, i, ui_[i] - u[i]);
    }
    dynamics_.retract(x, within_.data(), x_out);
}

Nystrom4::Nystrom4(Dynamics& dynamics, Projection& projection) : dynamics_(dynamics), projection_(projection) {
    for (auto* v : {&k_[0], &k_[1], &k_[2], &k_[3], &xi_, &rate_, &us_, &acceleration_})
        v->assign(dynamics_.tangent_size(), 0.0);
    xs_.assign(dynamics_.configuration_size(), 0.0);
}

// ξ = α h u + β h² k_[p] and ξ̇ = u + γ h k_[v]; at ξ = 0 the chart rate is u itself.
void Nystrom4::predict(double h, double alpha, double beta, int p, double gamma, int v, const double* u) {
    const double a = h * alpha, b = h * h * beta, c = h * gamma;
    for (size_t n = 0; n < xi_.size(); ++n) {
        xi_[n] = a * u[n] + b * k_[p][n];
        rate_[n] = u[n] + c * k_[v][n];
    }
}

StepOutcome Nystrom4::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    const auto accelerate = [&](int i, double time) {
        dynamics_.accelerate(time, xs_.data(), us_.data(), acceleration_.data());
        dynamics_.chart_acceleration(xi_.data(), rate_.data(), acceleration_.data(), k_[i].data());
    };
    dynamics_.accelerate(t, x, u, k_[0].data());

    predict(h, 0.5, 0.125, 0, 0.5, 0, u);
    dynamics_.retract(x, xi_.data(), xs_.data());
    dynamics_.chart_velocity(xi_.data(), rate_.data(), us_.data());
    projection_.project_stage(t + 0.5 * h, xs_.data(), us_.data());
    accelerate(1, t + 0.5 * h);

    predict(h, 0.5, 0.125, 0, 0.5, 1, u);  // the same configuration
    dynamics_.chart_velocity(xi_.data(), rate_.data(), us_.data());
    projection_.project_stage(t + 0.5 * h, xs_.data(), us_.data());
    accelerate(2, t + 0.5 * h);

    predict(h, 1.0, 0.5, 2, 1.0, 2, u);
    dynamics_.retract(x, xi_.data(), xs_.data());
    dynamics_.chart_velocity(xi_.data(), rate_.data(), us_.data());
    projection_.project_stage(t + h, xs_.data(), us_.data());
    accelerate(3, t + h);

    for (size_t n = 0; n < xi_.size(); ++n) {
        const double middle = k_[1][n] + k_[2][n];
        xi_[n] = h * (u[n] + h / 6.0 * (k_[0][n] + middle));
        rate_[n] = u[n] + h / 6.0 * (k_[0][n] + 2.0 * middle + k_[3][n]);
    }
    dynamics_.retract(x, xi_.data(), x1);
    dynamics_.chart_velocity(xi_.data(), rate_.data(), u1);
    StepOutcome outcome;
    outcome.constraints_met = projection_.project_step(t + h, x1, u1);
    return outcome;
}

StepOutcome SemiImplicitEuler::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    dynamics_.accelerate(t, x, u, work_.data());
    for (size_t i = 0; i < work_.size(); ++i) {
        u1[i] = u[i] + h * work_[i];
        work_[i] = h * u1[i];
    }
    dynamics_.retract(x, work_.data(), x1);
    StepOutcome outcome;
    outcome.constraints_met = projection_.project_step(t + h, x1, u1);
    return outcome;
}

}  // namespace bellcrank
