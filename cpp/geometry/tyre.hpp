// Tyres: rays from the rim outwards, fixed to the wheel.
#pragma once

#include <vector>

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// A tyre of round section about the z axis, in slices all around. The rays of a slice start at one point of the rim and
// spread across the section, over the half of its circle that is the tread.
struct Tyre final : Shape {
    Tyre() : Shape(ShapeKind::tyre) {}

    struct Ray {
        double angle;  // from the radius towards +z [rad]
        double aside, outwards, length;
    };
    double rim = 0.0;           // its radius
    double section = 0.0;       // height and width
    double spacing = 0.0;       // of rays, by their angle [rad]
    std::vector<Vec3> radials;  // of the slices
    std::vector<Ray> rays;      // of a slice; the middle one points outwards
};

// Refused: sizes that are not positive, a section as wide as the radius, fewer than eight slices or three rays, an even
// number of rays, more than 65.
SharedShape make_tyre(double radius, double width, int slices, int rays);

// One point for each slice: where its deepest ray meets the other shape, with the ray as normal and how far its end is
// behind as the gap.
void tyre_on(const Shape& other, const Pose& pose, const Shape& tyre, const Pose& tyre_pose, double reach,
             ContactManifold& out);

}  // namespace bellcrank
