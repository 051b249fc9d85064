// Two markers and the motion of the second seen from the first.
#pragma once

#include "joints/coordinate.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

// A marker is given in the principal frame of its body: offset of its origin from the com, rotation marker → principal.
template <class S>
struct MarkerPairT {
    int body[2];
    Vec3T<S> offset[2];
    QuatT<S> rotation[2];
};
using MarkerPair = MarkerPairT<double>;

// Linear maps from the accelerations of the two bodies to those of the relative motion,
//   r̈ = Σ_b dr[b] (v̇_b; ω̇_b) + r_bias,   ω̇_rel = Σ_b domega[b] (v̇_b; ω̇_b) + omega_bias,
// the same maps taking twists to ṙ and ω_rel. Columns: com velocity in world axes, angular velocity in principal axes.
struct RelativeJacobian {
    double dr[2][3][6];
    double domega[2][3][6];
    Vec3 r_bias, omega_bias;
};

// Relative motion at poses x and twists u (spatial/body_state.hpp); fills the Jacobian too unless it is null.
RelativeMotion relative_motion(const MarkerPair& pair, const double* x, const double* u, RelativeJacobian* jacobian);

// The same of bodies at rest.
RelativeMotion relative_pose(const MarkerPair& pair, const double* x);

// A coordinate on the bodies: φ̇ = Σ_b J[b] u_b, φ̈ = Σ_b J[b] u̇_b + bias.
struct BodyCoordinate {
    double value, rate, bias;
    double J[2][6];
};

void contract(const CoordinateValue& c, const RelativeMotion& m, const RelativeJacobian& jac, BodyCoordinate& out);

}  // namespace bellcrank
