// The neutral State (body frames' origins, world axes) and its conversion to the layout of spatial/body_state.hpp.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace bellcrank {

// Per body, row-major: position (3) [m], rotation (4), velocity (3) [m/s], angular velocity (3) [rad/s], all of the
// body frame's origin and in world axes.
struct NeutralState {
    double time = 0.0;
    std::vector<double> position, rotation, velocity, angular_velocity;
};

// The record of one body in x and u, from its numbers in a neutral state. Quaternions are normalised.
void put_body(const Model& model, int body, const double* position, const double* rotation, const double* velocity,
              const double* angular_velocity, double* x, double* u);
void put_ground(const Model& model, double* x, double* u);

// Poses x and twists u, ground record included, from a neutral state.
void to_principal(const Model& model, const NeutralState& state, double* x, double* u);

// The inverse; the four destinations have room for all bodies.
void to_neutral(const Model& model, const double* x, const double* u, double* position, double* rotation,
                double* velocity, double* angular_velocity);

// Accelerations of the frame origins, world axes (linear, angular: nb × 3 each), from principal accelerations udot.
void accelerations_to_neutral(const Model& model, const double* x, const double* u, const double* udot, double* linear,
                              double* angular);

// The inverse: udot, ground record included.
void accelerations_to_principal(const Model& model, const double* x, const double* u, const double* linear,
                                const double* angular, double* udot);

}  // namespace bellcrank
