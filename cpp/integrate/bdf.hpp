// Backward differentiation formulas of orders 1 to 5 with variable steps, for stiff mechanisms.
#pragma once

#include "integrate/adams_coefficients.hpp"
#include "integrate/bdf_order.hpp"
#include "integrate/newton.hpp"
#include "integrate/stepper.hpp"

namespace bellcrank {

// C. W. Gear's formulas (Numerical Initial Value Problems in Ordinary Differential Equations, 1971) with histories as
// scaled derivatives, in the form for steps of varying length of G. D. Byrne, A. C. Hindmarsh (A polyalgorithm for the
// numerical solution of ordinary differential equations, 1975).
//
// Velocities and configurations have a history each. That of the configurations is the velocity of the curve through
// the past ones, in the axes of the moving body: so it needs no chart, and goes on from any end of a step as it is. A
// correction e of the configuration adds Λ(s) e to the curve, whose part in the velocity is Λ'(0) e/h, and this alone
// makes the method implicit: u = u_predicted + e/γ, γ = h/Λ'(0).
class Bdf final : public AdaptiveStepper {
  public:
    Bdf(Dynamics& dynamics, Implicit& implicit, const Tolerances& tolerances, int max_order);
    double first_step(double, double acceleration) const override {
        return first_step_of_order_1(tolerances_, acceleration);
    }
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    // Whether oscillations without damping keep the order low.
    bool vibrates() const { return stable_.highest() < std::min(max_order_, kMaxBdfOrder); }
    void restart() override { fresh_ = true; }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;
    void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1, double* x_out,
                     double* u_out) override;

  private:
    double* position(int j) { return positions_.data() + static_cast<size_t>(j) * stride_; }
    double* way(int j) { return work_.data() + static_cast<size_t>(j) * stride_; }
    double* velocity(int j) { return velocities_.data() + static_cast<size_t>(j) * stride_; }
    void begin(double t, double h, const double* x, const double* u);
    void rescale(double h);
    void measure_distances();
    void predict(const double* x);
    bool solve(double t, double* x1, double* u1);
    double error_of(const double* u1);
    void weigh();
    double norm(const double* position, const double* velocity) const;
    int choose_order(double error, double& factor);
    void correct(int next);
    void raise_order();
    void lower_order();

    Dynamics& dynamics_;
    Implicit& implicit_;
    int size_, stride_;  // doubles of a velocity, without and with padding
    int max_order_;
    StableOrders stable_;
    StepEquation equation_;
    Tolerances tolerances_;
    ErrorWeights weights_;
    AdamsCoefficients coefficients_;  // of Λ

    int order_ = 1;
    bool fresh_ = true;                             // no history yet
    int wait_ = 0;                                  // steps until another order is considered
    int refusals_ = 0;                              // of the step at hand
    double h_ = 0.0;                                // the step that the histories are scaled with
    double past_[kMaxBdfOrder + 3] = {};            // lengths of the steps before, latest first
    double xi_[kMaxBdfOrder + 3] = {};              // ξ_i
    std::vector<double> positions_, velocities_;    // hʲ x⁽ʲ⁾/j!, j = 1 … order, and hʲ u⁽ʲ⁾/j!, j = 0 … order
    std::vector<double> pose_, speed_, rate_;       // predicted x and u, and h u̇
    std::vector<double> slope_;                     // h u as predicted by the configurations
    std::vector<double> shift_, change_;            // corrections of configuration and velocity: end less prediction
    std::vector<double> last_shift_, last_change_;  // of the step before
    double last_scale_ = 0.0;                       // h^(q+1) Π ξ_i of that one; 0 if it is not comparable
    std::vector<double> delta_, udot_, weight_, work_, other_;
    double components_;
    double gamma_ = 0.0;  // h/Λ'(0) of the step
    bool converged_ = true;
};

}  // namespace bellcrank
