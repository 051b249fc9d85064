// Projected sweeps: slow, but they need no factors and each of them keeps impulses in their cones.
#pragma once

#include "cones/natural_map.hpp"

namespace bellcrank {

// Block by block, the impulses projected as in SemismoothNewton's map. `u`: room for the rows.
ConeResidual sweep(const ConeProblem& problem, double* impulses, double* u, int sweeps, double tolerance,
                   ConeReport& report);

}  // namespace bellcrank
