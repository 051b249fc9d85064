// Vectors and quaternions in arrays of doubles.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

// Where the six components of a twist or wrench stand in a record (spatial/body_state.hpp).
inline constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

inline Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }
inline Quat load_quaternion(const double* p) { return {p[0], p[1], p[2], p[3]}; }
inline void store(double* p, const Vec3& v) {
    p[0] = v.x;
    p[1] = v.y;
    p[2] = v.z;
}
inline void store(double* p, const Quat& q) {
    p[0] = q.w;
    p[1] = q.x;
    p[2] = q.y;
    p[3] = q.z;
}
inline void add(double* p, const Vec3& v) {
    p[0] += v.x;
    p[1] += v.y;
    p[2] += v.z;
}
inline double component(const Vec3& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

}  // namespace bellcrank
