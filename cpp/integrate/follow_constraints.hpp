// Motion that the constraints alone determine: a mechanism whose drives leave nothing free.
#pragma once

#include <vector>

#include "integrate/simulate.hpp"

namespace bellcrank {

// Follows the constraints from (t0 = first output time, x, u), a projected state, through the output times and records
// a frame at each: positions, velocities and accelerations that satisfy the constraints to their tolerance, without any
// error of integration. Between two times it goes in as many steps as it takes to stay on one branch of the motion; it
// ends with constraints_lost where there is no going on (a dead point, or the end of what can be reached).
SimulationResult follow_constraints(const Ports& ports, const std::vector<double>& output_times,
                                    const Observation& observation, std::vector<double>& x, std::vector<double>& u,
                                    Sink& sink);

}  // namespace bellcrank
