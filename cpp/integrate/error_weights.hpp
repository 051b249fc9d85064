// What errors are measured by: tolerances of each kind of coordinate.
#pragma once

#include <vector>

#include "integrate/stepper.hpp"

namespace bellcrank {

// Displacements are measured against one metre and one radian, for where a mechanism stands must not change how
// accurately it is computed; velocities against their size.
class ErrorWeights {
  public:
    ErrorWeights(const System& system, const Tolerances& tolerances, int size);

    double displacement(int i) const { return displacement_[i]; }
    double velocity(int i, double speed) const { return 1.0 / (absolute_[i] + relative_[i] * speed); }

  private:
    std::vector<double> displacement_, absolute_, relative_;  // per component of a velocity
};

}  // namespace bellcrank
