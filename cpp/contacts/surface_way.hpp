// How far a point of contact has gone on the surfaces of two bodies.
#pragma once

#include "geometry/manifold.hpp"

namespace bellcrank {

// Where a contact was: in the world then, and as the two bodies carry it along.
template <class S>
struct SurfaceMarkT {
    Vec3T<S> normal, tangent;  // world axes, then
    struct OnBody {
        Vec3T<S> point, normal, tangent;  // from the centre of mass, principal axes
    } on[2];
};
using SurfaceMark = SurfaceMarkT<double>;

SurfaceMark mark_contact(const Vec3& position, const Vec3& normal, const Pose (&bodies)[2]);

template <class S>
struct SurfaceWaysT {
    Vec3T<S> on[2];  // the way on either surface, in the tangent plane of today
    S angle[2];      // by which either body has turned about the normal [rad]
};

// What follows is over double and Dual4.

// The way from the mark to a contact of the same bodies, at their present poses.
//
// A way is the chord from where the mark has been carried, corrected to third order. On a round surface the chord's
// part along e, in which the normal turned by α, is ρ sin α long, the arc ρ α. A body that turns by θ about the normal
// meanwhile has turned the parts of the way that lie behind: the sum of v R(θ − θ') over a straight way is shorter by
// sin(θ/2) / (θ/2) and turned by θ/2.
template <class S>
SurfaceWaysT<S> ways_since(const SurfaceMarkT<S>& mark, const Vec3T<S>& position, const Vec3T<S>& normal,
                           const PoseT<S> (&bodies)[2]);

// A vector of the tangent plane of n0, turned by an angle about the normal and carried to that of n.
template <class S>
Vec3T<S> carried(const Vec3T<S>& vector, const Vec3T<S>& n0, const Vec3T<S>& n, const S& angle);

}  // namespace bellcrank
