#include "integrate/esdirk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

constexpr double kGamma3 = 1767732205903.0 / 4055673282236, kGamma4 = 0.25;
constexpr double kA3[] = {kGamma3,
                          2746238789719.0 / 10658868560708,
                          -640167445237.0 / 6845629431997,
                          1471266399579.0 / 7840856788654,
                          -4482444167858.0 / 7529755066697,
                          11266239266428.0 / 11593286722821};
constexpr double kC3[] = {0.0, 2.0 * kGamma3, 0.6, 1.0};
constexpr double kE3[] = {kA3[3] - 2756255671327.0 / 12835298489170, kA3[4] + 10771552573575.0 / 22201958757719,
                          kA3[5] - 9247589265047.0 / 10645013368117, kGamma3 - 2193209047091.0 / 5459859503100};
constexpr double kA4[] = {1.0 / 4,
                          8611.0 / 62500,
                          -1743.0 / 31250,
                          5012029.0 / 34652500,
                          -654441.0 / 2922500,
                          174375.0 / 388108,
                          15267082809.0 / 155376265600,
                          -71443401.0 / 120774400,
                          730878875.0 / 902184768,
                          2285395.0 / 8070912,
                          82889.0 / 524892,
                          0.0,
                          15625.0 / 83664,
                          69875.0 / 102672,
                          -2260.0 / 8211};
constexpr double kC4[] = {0.0, 1.0 / 2, 83.0 / 250, 31.0 / 50, 17.0 / 20, 1.0};
constexpr double kE4[] = {kA4[10] - 4586570599.0 / 29645900160, 0.0,
                          kA4[12] - 178811875.0 / 945068544,    kA4[13] - 814220225.0 / 1159782912,
                          kA4[14] + 3700637.0 / 11593932,       0.25 - 61727.0 / 225920};
constexpr EsdirkTableau kOrder3{4, kGamma3, kA3, kC3, kE3, 2}, kOrder4{6, kGamma4, kA4, kC4, kE4, 3};

constexpr double kSolvedStage = 0.01;
constexpr double kSafetyEsdirk = 0.85, kMostGrowthEsdirk = 5.0, kLeastGrowthEsdirk = 1.2;
constexpr int kTurns = 3;  // of the iteration for ξ, which gains more digits in each than a step has radians

}  // namespace

Esdirk::Esdirk(Dynamics& dynamics, Implicit& implicit, const Tolerances& tolerances, int order)
    : dynamics_(dynamics),
      implicit_(implicit),
      tableau_(order >= 4 ? kOrder4 : kOrder3),
      equation_(dynamics, implicit, kSolvedStage),
      tolerances_(tolerances),
      weights_(dynamics, tolerances, dynamics.tangent_size()),
      components_(std::max(1, 2 * dynamics.velocity_components())) {
    const int n = dynamics.tangent_size();
    for (auto* k : {&kx_, &ku_}) k->assign(tableau_.stages, std::vector<double>(n, 0.0));
    for (auto* v : {&xi_, &from_xi_, &from_u_, &weight_, &shift_, &change_, &within_}) v->assign(n, 0.0);
    for (auto* x : {&start_x_, &end_x_}) x->assign(dynamics.configuration_size(), 0.0);
    for (auto* u : {&start_u_, &end_u_, &end_rate_}) u->assign(n, std::numeric_limits<double>::quiet_NaN());
}

void Esdirk::restart() {
    for (auto* u : {&start_u_, &end_u_}) std::ranges::fill(*u, std::numeric_limits<double>::quiet_NaN());
    equation_.restart();
}

// The acceleration at the start is that which the last stage before has found: asked for again, what is stiff would
// make much of the little that the stage has left.
StepOutcome Esdirk::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    const int n = dynamics_.tangent_size(), last = tableau_.stages - 1;
    const auto is = [&](const std::vector<double>& sx, const std::vector<double>& su) {
        return std::equal(su.begin(), su.end(), u) && std::equal(sx.begin(), sx.end(), x);
    };
    if (!is(start_x_, start_u_)) {
        if (is(end_x_, end_u_))
            std::ranges::copy(end_rate_, ku_[0].begin());
        else
            dynamics_.accelerate(t, x, u, ku_[0].data());
        std::copy_n(x, start_x_.size(), start_x_.begin());
        std::copy_n(u, n, start_u_.begin());
    }
    std::copy_n(u, n, kx_[0].begin());
    for (int i = 0; i < n; ++i) weight_[i] = weights_.velocity(i, std::abs(u[i]));
    if (h != h_) equation_.stretch();
    h_ = h;

    implicit_.meet_accelerations(true);
    StepOutcome outcome;
    outcome.order = tableau_.embedded + 1;
    for (int stage = 1; stage <= last; ++stage) {
        converged_ = find_stage(stage, t, h, x, u, x1, u1);
        if (!converged_) {
            outcome.error = 1e6;
            return outcome;
        }
    }
    std::copy_n(u1, n, end_u_.begin());
    const auto impacts = dynamics_.statistics().impacts;
    outcome.error = error_of(h);
    outcome.constraints_met = implicit_.finish_corrected_step(t + h, x1, u1);
    outcome.impact = dynamics_.statistics().impacts != impacts;
    if (!outcome.impact) {  // what was off the constraints is an error of the step
        for (int i = 0; i < n; ++i) change_[i] = u1[i] - end_u_[i];
        std::ranges::fill(shift_, 0.0);
        outcome.error = std::max(outcome.error, norm(shift_.data(), change_.data()));
    }
    std::copy_n(x1, end_x_.size(), end_x_.begin());
    std::copy_n(u1, n, end_u_.begin());
    return outcome;
}

