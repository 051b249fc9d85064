// Explicit one-step methods.
#pragma once

#include "integrate/stepper.hpp"

namespace bellcrank {

// The fourth-order method of E. J. Nyström (1925) for second-order equations (Hairer, Nørsett, Wanner I, section
// II.14): the classical Runge–Kutta method with positions of its stages one order more accurate, which keeps them close
// to the constraints; the two stages in the middle share one configuration, and so one factorization.
class Nystrom4 final : public FixedStepper {
  public:
    Nystrom4(Dynamics& dynamics, Projection& projection);
    double energy_swing() const override { return 0.2; }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;

  private:
    void predict(double h, double alpha, double beta, int p, double gamma, int v, const double* u);

    Dynamics& dynamics_;
    Projection& projection_;
    std::vector<double> k_[4];  // ξ̈ of the stages
    std::vector<double> xi_, rate_, us_, xs_, acceleration_;
};

// Dormand–Prince 5(4): J. R. Dormand, P. J. Prince, A family of embedded Runge–Kutta formulae (1980), RK5(4)7M, with
// the fourth-order continuous extension of E. Hairer, S. Nørsett, G. Wanner, Solving Ordinary Differential Equations I.
class DormandPrince final : public AdaptiveStepper {
  public:
    DormandPrince(Dynamics& dynamics, Projection& projection, const Tolerances& tolerances);
    double first_step(double speed, double acceleration) const override;
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    double rounding(double t, double h, const double* x1, const double* u1) override;
    void restart() override;
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;
    void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1, double* x_out,
                     double* u_out) override;

  private:
    // The stage of the step whose rows were nearest to depending on each other, where that is near.
    struct Stage {
        double time = 0.0, pivot = 1.0;
        std::vector<double> x, u, rate;

        void keep(double at, double least, const std::vector<double>& position, const std::vector<double>& velocity,
                  const std::vector<double>& acceleration) {
            time = at, pivot = least;
            x = position, u = velocity, rate = acceleration;
        }
    };

    // Stage derivatives of the step; stage 0 is computed unless it is known already.
    void stages(double t, double h, const double* x, const double* u, bool first_known);
    // ξ and u of x0 ⊕ ξ after h with weights b of the first stages: into xi_ and ui_.
    void combine(double h, const double* weights, int count, const double* u);
    double error_norm(double h, const double* x, const double* u, const double* u1) const;

    Dynamics& dynamics_;
    Projection& projection_;
    RoundingSample rounding_;
    Tolerances tolerances_;
    ErrorWeights weights_;
    double components_;  // of displacement and velocity together
    double h_ = 0.0;
    Stage doubtful_;
    std::vector<std::vector<double>> kx_, ku_;  // chart rates and accelerations per stage
    std::vector<double> xi_, ui_, xs_;
    std::vector<double> start_x_, start_u_;  // the state of stage 1
    std::vector<double> end_x_, end_u_;      // the projected end, whose derivative is stage 7
    std::vector<double> end_rate_;           // u̇ there
    std::vector<double> within_;             // a displacement within the step
};

// Velocity first, then the configuration along the new velocity: symplectic for conservative systems without
// constraints, first order, one evaluation per step.
class SemiImplicitEuler final : public FixedStepper {
  public:
    SemiImplicitEuler(Dynamics& dynamics, Projection& projection)
        : dynamics_(dynamics), projection_(projection), work_(dynamics.tangent_size(), 0.0) {}
    // An oscillation of frequency ω conserves T + V − ½ h ω² x v, not T + V: up to ω h = 1.9, of 2, that is a swing
    // by 39.
    double energy_swing() const override { return 50.0; }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;

  private:
    Dynamics& dynamics_;
    Projection& projection_;
    std::vector<double> work_;
};

}  // namespace bellcrank
