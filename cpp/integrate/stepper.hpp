// One-step methods on the configuration manifold. A step is taken in the chart about its first configuration
// (Munthe-Kaas), then projected onto the constraints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/system.hpp"

namespace bellcrank {

// Tolerances of an adaptive method: error per step relative to atol + rtol × magnitude, root mean square.
struct Tolerances {
    double relative = 1e-8;
    double absolute = 1e-8;
};

// What became of an attempted step.
struct StepOutcome {
    bool constraints_met = true;
    bool impact = false;
    double error = 0.0;  // in units of the tolerance; 0 for methods without an estimate
};

class Stepper {
  public:
    virtual ~Stepper() = default;
    virtual bool adaptive() const { return false; }
    // Order of the error estimate's local error; used to choose the next step.
    virtual int estimate_order() const { return 0; }
    // From (t, x, u) to (t + h, x1, u1), projected. x and u are left alone.
    virtual StepOutcome step(System& system, double t, double h, const double* x, const double* u, double* x1,
                             double* u1) = 0;
    // The state at t + θh within the last step, 0 ≤ θ ≤ 1, not projected. Only for adaptive methods.
    virtual void interpolate(const System& system, double theta, const double* x, const double* u, double* xi,
                             double* ui) const;
};

// semi_implicit_euler, rk4, dopri5. Throws std::invalid_argument that lists the names.
std::unique_ptr<Stepper> make_stepper(const std::string& name, const System& system, const Tolerances& tolerances);

}  // namespace bellcrank