// Velocities are predicted by the slope of the stage before: along it the start's, of which stiff parts are none of the
// motion, has no say from the second stage on.
bool Esdirk::find_stage(int stage, double t, double h, const double* x, const double* u, double* x1, double* u1) {
    const int n = dynamics_.tangent_size();
    const double gamma = h * tableau_.gamma, *a = tableau_.a + stage * (stage - 1) / 2;
    std::ranges::fill(from_xi_, 0.0);
    std::copy_n(u, n, from_u_.begin());
    for (int j = 0; j < stage; ++j) {
        const double w = h * a[j];
        for (int i = 0; i < n; ++i) {
            from_xi_[i] += w * kx_[j][i];
            from_u_[i] += w * ku_[j][i];
        }
    }
    std::vector<double>&kx = kx_[stage], &ku = ku_[stage];
    for (int i = 0; i < n; ++i) u1[i] = from_u_[i] + gamma * ku_[stage - 1][i];
    for (int i = 0; i < n; ++i) xi_[i] = from_xi_[i] + gamma * kx_[stage - 1][i];
    const auto follow = [&](const double* speed, double* at, double* rate) {
        for (int turn = 0; turn < kTurns; ++turn) {
            dynamics_.chart_rate(xi_.data(), speed, kx.data());
            for (int i = 0; i < n; ++i) xi_[i] = from_xi_[i] + gamma * kx[i];
        }
        dynamics_.retract(x, xi_.data(), at);
        std::fill_n(rate, n, 0.0);
        dynamics_.add_frame_rates(xi_.data(), speed, rate);
        for (int i = 0; i < n; ++i) {
            ku[i] = (speed[i] - from_u_[i]) / gamma;
            end_rate_[i] = rate[i] = ku[i] - rate[i];
        }
    };
    const auto size = [&](const double* delta) {
        for (int i = 0; i < n; ++i) shift_[i] = gamma * delta[i];
        return norm(shift_.data(), delta);
    };
    return equation_.solve(t + tableau_.c[stage] * h, gamma, stage > 1, x1, u1, follow, size);
}

// The estimate is multiplied by (I − γh ∂u̇/∂u − (γh)² ∂u̇/∂x)⁻¹, for the embedded solution does not damp what is stiff
// (L. F. Shampine, L. S. Baca, Error estimators for stiff differential equations, 1984).
double Esdirk::error_of(double h) {
    const size_t n = shift_.size();
    std::ranges::fill(shift_, 0.0);
    std::ranges::fill(from_u_, 0.0);
    for (int s = 0; s < tableau_.stages; ++s) {
        const double w = h * tableau_.estimate[s];
        for (size_t i = 0; i < n; ++i) {
            shift_[i] += w * kx_[s][i];
            from_u_[i] += w * ku_[s][i];
        }
    }
    implicit_.solve_linearized(from_u_.data(), change_.data());
    return norm(shift_.data(), change_.data());
}

// Root mean square in units of the tolerance.
double Esdirk::norm(const double* position, const double* velocity) const {
    double sum = 0.0;
    for (size_t i = 0; i < weight_.size(); ++i) {
        const double x = weights_.displacement(static_cast<int>(i)) * position[i], u = weight_[i] * velocity[i];
        sum += x * x + u * u;
    }
    return std::sqrt(sum / components_);
}

double Esdirk::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    equation_.step_taken();
    const double factor = kSafetyEsdirk * std::pow(std::max(outcome.error, 1e-10), -1.0 / (tableau_.embedded + 1));
    if (factor >= 1.0 && factor < kLeastGrowthEsdirk) return h;
    return h * std::clamp(factor, 0.2, after_refusal ? 1.0 : kMostGrowthEsdirk);
}

double Esdirk::refused(double h, const StepOutcome& outcome) {
    if (!converged_) return 0.25 * h;
    return h * std::clamp(kSafetyEsdirk * std::pow(outcome.error, -1.0 / (tableau_.embedded + 1)), 0.1, 0.9);
}

// Cubic in the chart and in the velocity, from both ends and the rates there, then moved by what projections have
// moved the end.
void Esdirk::interpolate(double theta, const double* x, const double* u, const double*, const double* u1, double* x_out,
                         double* u_out) {
    const double rest = 1.0 - theta;
    const size_t last = tableau_.stages - 1;
    const auto cubic = [&](double delta, double begin, double end) {
        const double r3 = h_ * begin - delta, r4 = delta - h_ * end - r3;
        return theta * (delta + rest * (r3 + theta * r4));
    };
    for (size_t i = 0; i < within_.size(); ++i) {
        within_[i] = cubic(xi_[i], kx_[0][i], kx_[last][i]);
        u_out[i] = u[i] + cubic(u1[i] - u[i], ku_[0][i], ku_[last][i]);
    }
    dynamics_.retract(x, within_.data(), x_out);
}

}  // namespace bellcrank
