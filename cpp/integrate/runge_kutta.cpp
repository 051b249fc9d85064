#include "integrate/runge_kutta.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bellcrank {

namespace {

constexpr double kEstimateOrder = 5.0;
constexpr double kSafety = 0.9;

// Relative pivot of rows below which accelerations may be known to fewer digits than the tolerance asks for.
constexpr double kDoubtfulPivot = 1e-3;
// Difference of the fifth- and fourth-order weights.
constexpr double kDopriE[] = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

}  // namespace

DopriStages::DopriStages(Dynamics& dynamics, Projection& projection) : dynamics_(dynamics), projection_(projection) {
    const int n = dynamics.tangent_size();
    for (auto* k : {&kx, &ku}) k->assign(kStages + 1, std::vector<double>(n, 0.0));
    for (auto* v : {&xi, &ui}) v->assign(n, 0.0);
    xs_.assign(dynamics.configuration_size(), 0.0);
}

void DopriStages::combine(double h, const double* weights, int count, const double* u) {
    const size_t n = xi.size();
    std::fill(xi.begin(), xi.end(), 0.0);
    std::copy_n(u, n, ui.begin());
    for (int j = 0; j < count; ++j) {
        const double w = h * weights[j];
        if (w == 0.0) continue;
        const double *by_x = kx[j].data(), *by_u = ku[j].data();
        for (size_t i = 0; i < n; ++i) {
            xi[i] += w * by_x[i];
            ui[i] += w * by_u[i];
        }
    }
}

DormandPrince::DormandPrince(Dynamics& dynamics, Projection& projection, const Tolerances& tolerances)
    : dynamics_(dynamics),
      projection_(projection),
      stages_(dynamics, projection),
      rounding_(dynamics, projection),
      tolerances_(tolerances),
      weights_(dynamics, tolerances, dynamics.tangent_size()),
      components_(std::max(1, 2 * dynamics.velocity_components())) {
    const int n = dynamics.tangent_size();
    within_.assign(n, 0.0);
    for (auto* x : {&start_x_, &end_x_}) x->assign(dynamics.configuration_size(), 0.0);
    for (auto* u : {&start_u_, &end_u_, &end_rate_}) u->assign(n, std::numeric_limits<double>::quiet_NaN());
}

// The seventh stage is taken at the projected end: it closes the error estimate and, once the step is accepted, it is
// the first stage of the next one, whose chart starts there (ξ = 0, where the chart rate is u itself).
StepOutcome DormandPrince::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    const auto same = [&](const std::vector<double>& sx, const std::vector<double>& su) {
        return std::equal(su.begin(), su.end(), u) && std::equal(sx.begin(), sx.end(), x);
    };
    bool first_known = same(start_x_, start_u_);
    if (!first_known && same(end_x_, end_u_)) {
        stages_.kx[0] = end_u_;
        stages_.ku[0] = end_rate_;
        first_known = true;
    }
    start_x_.assign(x, x + start_x_.size());
    start_u_.assign(u, u + start_u_.size());
    doubtful_.pivot = kDoubtfulPivot;
    stages_.find(t, h, x, u, first_known, [this](const DopriStages::Stage& at) {
        if (at.number > 0 && dynamics_.statistics().smallest_pivot < doubtful_.pivot)
            doubtful_.keep(at, dynamics_.statistics().smallest_pivot, start_x_.size(), start_u_.size());
    });
    stages_.combine(h, DopriStages::kB, DopriStages::kStages, u);
    dynamics_.retract(x, stages_.xi.data(), x1);
    std::copy(stages_.ui.begin(), stages_.ui.end(), u1);

    StepOutcome outcome;
    const auto impacts = dynamics_.statistics().impacts;
    outcome.constraints_met = projection_.project(t + h, x1, u1);
    outcome.impact = dynamics_.statistics().impacts != impacts;
    std::vector<double>&kx = stages_.kx.back(), &ku = stages_.ku.back();
    dynamics_.accelerate(t + h, x1, u1, ku.data());
    end_rate_ = ku;
    dynamics_.add_frame_rates(stages_.xi.data(), u1, ku.data());
    dynamics_.chart_rate(stages_.xi.data(), u1, kx.data());
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
    const size_t n = stages_.xi.size();
    for (size_t i = 0; i < n; ++i) {
        double ex = 0.0, eu = 0.0;
        for (int s = 0; s <= DopriStages::kStages; ++s) {
            ex += kDopriE[s] * stages_.kx[s][i];
            eu += kDopriE[s] * stages_.ku[s][i];
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
    const DoubtfulStage& at = doubtful_;
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
        for (int s = 0; s <= DopriStages::kStages; ++s) r5 += DopriStages::kD[s] * k[s][i];
        return theta * (delta + rest * (r3 + theta * (r4 + rest * h_ * r5)));
    };
    for (size_t i = 0; i < within_.size(); ++i) {
        within_[i] = extend(stages_.kx, i, stages_.xi[i]);
        u_out[i] = u[i] + extend(stages_.ku, i, stages_.ui[i] - u[i]);
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
