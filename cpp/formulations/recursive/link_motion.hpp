// What the passes over a tree know of single links: inertia, and how those move that do not turn about an axis.
#pragma once

#include "formulations/recursive/joint_kernels.hpp"

namespace bellcrank::recursive {

template <class T>
inline Vec3T<T> zero() {
    return {number<T>(0.0), number<T>(0.0), number<T>(0.0)};
}

template <class T>
inline QuatT<T> quaternion(const T* q) {
    return {q[0], q[1], q[2], q[3]};
}

template <class T>
inline Vec3T<T> vector(const T* p) {
    return {p[0], p[1], p[2]};
}

template <class T>
inline void store(T* p, const Vec3T<T>& v) {
    p[0] = v.x, p[1] = v.y, p[2] = v.z;
}

// Adds the link's own inertia.
template <class T>
inline void add_own(const LinkConstants& k, ArticulatedT<T>& I) {
    for (int i = 0; i < 6; ++i) I.A.m[i] += k.second[i];
    const double* h = k.moment;
    I.B.m[1] -= h[2], I.B.m[2] += h[1];
    I.B.m[3] += h[2], I.B.m[5] -= h[0];
    I.B.m[6] -= h[1], I.B.m[7] += h[0];
    for (int i = 0; i < 3; ++i) I.C.m[i] += k.mass;
}

// v × (I v):  L = J ω + h × v,  P = m v − h × ω.
template <class T>
inline ForceT<T> gyroscopic(const LinkConstants& k, const MotionT<T>& m) {
    const double *J = k.second, *h = k.moment;
    const Vec3T<T>&w = m.w, &v = m.v;
    const Vec3T<T> L{J[0] * w.x + J[3] * w.y + J[4] * w.z + (h[1] * v.z - h[2] * v.y),
                     J[3] * w.x + J[1] * w.y + J[5] * w.z + (h[2] * v.x - h[0] * v.z),
                     J[4] * w.x + J[5] * w.y + J[2] * w.z + (h[0] * v.y - h[1] * v.x)};
    const Vec3T<T> P{k.mass * v.x - (h[1] * w.z - h[2] * w.y), k.mass * v.y - (h[2] * w.x - h[0] * w.z),
                     k.mass * v.z - (h[0] * w.y - h[1] * w.x)};
    return {cross(w, L) + cross(v, P), cross(w, P)};
}

// Rotation and shift of a link that neither turns nor stands still.
template <class T>
inline Mat3T<T> rotation_of(const LinkConstants& k, const T* x) {
    if (k.motion == Motion::slide) return matrix_of<T>(k);
    const QuatT<T> q = quaternion(x + k.x + (k.motion == Motion::free ? 3 : 0));
    return matrix_of<T>(k) * rotation_matrix(q);
}
template <class T>
inline Vec3T<T> shift_of(const LinkConstants& k, const T* x) {
    Vec3T<T> r = shift_of<T>(k);
    if (k.motion == Motion::slide) {
        const T along = x[k.x] + k.offset;
        r += Vec3T<T>{k.R[2] * along, k.R[5] * along, k.R[8] * along};
    }
    if (k.motion == Motion::free) r += matrix_of<T>(k) * vector(x + k.x);
    return r;
}

// What the joint's speeds add to the velocity.
template <class T>
inline MotionT<T> own_velocity(const LinkConstants& k, const T* x, const T* u) {
    const T o = number<T>(0.0);
    if (k.motion == Motion::slide) return {zero<T>(), {o, o, u[k.u]}};
    if (k.motion == Motion::ball) return {vector(u + k.u), zero<T>()};
    const Mat3T<T> R = rotation_matrix(quaternion(x + k.x + 3));
    return {vector(u + k.u + 3), transpose_times(R, vector(u + k.u))};
}

// The rate of own_velocity at constant speeds.
template <class T>
inline MotionT<T> bias_of(const LinkConstants& k, const MotionT<T>& velocity, const MotionT<T>& own) {
    MotionT<T> c = cross(velocity, own);
    if (k.motion == Motion::free) c.v += -cross(own.w, own.v);
    return c;
}

}  // namespace bellcrank::recursive
