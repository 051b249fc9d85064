// Second derivatives of coordinates along the motion of their two bodies.
#pragma once

#include <array>

#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

// A form of the columns (v1, ω1, v2, ω2): velocities of the centres of mass in world axes, angular velocities in
// principal axes; row-major.
using PairMatrix = std::array<double, 144>;

// ∇²φ at x: the symmetric matrix H with uᵀ H u = φ̈ for constant twists u, along which bodies go straight on and turn
// evenly. rest: zero twists of all bodies.
PairMatrix curvature(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                     const double* rest);

}  // namespace bellcrank
