// Explicit Runge–Kutta methods by their tableau.
#pragma once

#include "integrate/error_weights.hpp"
#include "integrate/stepper.hpp"

namespace bellcrank {

struct Tableau {
    int stages;
    const double* a;  // strictly lower triangle, row by row
    const double* b;
    const double* c;
};

class RungeKutta : public Stepper {
  public:
    RungeKutta(const System& system, const Tableau& tableau);

  protected:
    // Stage derivatives of the step; stage 0 is computed unless it is known already.
    void stages(System& system, double t, double h, const double* x, const double* u, bool first_known);
    // ξ and u of x0 ⊕ ξ after h with weights b: into xi_ and ui_.
    void combine(double h, const double* weights, int count, const double* u);

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

    Tableau tableau_;
    Stage doubtful_;
    std::vector<std::vector<double>> kx_, ku_;  // chart rates and accelerations per stage
    std::vector<double> xi_, ui_, xs_;
};

// The fourth-order method of E. J. Nyström (1925) for second-order equations (Hairer, Nørsett, Wanner I, section
// II.14): the classical Runge–Kutta method with positions of its stages one order more accurate, which keeps them close
// to the constraints; the two stages in the middle share one configuration, and so one factorization.
class Nystrom4 final : public Stepper {
  public:
    explicit Nystrom4(const System& system);
    double energy_swing() const override { return 0.2; }
    StepOutcome step(System& system, double t, double h, const double* x, const double* u, double* x1,
                     double* u1) override;

  private:
    void predict(double h, double alpha, double beta, int p, double gamma, int v, const double* u);

    std::vector<double> k_[4];  // ξ̈ of the stages
    std::vector<double> xi_, rate_, us_, xs_, acceleration_;
};

// Dormand–Prince 5(4): J. R. Dormand, P. J. Prince, A family of embedded Runge–Kutta formulae (1980), RK5(4)7M, with
// the fourth-order continuous extension of E. Hairer, S. Nørsett, G. Wanner, Solving Ordinary Differential Equations I.
class DormandPrince final : public RungeKutta {
  public:
    DormandPrince(const System& system, const Tolerances& tolerances);
    bool adaptive() const override { return true; }
    double first_step(double speed, double acceleration) const override;
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    double rounding(System& system, double t, double h, const double* x1, const double* u1) override;
    void restart() override;
    StepOutcome step(System& system, double t, double h, const double* x, const double* u, double* x1,
                     double* u1) override;
    void interpolate(const System& system, double theta, const double* x, const double* u, const double* x1,
                     const double* u1, double* x_out, double* u_out) override;

  private:
    double error_norm(double h, const double* x, const double* u, const double* u1) const;

    Tolerances tolerances_;
    ErrorWeights weights_;
    double components_;  // of displacement and velocity together
    double h_ = 0.0;
    std::vector<double> start_x_, start_u_;  // the state of stage 1
    std::vector<double> end_x_, end_u_;      // the projected end, whose derivative is stage 7
    std::vector<double> end_rate_;           // u̇ there
    std::vector<double> within_;             // a displacement within the step
};

// Velocities first, then positions along them: first order.
std::unique_ptr<Stepper> make_semi_implicit_euler(const System& system);

}  // namespace bellcrank
