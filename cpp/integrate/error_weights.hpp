// What errors are measured by, tolerances of each kind of coordinate, and the steps that follow from them.
#pragma once

#include <vector>

#include "integrate/stepper.hpp"

namespace bellcrank {

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
