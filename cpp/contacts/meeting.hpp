// Two bodies where they touch, over numbers and over their changes.
#pragma once

#include "contacts/contacts.hpp"
#include "spatial/body_state.hpp"
#include "spatial/dual.hpp"

namespace bellcrank {

inline Pose pose_of(const double* poses, int body) {
    return {pose_position(poses, body), rotation_matrix(pose_rotation(poses, body))};
}

template <class S>
struct Contacts::Meeting {
    PoseT<S> bodies[2];
    Vec3T<S> position, normal, acting;  // along the last the gap closes, and force acts
    S gap;
    Vec3T<S> velocity;  // of a relative to b
};

// What its law needs of a point, with s carried along from where the anchor was.
template <class S>
TouchingPointT<S> Contacts::touching(const Meeting<S>& now, const Anchor* anchor) const {
    using std::max;
    const Vec3T<S> none{0.0, 0.0, 0.0};
    TouchingPointT<S> at{
        -now.gap, -dot(now.velocity, now.acting), none, none, now.velocity - dot(now.velocity, now.normal) * now.normal,
        false};
    if (anchor == nullptr) return at;
    const auto fixed = [](const Vec3& v) { return Vec3T<S>{v.x, v.y, v.z}; };
    SurfaceMarkT<S> mark{fixed(anchor->mark.normal), fixed(anchor->mark.tangent), {}};
    for (int side = 0; side < 2; ++side) {
        const SurfaceMark::OnBody& then = anchor->mark.on[side];
        mark.on[side] = {fixed(then.point), fixed(then.normal), fixed(then.tangent)};
    }
    const SurfaceWaysT<S> ways = ways_since(mark, now.position, now.normal, now.bodies);
    at.shear = carried<S>(fixed(anchor->shear), mark.normal, now.normal, 0.5 * (ways.angle[0] + ways.angle[1]));
    at.way = ways.on[1] - ways.on[0];
    if (!anchor->touched()) at.way = (max(S(0.0), at.depth) / (std::abs(value_part(at.depth)) + anchor->gap)) * at.way;
    at.slips = anchor->slips;
    return at;
}

}  // namespace bellcrank
