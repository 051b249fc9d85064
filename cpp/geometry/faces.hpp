// Where the supporting parts of two convex shapes face each other.
#pragma once

#include "geometry/gjk.hpp"
#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// One pair of convex shapes in the axes of the first; how the points are stored.
struct ConvexPair {
    CorePair cores;
    const Pose& frame;  // of the first shape
    double reach;
    double rounding;  // the sum of the radii

    // A contact of points a and b of the cores.
    void add(const Vec3& a, const Vec3& b, const Vec3& normal, double core_gap, Feature of_a, Feature of_b,
             ContactManifold& out) const {
        const double gap = core_gap - rounding;
        if (!(gap < reach)) return;
        const Vec3 middle = 0.5 * (a + b) + (0.5 * (cores.B.radius - cores.A.radius)) * normal;
        out.add(frame, middle, normal, gap, of_a, of_b);
    }
};

// Adds the contact points of two cores from their separation: those of the faces, discs and segments that face each
// other within kAligned of its normal, and the nearest points where they are nearer than all of these.
void add_facing_parts(const ConvexPair& pair, const Separation& s, ContactManifold& out);

// The part [t0, t1] of a segment within a face or disc, seen along its normal; false where nothing is left.
bool clip_line(const SupportPart& area, const Vec3& from, const Vec3& to, double& t0, double& t1);

// Moves a part from local axes.
void place(const Pose& pose, SupportPart& part);

// A face of a box and the face of another one that it meets: the pair on which time is spent.

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
