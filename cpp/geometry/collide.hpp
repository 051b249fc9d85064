// Contact points of two shapes.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// The contact points with a gap less than `reach`; normals point from b to a. Refused: two of planes, meshes and
// height fields, which have no thickness to push each other with.
void collide(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
             ContactManifold& out);

// The least gap of these points, infinite where there is none.
double least_gap(const ContactManifold& manifold);

}  // namespace bellcrank
