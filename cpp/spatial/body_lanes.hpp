// Halves of the records of several bodies (spatial/body_state.hpp), side by side.
#pragma once

#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

// at: where the half begins in a record, 0 or 4.
inline Vec3T<Lane> gather_vector(const double* records, const int* body, int stride, int at) {
    const double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) place[l] = records + stride * body[l] + at;
    Lane v[4];
    gather4(place, v);
    return {v[0], v[1], v[2]};
}

inline QuatT<Lane> gather_quaternion(const double* x, const int* body) {
    const double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) place[l] = x + kPose * body[l] + 4;
    Lane v[4];
    gather4(place, v);
    return {v[0], v[1], v[2], v[3]};
}

inline void set_lane(Vec3T<Lane>& to, int l, const Vec3& v) {
    lane_set(to.x, l, v.x);
    lane_set(to.y, l, v.y);
    lane_set(to.z, l, v.z);
}
inline void set_lane(QuatT<Lane>& to, int l, const Quat& q) {
    lane_set(to.w, l, q.w);
    lane_set(to.x, l, q.x);
    lane_set(to.y, l, q.y);
    lane_set(to.z, l, q.z);
}

}  // namespace bellcrank
