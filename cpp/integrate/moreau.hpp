// Steps by impulses.
#pragma once

#include "integrate/stepper.hpp"

namespace bellcrank {

// Contacts, limits, drives and joints by one problem of impulses in each step (docs/theory/impulses.md): first order,
// fixed steps.
class Moreau final : public Stepper {
  public:
    explicit Moreau(double tolerance) : tolerance_(tolerance) {}
    bool by_impulses() const override { return true; }
    // An oscillation of frequency ω conserves T + (1 − (ω h)²/4) V, as Verlet's method does: up to ω h = 1.6 a swing
    // by 3.
    double energy_swing() const override { return 3.0; }
    StepOutcome step(System& system, double t, double h, const double* x, const double* u, double* x1,
                     double* u1) override {
        StepOutcome outcome;
        outcome.impulses = system.step_by_impulses(t, h, x, u, tolerance_, x1, u1);
        outcome.constraints_met = outcome.impulses.constraints_met;
        return outcome;
    }

  private:
    double tolerance_;  // on the residual of impulses
};

}  // namespace bellcrank
