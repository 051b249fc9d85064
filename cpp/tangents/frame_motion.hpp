// The frames of bodies along directions, and the transpose: what users see of bodies.
#pragma once

#include <span>
#include <vector>

#include "model/model.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank {

// Of a body, world axes: position, velocity and acceleration of its frame's origin, angular velocity and acceleration.
inline constexpr int kFrameNumbers = 15;

// A motion and its directions as records (spatial/body_state.hpp); kDirections doubles for each number of a direction,
// and of what is found. Null: no changes of accelerations.
void frame_tangent(const Model& model, const double* x, const double* u, const double* udot, const double* dx,
                   const double* du, const double* dudot, std::vector<double>& out);
// Adds to the gradient by records what seeds of these numbers, kFrameNumbers for each body, make of it.
void frame_adjoint(const Model& model, const double* x, const double* u, const double* udot,
                   std::span<const double> seeds, double* of_x, double* of_u, double* of_udot);

}  // namespace bellcrank
