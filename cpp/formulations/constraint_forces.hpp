// Bodies that come together: forces that make every constraint error die out like a critically damped oscillator
// (P. Schröder, The Virtual Erector Set (1990), chapter 5.2, after R. Barzel and A. Barr), found without a matrix.
#pragma once

#include <memory>
#include <vector>

#include "formulations/lagrange.hpp"
#include "linalg/lsqr.hpp"

namespace bellcrank {

struct ConstraintForceOptions {
    double time_constant = 0.1;  // τ of  C̈ + 2/τ Ċ + C/τ² = 0 [s]
    bool released = false;       // applied forces act and time goes on; else drives stand still at `held_time`, and the
                                 // bodies move through a drag that stops them within the same time
    double held_time = 0.0;
};

// Nothing is projected: errors are what this is about. The chart and the angles are those of `lagrange`.
class ConstraintForces final : public System {
  public:
    ConstraintForces(std::shared_ptr<const Model> model, const ConstraintForceOptions& options);

    const Model& model() const override { return *model_; }
    int configuration_size() const override { return base_.configuration_size(); }
    int tangent_size() const override { return base_.tangent_size(); }
    int velocity_components() const override { return base_.velocity_components(); }
    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void retract(const double* x0, const double* xi, double* out) const override { base_.retract(x0, xi, out); }
    void chart_rate(const double* xi, const double* u, double* rate) const override { base_.chart_rate(xi, u, rate); }
    void chart_velocity(const double* xi, const double* rate, double* u) const override {
        base_.chart_velocity(xi, rate, u);
    }
    void chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const override {
        base_.chart_acceleration(xi, rate, udot, out);
    }
    void retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                       double* out) const override {
        base_.retract_along(h, x0, velocity, degree, stride, out);
    }
    void project_stage(double, double*, double*) override {}
    bool project(double, double*, double*) override { return true; }
    void commit(double t, const double* x, const double* u) override { base_.commit(t, x, u); }
    double longest_step(const double* x, const double* u, double h) override { return base_.longest_step(x, u, h); }
    // Multipliers and reactions are not a number: there are none yet. Nor are forces where none act.
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    Energy energy_at(double t, const double* x, const double* u) override { return base_.energy_at(time_of(t), x, u); }
    int worst_row() const override { return base_.worst_row(); }
    int first_non_finite_body(const double* x, const double* u) const override {
        return base_.first_non_finite_body(x, u);
    }
    const Statistics& statistics() const override { return statistics_; }

    Lagrange& base() { return base_; }
    // Iterations of LSQR so far.
    long long iterations() const { return iterations_; }

  private:
    double time_of(double t) const { return options_.released ? t : options_.held_time; }
    void required(double t, const double* x, const double* u, const double* udot);

    std::shared_ptr<const Model> model_;
    ConstraintForceOptions options_;
    Lagrange base_;
    ConstraintRows rows_;
    Lsqr lsqr_;
    Statistics statistics_;
    long long iterations_ = 0;
    std::vector<double> required_, steady_, speed_;  // rows: C̈ to be made, its part that time makes, Ċ
    std::vector<double> row_scale_;                  // 1/|row of Ĵ|, zero for rows that take no part
    std::vector<double> scaled_, product_, found_, at_rest_;
};

}  // namespace bellcrank
