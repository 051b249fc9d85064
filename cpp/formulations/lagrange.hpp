// Lagrange multipliers in maximal coordinates (A. Tasora, An optimized Lagrangian-multiplier approach for interactive
// multibody simulation): accelerations (eq. 35) with the rows and the factorization of bodies/closing.hpp, which
// corrects positions (36) and velocities (37). Six unknowns per body, quaternions without rows of their own
// (section 4.2).
#pragma once

#include <memory>
#include <vector>

#include "bodies/closing.hpp"
#include "impulses/impulse_step.hpp"

namespace bellcrank {

class Lagrange final : public Closing {
  public:
    Lagrange(std::shared_ptr<const Model> model, const RefinedClosingOptions& options);

    void accelerate(double t, const double* x, const double* u, double* udot) override;
    bool finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) override;
    void correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) override;
    bool finish_corrected_step(double t, double* x, double* u) override;
    void meet_accelerations(bool stages) override { meets_accelerations_ = stages; }
    ImpulseOutcome strike(double t, const double* x, const std::vector<Blow>& blows,
                          const std::vector<StruckPoint>& points, double tolerance, double* u,
                          std::vector<Vec3>& told) override;
    ImpulseOutcome step_by_impulses(double t, double h, const double* x, const double* u, double tolerance, double* x1,
                                    double* u1) override;

  private:
    void accelerate_held(double t, const double* x, const double* u, double* udot);
    void accelerate_in_stages(double t, const double* x, const double* u, double* udot);
    void solve_with_stops(std::vector<double>& lambda);
    bool respond(const std::vector<double>& efforts, double* v, std::vector<double>& mu) final;
    // Of the multipliers, which it is added to, in residual_.
    void find_correction(double t, const double* x, const double* u, const double* udot);
    void refine_acceleration(double t, const double* x, const double* u, double* udot);
    void accelerate_precisely(double t, const double* x, const double* u, double* udot);
    double size_of_accelerations() const;
    void refine(double t, const double* x, const double* u, double* udot);
    bool finish_positions(double t, double* x);
    bool finish_velocities(double t, const double* x, double* u, double stale);
    void finish_acceleration(double t, const double* x, const double* u, double stale, double* udot);
    bool corrects_rows() const;
    ImpulseStep& impulses();

    bool meets_accelerations_ = false;           // in the corrections of implicit methods
    double largest_free_ = 0.0;                  // component of the accelerations that forces alone would give
    std::unique_ptr<ImpulseStep> impulse_step_;  // of methods that step by impulses, and of those who strike
    std::vector<double> impulse_, residual_;     // rows
};

}  // namespace bellcrank
