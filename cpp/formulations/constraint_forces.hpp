// Bodies that come together: forces that make every constraint error die out like a critically damped oscillator
// (P. Schröder, The Virtual Erector Set (1990), chapter 5.2, after R. Barzel and A. Barr), found without a matrix.
#pragma once

#include <memory>
#include <vector>

#include "bodies/bodies.hpp"
#include "linalg/lsqr.hpp"

namespace bellcrank {

struct ConstraintForceOptions {
    double time_constant = 0.1;  // τ of  C̈ + 2/τ Ċ + C/τ² = 0 [s]
    bool released = false;       // applied forces act and time goes on; else drives stand still at `held_time`, and the
                                 // bodies move through a drag that stops them within the same time
    double held_time = 0.0;
};

// Nothing is projected: errors are what this is about.
class ConstraintForces final : public Bodies {
  public:
    ConstraintForces(std::shared_ptr<const Model> model, const ConstraintForceOptions& options);

    void accelerate(double t, const double* x, const double* u, double* udot) override;
    void break_times(double, double, std::vector<double>&) const override {}
    void project_stage(double, double*, double*) override {}
    bool project(double, double*, double*) override { return true; }
    int stops() const override { return 0; }  // rows act where they are violated
    // Multipliers and reactions are not a number: there are none yet. Nor are forces where none act.
    void observe(double t, const double* x, const double* u, const Observation& what, double* out) override;
    Energy energy_at(double t, const double* x, const double* u) override {
        return Bodies::energy_at(time_of(t), x, u);
    }

    // Iterations of LSQR so far.
    long long iterations() const { return iterations_; }

  private:
    double time_of(double t) const { return options_.released ? t : options_.held_time; }
    void required(double t, const double* x, const double* u, const double* udot);

    ConstraintForceOptions options_;
    Lsqr lsqr_;
    long long iterations_ = 0;
    std::vector<double> required_, steady_;  // rows: C̈ to be made, its part that time makes
    std::vector<double> row_scale_;          // 1/|row of Ĵ|, zero for rows that take no part
    std::vector<double> product_, found_, at_rest_;
};

}  // namespace bellcrank
