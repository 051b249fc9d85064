// Adams methods until the motion is stiff, then backward differentiation formulas, or implicit Runge–Kutta methods
// where it vibrates; whatever gets on where they do not.
#pragma once

#include <memory>

#include "integrate/adams.hpp"
#include "integrate/bdf.hpp"
#include "integrate/esdirk.hpp"
#include "integrate/runge_kutta.hpp"

namespace bellcrank {

// L. Petzold, Automatic selection of methods for solving stiff and nonstiff systems of ordinary differential equations,
// SIAM J. Sci. Stat. Comput. 4 (1983), has the idea and the two families. Here steps of Adams methods show themselves
// when stability limits them. From there on the motion is taken as stiff: a mechanism keeps its stiff springs and
// dampers. Where nothing damps the oscillations that steps of bdf leave out, esdirk goes on: it damps them at any
// order. Where bdf cannot go on from there, for its steps vanish, the motion was no stiff one: at a singular pose, say,
// accelerations follow rounding. Then Adams methods go on to the end.
//
// Where a method does not get on, whatever the reason, all are tried for a while, and the one by which an evaluation
// passes the most time goes on. Among them is that of Dormand and Prince, which needs no history.
class Automatic final : public AdaptiveStepper {
  public:
    Automatic(Dynamics& dynamics, Projection& projection, Implicit& implicit, const MethodSettings& settings);
    bool stiff() const override { return (method_ == kBdf || method_ == kEsdirk) && !is_trying() && !comparing_; }
    bool taken_back() const override { return mistaken_; }
    const char* method() const override;
    bool give_way(double pace) override;
    bool is_trying() const override;
    double first_step(double speed, double acceleration) const override;
    double accepted(double h, const StepOutcome& outcome, bool after_refusal) override;
    double refused(double h, const StepOutcome& outcome) override;
    double rounding(double t, double h, const double* x1, const double* u1) override;
    void restart() override { active().restart(); }
    StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) override;
    void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1, double* x_out,
                     double* u_out) override;

  private:
    enum Method { kAdams, kBdf, kEsdirk, kDormandPrince, kMethods };

    void take(int method);
    void compare(double t, double h, const double* x, const double* u);
    long long work() const;
    void mark(double t);
    double pace(double t) const;
    AdaptiveStepper& active() { return *steppers_[method_]; }
    const AdaptiveStepper& active() const { return *steppers_[method_]; }
    const Bdf& bdf() const { return static_cast<const Bdf&>(*steppers_[kBdf]); }
    const Adams& adams() const { return static_cast<const Adams&>(*steppers_[kAdams]); }

    Dynamics& dynamics_;
    Projection& projection_;
    Implicit& implicit_;
    const MethodSettings settings_;
    std::unique_ptr<AdaptiveStepper> steppers_[kMethods];  // made when they are first taken
    int method_ = kAdams, next_ = kAdams;                  // in use; from the next step on
    double pace_[kMethods];  // time by evaluation, of those that were tried; negative: not yet
    double begun_ = 0.0;     // first step of bdf [s]; 0: none to go by
    bool mistaken_ = false;  // the motion was not stiff

    Oscillations oscillations_;
    bool comparing_ = false;         // esdirk is tried beside adams
    long long attempts_ = 0, look_;  // by the method in use; by adams, when to look next
    double marked_at_ = 0.0, pace_of_adams_ = 0.0;
    long long work_at_mark_ = 0;
};

}  // namespace bellcrank
