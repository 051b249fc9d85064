// Implicit Runge–Kutta methods for stiff mechanisms whose vibrations nothing damps.
#pragma once

#include "integrate/newton.hpp"
#include "integrate/stepper.hpp"

namespace bellcrank {

// A method of stages that each depend on those before and on themselves by the same γ; the first one is the start of
// the step, the last one its end, and all that come between have the stage order 2.
struct EsdirkTableau {
    int stages;
    double gamma;
    const double *a, *c;     // rows one below the other, without diagonal; times
    const double* estimate;  // weights of the end less those of the embedded solution
    int embedded;            // order of the latter
};

// C. A. Kennedy, M. H. Carpenter, Additive Runge–Kutta schemes for convection–diffusion–reaction equations, Applied
// Numerical Mathematics 44 (2003): the implicit parts of ARK3(2)4L[2]SA and ARK4(3)6L[2]SA. Both are L-stable: what a
// step does not resolve is damped, and nothing ever grows. Steps have no history, so they go on at once after an event.
//
// A stage is the equation that Implicit solves, in the chart about the start of the step:
//   ξ = Ξ + γh ξ̇(ξ, u),  u = Υ + γh u̇(t, x ⊕ ξ, u),
// Ξ and Υ from the stages before.
class Esdirk final : public AdaptiveStepper {
  public:
    // order: 4, or 3 and below.
    Esdirk(Dynamics& dynamics, Implicit& implicit, const Tolerances& tolerances, int order);
    double first_step(double, double acceleration) const override {
        return first_step_of_order_1(tolerances_, acceleration);
    }
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    void restart() override;
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;
    void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1, double* x_out,
                     double* u_out) override;

  private:
    bool find_stage(int stage, double t, double h, const double* x, const double* u, double* x1, double* u1);
    double error_of(double h);
    double norm(const double* position, const double* velocity) const;

    Dynamics& dynamics_;
    Implicit& implicit_;
    const EsdirkTableau& tableau_;
    StepEquation equation_;
    const Tolerances tolerances_;
    const ErrorWeights weights_;
    const double components_;
    std::vector<std::vector<double>> kx_, ku_;      // ξ̇ and the rate of u in the chart, by stage
    std::vector<double> xi_, from_xi_, from_u_;     // ξ of the stage; Ξ, Υ
    std::vector<double> weight_, shift_, change_;   // of velocities; corrections, errors
    std::vector<double> start_x_, start_u_;         // the state of stage 0
    std::vector<double> end_x_, end_u_, end_rate_;  // the projected end, and u̇ there
    std::vector<double> within_;                    // a displacement within the step
    double h_ = 0.0;
    bool converged_ = true;
};

}  // namespace bellcrank
