// Inertia tensors of rigid bodies: principal axes and change of reference point.
#pragma once

#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

struct PrincipalInertia {
    Vec3 moments;   // [kg m²]
    Quat rotation;  // principal axes to the axes in which the tensor was given
};

// J = R diag(moments) Rᵀ of a symmetric 3×3 tensor (of its symmetric part), by Jacobi rotations, each of at most 45°.
// A tensor that is diagonal already keeps its order of moments and the identity rotation exactly; a nearly diagonal one
// is turned little. Any symmetric matrix is taken; whether it is a possible inertia is not judged here.
PrincipalInertia principal_inertia(const Mat3& inertia);

// Inertia about a point at `offset` from the centre of mass, in the same axes: J + m (|d|² I − d dᵀ) (parallel axes).
// A negative mass takes it back to the centre of mass.
Mat3 inertia_about_point(const Mat3& inertia_about_com, double mass, const Vec3& offset);

// The inertia of a body about the origin of a frame in which its principal axes lie at `place`:  A = J,  B = m [c]×,  C
// = m 1.
Articulated rigid_inertia(double mass, const Vec3& moments, const Place& place);

}  // namespace bellcrank
