// When two moving shapes first come close.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// A rigid motion at constant velocities, world axes, about the origin of the shape's axes.
struct ShapeMotion {
    Pose start;
    Vec3 velocity{0.0, 0.0, 0.0}, angular_velocity{0.0, 0.0, 0.0};

    Pose at(double time) const;
};

struct Impact {
    double time;
    ContactPoint point;  // the nearest one at that time
};

// The first time within `duration` at which the gap is at most `tolerance`, by conservative advancement (B. Mirtich,
// Impulse-based dynamic simulation of rigid body systems, 1996): no point of a shape of radius R moves faster than
// |v| + |ω| R, so that a gap g lasts at least for (g − tolerance/2) / (|v_a − v_b| + |ω_a| R_a + |ω_b| R_b). False
// where there is none. Refused: a tolerance that is not positive, shapes without bounds that turn, and planes, meshes
// and height fields that meet each other.
bool time_of_impact(const Shape& a, const ShapeMotion& of_a, const Shape& b, const ShapeMotion& of_b, double duration,
                    double tolerance, ContactManifold& scratch, Impact& impact);

}  // namespace bellcrank
