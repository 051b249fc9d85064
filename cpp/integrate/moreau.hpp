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
    // What blows up gains more; what impulses leave of rest, and positions that are put right, gain less.
    double energy_swing() const override { return 1e3; }
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
