// Second derivatives of coordinates along the motion of their two bodies.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

// A form of the columns (v1, ω1, v2, ω2): velocities of the centres of mass in world axes, angular velocities in
// principal axes; row-major.
using PairMatrix = std::array<double, 144>;

// ∇²φ of coordinates of one pair, at least one, at x: for each the symmetric matrix H with uᵀ H u = φ̈ for constant
// twists u, along which bodies go straight on and turn evenly. rest: zero twists of all bodies.
class CoordinateCurvature {
  public:
    void evaluate(const Model& model, const AngleBranches& branches, std::span<const int> coordinates, const double* x,
                  const double* rest);

    std::vector<PairMatrix> of;  // in the order of the coordinates

  private:
    std::vector<std::array<std::array<double, 6>, 6>> forms_;
};

}  // namespace bellcrank
