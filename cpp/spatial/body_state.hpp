// Layout of the state, and of rows of a Jacobian, that hot kernels read. Every body is followed at its centre of mass
// in its principal axes, so that its inverse inertia is diagonal. One record of eight doubles per body, padded so that
// four bodies transpose into vector registers:
//   pose   x: position of the com, world axes [m], 0, quaternion principal → world
//   twist  u: velocity of the com, world axes [m/s], 0, angular velocity, principal axes [rad/s], 0
// A displacement along the manifold has the layout of a twist: translation, 0, rotation vector, 0.
// The last record is the ground: identity pose, zero twist.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

inline constexpr int kPose = 8;
inline constexpr int kTwist = 8;
// Where the six components of a twist or wrench stand in a record.
inline constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

inline Vec3 pose_position(const double* x, int body) {
    const double* p = x + kPose * body;
    return {p[0], p[1], p[2]};
}
inline Quat pose_rotation(const double* x, int body) {
    const double* p = x + kPose * body;
    return {p[4], p[5], p[6], p[7]};
}
inline Vec3 twist_linear(const double* u, int body) {
    const double* p = u + kTwist * body;
    return {p[0], p[1], p[2]};
}
inline Vec3 twist_angular(const double* u, int body) {
    const double* p = u + kTwist * body;
    return {p[4], p[5], p[6]};
}
// The velocity of the point of a body that is at `point`, world axes.
inline Vec3 velocity_at(const double* x, const double* u, int body, const Vec3& point) {
    const Vec3 omega = rotation_matrix(pose_rotation(x, body)) * twist_angular(u, body);
    return twist_linear(u, body) + cross(omega, point - pose_position(x, body));
}
inline void store_twist(double* u, int body, const Vec3& linear, const Vec3& angular) {
    double* p = u + kTwist * body;
    p[0] = linear.x, p[1] = linear.y, p[2] = linear.z, p[3] = 0.0;
    p[4] = angular.x, p[5] = angular.y, p[6] = angular.z, p[7] = 0.0;
}

// Records of a row: three components and a 0.
inline constexpr int kRow = 4;

// The linear parts of the rows lie apart from the angular ones: the two bodies of a joint have the same up to a factor,
// so that they are stored once. Only the first `linear_rows` rows have a linear part.
struct BodyRows {
    int rows, linear_rows;
    int linear, angular;  // offsets of the first row's
    double scale;         // of the linear parts

    // Row r as (linear, angular).
    void read(const double* J, int r, double out[6]) const {
        for (int k = 0; k < 3; ++k) {
            out[k] = r < linear_rows ? scale * J[linear + kRow * r + k] : 0.0;
            out[3 + k] = J[angular + kRow * r + k];
        }
    }
};

}  // namespace bellcrank
