// Methods of integration on the configuration manifold, as the loop over time sees them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// The next multiple of eight numbers, a line of the cache.
inline int padded(int size) { return (size + 7) / 8 * 8; }

inline constexpr double kJump = 1e-7;  // a step as short [s] may hold the opening or closing of a stop

struct Tolerance {
    double relative = 1e-8;
    double absolute = 1e-8;
};

// Tolerances of an adaptive method: error per step relative to atol + rtol × magnitude, root mean square.
struct Tolerances {
    Tolerances() = default;
    Tolerances(double relative, double absolute)
        : relative(relative),
          absolute(absolute),
          translation{relative, absolute},
          rotation(translation),
          velocity(translation),
          angular_velocity(translation) {}

    double relative = 1e-8, absolute = 1e-8;  // the strictest of those below
    Tolerance translation, rotation, velocity, angular_velocity;
};

// What became of an attempted step.
struct StepOutcome {
    bool constraints_met = true;
    bool impact = false;
    bool jump = false;   // what closes or opens makes the acceleration jump; the step is too short to be worth parting
    double error = 0.0;  // in units of the tolerance; 0 for methods without an estimate
    bool doubtful = false;    // rows were near to depending on each other somewhere within the step
    bool rounding = false;    // the error is no more than rounding makes: a history is not to blame
    int order = 0;            // with which the step was taken; 0 where it is always the same
    ImpulseOutcome impulses;  // of methods that step by them
};

// Steps from (t, x, u) to (t + h, x1, u1), projected. x and u are left alone.
class FixedStepper {
  public:
    virtual ~FixedStepper() = default;
    virtual StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) = 0;
    // Whether contacts are rigid: impulses keep them apart.
    virtual bool by_impulses() const { return false; }
    // Parts of the energy in play by which the energy may rise and fall where steps are short enough for a stable
    // motion.
    virtual double energy_swing() const = 0;
};

// The same in steps whose length follows from their errors.
class AdaptiveStepper {
  public:
    virtual ~AdaptiveStepper() = default;
    // Where the outcome is an error above 1, x1 and u1 may hold anything.
    virtual StepOutcome step(double t, double h, const double* x, const double* u, double* x1, double* u1) = 0;
    // The first step to try, from the largest speed and acceleration of any component.
    virtual double first_step(double speed, double acceleration) const = 0;
    // The last step, of length h, is taken, and its end is where the next one starts. The step to try next; it may be
    // shortened.
    virtual double accepted(double h, const StepOutcome& outcome, bool after_refusal) = 0;
    // The step to try instead of one that was refused for its error.
    virtual double refused(double h, const StepOutcome& outcome) = 0;
    // The error that rounding alone makes in a step of an error that is not large: (x1, u1) is its end. It may have
    // been accepted already. 0: not known.
    virtual double rounding(double, double, const double*, const double*) { return 0.0; }
    // Whether the motion has turned out to be stiff; whether that has turned out to be a mistake.
    virtual bool stiff() const { return false; }
    virtual bool taken_back() const { return false; }
    // The run does not get on, and has passed so much time by evaluation since the method in use was taken: whether
    // another one is taken from the next step on; the method in use or next; whether methods are being tried.
    virtual bool give_way(double) { return false; }
    virtual const char* method() const { return ""; }
    virtual bool is_trying() const { return false; }
    // The motion goes on otherwise than before (after an impact).
    virtual void restart() = 0;
    // The state at t + θh within the last step taken, 0 ≤ θ ≤ 1, not projected; (x, u) is its start, (x1, u1) its end.
    virtual void interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1,
                             double* x_out, double* u_out) = 0;
};

// What rounding of a state makes of its acceleration u̇ as a stage, or as the end of a step that is settled: the most of
// what two states show that differ from it in the last place of every number; by component, or by free component. Zeros
// stay zero, so that nothing lies beyond a discontinuity at rest.
class RoundingSample {
  public:
    RoundingSample(Dynamics& dynamics, Projection& projection) : dynamics_(dynamics), projection_(projection) {}
    const std::vector<double>& take(double t, const double* x, const double* u, const double* udot, bool settled,
                                    bool free);

  private:
    Dynamics& dynamics_;
    Projection& projection_;
    std::vector<double> rounded_x_, rounded_u_, rounded_udot_, change_, rounding_, near_, no_displacement_;
};

struct MethodSettings {
    Tolerances tolerances;
    int max_order = 12;  // adams, bdf, esdirk
};

// The stepper of a name, from the ports that it needs: semi_implicit_euler, moreau, rk4 with fixed steps, nullptr for
// others; dopri5, adams, bdf, esdirk, auto. The latter throws std::invalid_argument that lists all names.
std::unique_ptr<FixedStepper> make_fixed_stepper(const std::string& name, const Ports& ports,
                                                 const MethodSettings& settings);
std::unique_ptr<AdaptiveStepper> make_adaptive_stepper(const std::string& name, const Ports& ports,
                                                       const MethodSettings& settings);

// What errors are measured by, tolerances of each kind of coordinate, and the steps that follow from them.

// Displacements are measured against one metre and one radian, for where a mechanism stands must not change how
// accurately it is computed; velocities against their size.
class ErrorWeights {
  public:
    ErrorWeights(const Manifold& manifold, const Tolerances& tolerances, int size);

    double displacement(int i) const { return displacement_[i]; }
    double velocity(int i, double speed) const { return 1.0 / (absolute_[i] + relative_[i] * speed); }

  private:
    std::vector<double> displacement_, absolute_, relative_;  // per component of a velocity
};

// Order 1 errs by half the derivative of the acceleration, of which nothing is known yet: as much as itself per second.
double first_step_of_order_1(const Tolerances& tolerances, double acceleration);
// The factor by which a step may grow whose error is to be a part of the tolerance: that of a method of order q goes
// with the power q + 1 of the step.
double step_factor(double error, double aim, int order);

}  // namespace bellcrank
