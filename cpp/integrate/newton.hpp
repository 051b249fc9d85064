// Newton's method for the equations of implicit methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// Solves u̇(t, x(u), u) = rate(u), where x moves by γ with u and the rate by 1/γ, and keeps what was factored for as
// long as it serves: derivatives for many steps, factors while γ stays nearly the same.
class StepEquation {
  public:
    // solved: what the iteration may leave, in units of the tolerance of a step.
    StepEquation(Dynamics& dynamics, Implicit& implicit, double solved);

    // The motion goes on otherwise; steps have another length; a step was taken; the last attempt has not converged.
    void restart() { renew_ = true; }
    void stretch() { contraction_ = 1.0; }
    void step_taken() { ++age_; }
    // Someone else has linearized for another γ, with the same derivatives.
    void linearize_again(double t, const double* x, const double* u);

    // From the prediction u1. `follow` sets the configuration and the rate that go with a velocity; `size` measures a
    // correction δ of it, 1 being the tolerance of the step. `again`: the last equation is of the same step, and its
    // factors serve. False if it does not converge; x1 and u1 are then anything.
    template <class Follow, class Size>
    bool solve(double t, double gamma, bool again, double* x1, double* u1, const Follow& follow, const Size& size);

  private:
    static constexpr double kDivergence = 2.0;  // ratio of successive corrections
    static constexpr int kMostIterations = 4;
    static constexpr int kManyIterations = 2;    // then the factors have aged
    static constexpr double kOtherGamma = 0.15;  // change of γ that asks for new factors
    static constexpr int kOldAge = 40;           // steps that derivatives are kept

    void linearize(double t, const double* x, const double* u, double gamma, bool renew);
    template <class Follow, class Size>
    bool iterate(double t, double gamma, bool renew, bool linearize_first, double* x1, double* u1, const Follow& follow,
                 const Size& size);

    Implicit& implicit_;
    const double solved_;
    std::vector<double> rate_, delta_, start_;
    double linearized_at_ = 0.0;  // γ of the linearization; 0: none
    int age_ = 0;                 // steps since derivatives were renewed
    bool renew_ = true, slow_ = false;
    double contraction_ = 1.0;
};

template <class Follow, class Size>
bool StepEquation::solve(double t, double gamma, bool again, double* x1, double* u1, const Follow& follow,
                         const Size& size) {
    const bool cheap = implicit_.linearizes_cheaply(), renew = renew_ || linearized_at_ == 0.0 || age_ >= kOldAge;
    const bool other = renew || slow_ || (cheap && !again) || std::abs(gamma / linearized_at_ - 1.0) > kOtherGamma;
    std::copy_n(u1, start_.size(), start_.begin());
    if (iterate(t, gamma, renew, other, x1, u1, follow, size)) return true;
    if (renew || (cheap && other)) {
        renew_ = true;
        return false;
    }
    std::copy(start_.begin(), start_.end(), u1);
    renew_ = !iterate(t, gamma, true, true, x1, u1, follow, size);
    return !renew_;
}

template <class Follow, class Size>
bool StepEquation::iterate(double t, double gamma, bool renew, bool linearize_first, double* x1, double* u1,
                           const Follow& follow, const Size& size) {
    double last = 0.0;
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
        follow(u1, x1, rate_.data());
        if (linearize_first && iteration == 0) linearize(t, x1, u1, gamma, renew);
        implicit_.correct(t, x1, u1, rate_.data(), gamma, delta_.data());
        for (size_t i = 0; i < delta_.size(); ++i) u1[i] += delta_[i];
        const double now = size(delta_.data());
        if (!std::isfinite(now)) return false;
        if (iteration > 0) {
            contraction_ = std::max(0.3 * contraction_, now / last);
            if (now > kDivergence * last) return false;
        }
        if (now * std::min(1.0, 1.5 * contraction_) <= solved_) {
            slow_ = iteration >= kManyIterations;
            follow(u1, x1, rate_.data());
            return true;
        }
        last = now;
    }
    return false;
}

}  // namespace bellcrank
