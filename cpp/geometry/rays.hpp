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

// The same for many rays, with the same results to the last bit; the number of hits. Neighbours in the order of the
// arrays are cast together: short rays of one body, as those of a tyre, share the search for what is near them.
int cast_rays(const Shape& shape, const Pose& pose, const Vec3* origins, const Vec3* directions, const double* limits,
              int count, RayHit* hits);

// A ray in the axes of a shape.
struct LocalRay {
    Vec3 o, d;
    double limit;
};

// Rays that are cast together, with bounds that are wider than each and all of them by rounding.
struct RayBundle {
    static constexpr int kMost = 32;
    int count = 0;
    LocalRay rays[kMost];
    Vec3 lo[kMost], hi[kMost];
    Bounds all;

    void clear() { count = 0, all = {}; }
    void add(const LocalRay& ray);
};

// Hits of a bundle in the shape's own axes; those that miss have none.
void cast_local_rays(const Shape& shape, const RayBundle& bundle, RayHit* hits);

}  // namespace bellcrank
