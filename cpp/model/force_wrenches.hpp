// What recorded efforts of forces are on the bodies.
#pragma once

#include <span>

#include "model/branches.hpp"
#include "model/observation.hpp"

namespace bellcrank {

// How an effort of one acts: what it exerts on a body, and the rate of what it acts along, Σ J u.
struct EffortSide {
    int body;
    double J[6];  // against the twist of the body: com velocity, world axes; angular velocity, principal axes
};

// The sides of an effort, at most two. Where a coordinate is given by formulas, the branches hold its joint's
// coordinates.
std::span<const EffortSide> effort_sides(const Scenery& at, const Observation::Effort& effort, EffortSide (&room)[2]);

// The bodies that an effort acts on.
std::vector<int> bodies_of(const Model& model, const Observation::Effort& effort);

// wrenches: for each body, the ground last, moment about the origin of its frame and force (6), world axes; to be added
// to. rates: along each effort.
void add_force_wrenches(const Scenery& at, std::span<const Observation::Effort> which, const double* efforts,
                        double* wrenches, double* rates);

}  // namespace bellcrank
