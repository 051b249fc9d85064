// Steps by impulses.
#pragma once

#include <array>
#include <vector>

#include "integrate/stepper.hpp"

namespace bellcrank {

// Contacts, limits, drives and joints by one problem of impulses in each step (docs/theory/impulses.md): first order,
// fixed steps. Where no impulses are found for a step, as in one of some thousand while sets of sticking points change,
// its halves are tried, whose geometry is another.
class Moreau final : public FixedStepper {
  public:
    Moreau(const Manifold& manifold, Impulses& impulses, double tolerance)
        : manifold_(manifold), impulses_(impulses), tolerance_(tolerance) {}
    bool by_impulses() const override { return true; }
    // An oscillation of frequency ω conserves T + (1 − (ω h)²/4) V, as Verlet's method does: up to ω h = 1.6 a swing
    // by 3.
    double energy_swing() const override { return 3.0; }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override {
        StepOutcome outcome;
        outcome.impulses = in_parts(t, h, x, u, x1, u1, 0);
        outcome.constraints_met = outcome.impulses.constraints_met;
        return outcome;
    }

  private:
    static constexpr int kHalvings = 3;
    struct Middle {
        std::vector<double> x, u;
    };

    // NOLINTNEXTLINE(misc-no-recursion): at most kHalvings deep
    ImpulseOutcome in_parts(double t, double h, const double* x, const double* u, double* x1, double* u1, int halved) {
        const ImpulseOutcome whole = impulses_.step_by_impulses(t, h, x, u, tolerance_, x1, u1);
        if ((whole.found && whole.constraints_met) || halved == kHalvings) return whole;
        Middle& middle = middle_[halved];
        middle.x.resize(manifold_.configuration_size());
        middle.u.resize(manifold_.tangent_size());
        ImpulseOutcome first = in_parts(t, 0.5 * h, x, u, middle.x.data(), middle.u.data(), halved + 1);
        if (!first.found || !first.constraints_met) return first;
        ImpulseOutcome second = in_parts(t + 0.5 * h, 0.5 * h, middle.x.data(), middle.u.data(), x1, u1, halved + 1);
        second.add(first);
        ++second.halved;
        return second;
    }

    const Manifold& manifold_;
    Impulses& impulses_;
    double tolerance_;  // on the residual of impulses
    std::array<Middle, kHalvings> middle_;
};

}  // namespace bellcrank
