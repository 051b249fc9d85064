// Adams methods of orders 1 to 12 with variable steps.
#pragma once

#include "integrate/adams_coefficients.hpp"
#include "integrate/stepper.hpp"

namespace bellcrank {

// Predictor and corrector of Adams with the velocity's history as scaled derivatives (A. Nordsieck, On numerical
// integration of ordinary differential equations, 1962), in the form for steps of varying length of Byrne and
// Hindmarsh (1975), and local extrapolation as in L. F. Shampine, M. K. Gordon, Computer Solution of Ordinary
// Differential Equations, 1975. Poses are no part of the history: each step rebuilds them from the velocity's
// polynomial. A step takes two accelerations but one factorization. All but states is in free components (Manifold).
class Adams final : public AdaptiveStepper {
  public:
    Adams(Dynamics& dynamics, Projection& projection, const Tolerances& tolerances, int max_order);
    double first_step(double, double acceleration) const override {
        return first_step_of_order_1(tolerances_, acceleration);
    }
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    double rounding(double t, double h, const double* x1, const double* u1) override;
    void restart() override;
    // Whether stability and not accuracy has limited the last steps: an implicit method would take far longer ones.
    bool stiff() const override { return unstable_ >= kStiff; }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;
    void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1, double* x_out,
                     double* u_out) override;

  private:
    static constexpr int kStiff = 100;  // steps at the limit of stability, less those that are not

    double* history(int j) { return history_.data() + static_cast<size_t>(j) * stride_; }
    void begin(double t, double h, const double* x, const double* u);
    void rescale(double h);
    void measure_distances();
    void predict();
    void follow_time(const double* x);
    void correct_end(double velocity_part, double position_part, double* u1);
    void take_residual();
    void weigh();
    double norm(const double* v, double velocity_part, double position_part) const;
    // Error of the formula of an order, from its residual.
    double error_of(const double* residual, int order) const;
    int choose_order(double error, double& factor);
    void correct(int next);
    void lower_order();

    Dynamics& dynamics_;
    Projection& projection_;
    RoundingSample rounding_;
    int size_, stride_;  // free components of a velocity, without and with padding
    bool flat_;
    int max_order_;
    Tolerances tolerances_;
    AdamsCoefficients coefficients_;

    int order_ = 1;
    bool fresh_ = true;                             // no history yet
    bool starting_ = true;                          // orders and steps are still raised every step
    int refusals_ = 0;                              // of the step at hand
    bool complete_ = true;                          // it was corrected; else it has its prediction only
    int closed_stops_ = 0, end_stops_ = 0;          // at the start and at the end of the step
    double h_ = 0.0;                                // the step that the history is scaled with
    double past_[kMaxAdamsOrder + 2] = {};          // lengths of the steps before, latest first
    double xi_[kMaxAdamsOrder + 2] = {};            // ξ_i
    std::vector<double> history_;                   // hʲ u⁽ʲ⁾/j!, j = 0 … order
    std::vector<double> velocity_, slope_, along_;  // predicted u, h u̇ and ∫u
    std::vector<double> residual_, last_residual_;  // h u̇ less its prediction, of this step and the one before
    std::vector<double> change_;                    // of the residual in the last correction
    double left_ = 1.0;                             // of the first error of the last step
    double returned_ = 0.0;                         // of the first error of the step at hand, by its first correction
    int unstable_ = 0;                              // steps at the limit of stability, less others
    double last_scale_ = 0.0;                       // h^(q+1) Π ξ_i of that one; 0 if it is not comparable
    double components_;                             // of displacement and velocity together
    std::vector<double> weight_;                    // of an error of velocity
    std::vector<double> rate_, scaled_;
    std::vector<double> pose_, speed_, displacement_, acceleration_;  // all components
};

}  // namespace bellcrank
