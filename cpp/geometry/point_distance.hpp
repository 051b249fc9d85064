// The signed distance of a point from convex shapes and planes, with its gradient: all pairs with a sphere follow.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// Negative inside. The normal is the gradient, a unit vector; where there are several (on axes, at centres) one of
// them.
struct PointDistance {
    double distance;
    Vec3 normal;
    Feature feature;
};

// The distance of p from the surface of a shape, the rounding included; p in its axes. Not for meshes, height fields
// and hulls.
PointDistance point_distance(const Shape& shape, const Vec3& p);

}  // namespace bellcrank
