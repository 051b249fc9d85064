// What recorded efforts of forces and multipliers of rows exert on the bodies, and where.
#pragma once

#include <array>
#include <vector>

#include "model/model.hpp"
#include "model/observation.hpp"

namespace bellcrank {

// How an effort of one acts: what it exerts on a body, and the rate of what it acts along, Σ J u.
struct EffortSide {
    int body;
    Vec3 place;   // where it takes hold of the body, from the com, principal axes
    double J[6];  // against the twist of the body: com velocity, world axes; angular velocity, principal axes
};

// Appends the sides of an effort, one or two. Where a coordinate is given by formulas, the branches hold its joint's
// coordinates.
void append_sides(const Scenery& at, const Observation::Effort& effort, std::vector<EffortSide>& sides);

// The same of a multiplier of one on a row of the model. room: that is used.
void append_sides(const Scenery& at, int row, FormulaRows::Values& room, std::vector<EffortSide>& sides);

// Moment about the origin of the body's frame, then force, world axes, by an effort of one.
std::array<double, 6> wrench_of(const Scenery& at, const EffortSide& side);

// The place in the body's frame.
Vec3 place_in_frame(const Model& model, const EffortSide& side);

}  // namespace bellcrank
