// Impulses at given points of the bodies, all at once.
#pragma once

#include <vector>

#include "impulses/impulse_space.hpp"
#include "model/ports.hpp"

namespace bellcrank {

// u becomes the velocity after blows and the impulses of the points, and of what these make rows and closed limits do;
// impulses: those of the points on their first bodies, world axes. Points that approach before, blows included, leave
// at Newton's part of their speed. closed: a gap of limits up to there is none [m or rad].
ImpulseOutcome strike(ImpulseSpace& space, double t, const double* x, const std::vector<Blow>& blows,
                      const std::vector<StruckPoint>& points, double closed, double tolerance, double* u,
                      std::vector<Vec3>& impulses);

}  // namespace bellcrank
