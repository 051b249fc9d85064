// Second derivatives of coordinates along the motion of their two bodies.
#pragma once

#include <array>
#include <span>

#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

struct WeighedCoordinate {
    int coordinate;
    double weight;
};

// A form of the columns (v1, ω1, v2, ω2): velocities of the centres of mass in world axes, angular velocities in
// principal axes; row-major.
using PairMatrix = std::array<double, 144>;

// Σ weight ∇²φ of coordinates of one pair at x: the symmetric matrix H with uᵀ H u = Σ weight φ̈ for constant twists u,
// along which bodies go straight on and turn evenly. rest: zero twists of all bodies.
void add_curvature(const Model& model, const AngleBranches& branches, const MarkerPair& pair,
                   std::span<const WeighedCoordinate> coordinates, const double* x, const double* rest, PairMatrix& H);

}  // namespace bellcrank
