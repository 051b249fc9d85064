// The distance of two convex cores, or how deep they overlap.
#pragma once

#include "geometry/support.hpp"

namespace bellcrank {

// Two cores in the axes of the first: points of A − B, whose distance from the origin is theirs.
struct DifferencePoint {
    Vec3 w, a, b;  // w = a − b
};
struct CorePair {
    const Shape& A;
    const Shape& B;
    Pose pose;  // of B, seen from A

    DifferencePoint support(const Vec3& d) const {
        const Vec3 a = bellcrank::support(A, d), b = pose.point(bellcrank::support(B, pose.local_direction(-d)));
        return {a - b, a, b};
    }
};

// The normal points from B to A; gap = normal · (a − b), negative where the cores overlap.
struct Separation {
    Vec3 normal;
    double gap;
    Vec3 a, b;
    double uncertainty = 0.0;  // by which an overlap may be deeper, where no polytope reached its tolerance
};

// The separation where it is less than `reach`; false where it is not. `guess` is a direction from B to A. E. Gilbert,
// D. Johnson, S. Keerthi, A fast procedure for computing the distance between complex objects in three-dimensional
// space (1988), for open pairs; G. van den Bergen, Proximity queries and penetration depth computation on 3D game
// objects (2001), for overlapping ones.
bool separation(const CorePair& pair, double reach, const Vec3& guess, Separation& out);

struct Simplex {
    DifferencePoint points[4];
    double weights[4];
    int count = 0;
};

// The point of the surface of A − B nearest to the origin, from a simplex that holds it, found by expanding a
// polytope until it is known to `tolerance` of the size of A − B.
bool expand(const CorePair& pair, Simplex& simplex, double tolerance, Separation& out);

}  // namespace bellcrank
