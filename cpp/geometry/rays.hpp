// Rays against shapes.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

struct RayHit {
    double distance;  // along the unit direction; infinite where nothing is hit
    Vec3 normal;      // of the surface, outwards
    Feature feature;
};

// The first point of a surface that a ray enters at a distance of less than `limit`; a ray that begins inside a convex
// shape or a plane's solid hits at distance 0, against its direction. The direction is a unit vector.
bool cast_ray(const Shape& shape, const Pose& pose, const Vec3& origin, const Vec3& direction, double limit,
              RayHit& hit);
// The same in the shape's own axes.
bool cast_local_ray(const Shape& shape, const Vec3& origin, const Vec3& direction, double limit, RayHit& hit);

// A ray in the axes of a shape.
struct LocalRay {
    Vec3 o, d;
    double limit;
};

}  // namespace bellcrank
