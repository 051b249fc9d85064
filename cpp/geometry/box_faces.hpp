// A face of a box and the face of another one that it meets: the pair on which time is spent.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

struct BoxFaces {
    const Shape& reference;
    const Pose& of_reference;
    const Shape& incident;
    const Pose& of_incident;
    Pose rel;      // of the incident box, seen from the reference
    bool flipped;  // the reference is b of the pair
};

// Adds what is left of the incident box's most opposed face between the sides of the face across `axis`, as
// add_facing_parts does for any faces, with gaps below `reach`.
void box_faces(const BoxFaces& pair, int axis, double reach, ContactManifold& out);

}  // namespace bellcrank
