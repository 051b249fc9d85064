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

// The stages of a step of Dormand and Prince: what they find, and what is found along the way.
class DopriStages {
  public:
    static constexpr int kStages = 6;  // before the end of the step
    static constexpr double kA[] = {1.0 / 5,       3.0 / 40,       9.0 / 40,        44.0 / 45,      -56.0 / 15,
                                    32.0 / 9,      19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729,
                                    9017.0 / 3168, -355.0 / 33,    46732.0 / 5247,  49.0 / 176,     -5103.0 / 18656};
    static constexpr double kB[] = {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84};
    static constexpr double kC[] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0};
    // Of the continuous extension beyond the cubic Hermite part (Hairer, Nørsett, Wanner I, section II.6); the last one
    // is of the end of the step.
    static constexpr double kD[] = {-12715105075.0 / 11282082432.0,  0.0,
                                    87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
                                    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
                                    69997945.0 / 29380423.0};
    // The weights of the stages before one.
    static const double* before(int stage) { return kA + stage * (stage - 1) / 2; }

    struct Stage {
        int number;
        double time;
        const double *x, *u, *udot;
    };

    DopriStages(Dynamics& dynamics, Projection& projection);
    // Chart rates and accelerations at all stages of a step; those of the first may be known. Calls `visit` with each
    // stage right after its acceleration.
    template <class Visit>
    void find(double t, double h, const double* x, const double* u, bool first_known, const Visit& visit) {
        for (int s = first_known ? 1 : 0; s < kStages; ++s) {
            combine(h, before(s), s, u);
            // The second stage is one of Euler; with the acceleration known its position is one order better.
            const double square = 0.5 * kC[s] * h * kC[s] * h;
            if (s == 1)
                for (size_t i = 0; i < xi.size(); ++i) xi[i] += square * ku[0][i];
            dynamics_.retract(x, xi.data(), xs_.data());
            if (s > 0) projection_.project_stage(t + kC[s] * h, xs_.data(), ui.data());
            const double time = t + kC[s] * h, *at = s == 0 ? x : xs_.data();
            dynamics_.accelerate(time, at, ui.data(), ku[s].data());
            visit(Stage{s, time, at, ui.data(), ku[s].data()});
            dynamics_.add_frame_rates(xi.data(), ui.data(), ku[s].data());
            dynamics_.chart_rate(xi.data(), ui.data(), kx[s].data());
        }
    }
    // ξ and u of x0 ⊕ ξ after h with weights of the first stages: into xi and ui.
    void combine(double h, const double* weights, int count, const double* u);

    std::vector<std::vector<double>> kx, ku;  // of the stages, and of the end of the step
    std::vector<double> xi, ui;

  private:
    Dynamics& dynamics_;
    Projection& projection_;
    std::vector<double> xs_;
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
    struct DoubtfulStage {
        double time = 0.0, pivot = 1.0;
        std::vector<double> x, u, rate;

        void keep(const DopriStages::Stage& at, double least, size_t configuration, size_t tangent) {
            time = at.time, pivot = least;
            x.assign(at.x, at.x + configuration);
            u.assign(at.u, at.u + tangent), rate.assign(at.udot, at.udot + tangent);
        }
    };

    double error_norm(double h, const double* x, const double* u, const double* u1) const;

    Dynamics& dynamics_;
    Projection& projection_;
    DopriStages stages_;
    RoundingSample rounding_;
    Tolerances tolerances_;
    ErrorWeights weights_;
    double components_;  // of displacement and velocity together
    double h_ = 0.0;
    DoubtfulStage doubtful_;
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
