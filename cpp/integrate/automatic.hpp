// Adams methods until the motion is stiff, then backward differentiation formulas.
#pragma once

#include <memory>

#include "integrate/adams.hpp"
#include "integrate/bdf.hpp"

namespace bellcrank {

// L. Petzold, Automatic selection of methods for solving stiff and nonstiff systems of ordinary differential equations,
// SIAM J. Sci. Stat. Comput. 4 (1983), has the idea and the two families. Here steps of Adams methods show themselves
// when stability limits them. From there on the motion is taken as stiff: a mechanism keeps its stiff springs and
// dampers. Where bdf cannot go on from there, for its steps vanish, the motion was no stiff one: at a singular pose,
// say, accelerations follow rounding. Then Adams methods go on to the end.
class Automatic final : public Stepper {
  public:
    Automatic(const System& system, const MethodSettings& settings);
    bool adaptive() const override { return true; }
    bool stiff() const override { return bdf_ != nullptr; }
    bool taken_back() const override { return mistaken_; }
    double first_step(double speed, double acceleration) const override;
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    double rounding(System& system, double t, double h, const double* x1, const double* u1) override;
    void restart() override { active().restart(); }
    long long difference_evaluations() const override { return active().difference_evaluations(); }
    StepOutcome step(System& system, double t, double h, const double* x, const double* u, double* x1,
                     double* u1) override;
    void interpolate(const System& system, double theta, const double* x, const double* u, const double* x1,
                     const double* u1, double* x_out, double* u_out) override;

  private:
    Stepper& active() { return bdf_ ? static_cast<Stepper&>(*bdf_) : adams_; }
    const Stepper& active() const { return bdf_ ? static_cast<const Stepper&>(*bdf_) : adams_; }

    const MethodSettings settings_;
    Adams adams_;
    std::unique_ptr<Bdf> bdf_;
    double begun_ = 0.0;     // first step of bdf [s]
    bool mistaken_ = false;  // the motion was not stiff
};

}  // namespace bellcrank
