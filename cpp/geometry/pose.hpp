// Where a shape is: rotation and position of its own axes.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

template <class S>
struct PoseT {
    Vec3T<S> p{0.0, 0.0, 0.0};
    Mat3T<S> R{{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};

    Vec3T<S> point(const Vec3T<S>& local) const { return p + R * local; }
    Vec3T<S> direction(const Vec3T<S>& local) const { return R * local; }
    Vec3T<S> local_point(const Vec3T<S>& world) const { return transpose_times(R, world - p); }
    Vec3T<S> local_direction(const Vec3T<S>& world) const { return transpose_times(R, world); }
};
using Pose = PoseT<double>;

// `other` seen from `frame`.
inline Pose seen_from(const Pose& frame, const Pose& other) {
    return {frame.local_point(other.p), transpose_times(frame.R, other.R)};
}

inline double& component(Vec3& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

// A unit vector along v, or `otherwise` where v vanishes.
inline Vec3 unit(const Vec3& v, const Vec3& otherwise) {
    const double length = norm(v);
    return length > 1e-150 ? (1.0 / length) * v : otherwise;
}

// Some unit vector across the unit vector n.
inline Vec3 across(const Vec3& n) {
    const double x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
    const Vec3 axis = x <= y && x <= z ? Vec3{1.0, 0.0, 0.0} : y <= z ? Vec3{0.0, 1.0, 0.0} : Vec3{0.0, 0.0, 1.0};
    return unit(cross(n, axis), {1.0, 0.0, 0.0});
}

}  // namespace bellcrank
