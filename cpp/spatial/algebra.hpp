// Small fixed-size algebra over a lane type T: one double, or several in a vector (spatial/lanes.hpp).
// Quaternions are scalar first and rotate local to world axes; every function inlines into plain unrolled arithmetic.
#pragma once

#include <cmath>
#include <utility>

namespace bellcrank {

template <class T>
struct Vec3T {
    T x, y, z;
};

template <class T>
struct QuatT {
    T w, x, y, z;
};

// Row-major 3×3 matrix.
template <class T>
struct Mat3T {
    T m[9];
};

using Vec3 = Vec3T<double>;
using Quat = QuatT<double>;
using Mat3 = Mat3T<double>;

template <class T>
inline Vec3T<T> operator+(const Vec3T<T>& a, const Vec3T<T>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
inline Vec3T<T> operator-(const Vec3T<T>& a, const Vec3T<T>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
inline Vec3T<T> operator-(const Vec3T<T>& a) {
    return {-a.x, -a.y, -a.z};
}
template <class T, class S>
inline Vec3T<T> operator*(S s, const Vec3T<T>& a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class T>
inline Vec3T<T>& operator+=(Vec3T<T>& a, const Vec3T<T>& b) {
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    return a;
}
// Scalars may differ in products: numbers beside lanes, digits of double length, expressions.
template <class S, class T>
using ProductOf = decltype(std::declval<S>() * std::declval<T>());
template <class S, class T>
inline ProductOf<S, T> dot(const Vec3T<S>& a, const Vec3T<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class S, class T>
inline Vec3T<ProductOf<S, T>> cross(const Vec3T<S>& a, const Vec3T<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
inline T norm(const Vec3T<T>& a) {
    using std::sqrt;
    return sqrt(dot(a, a));
}

template <class S, class T>
inline Vec3T<ProductOf<S, T>> operator*(const Mat3T<S>& a, const Vec3T<T>& v) {
    return {a.m[0] * v.x + a.m[1] * v.y + a.m[2] * v.z, a.m[3] * v.x + a.m[4] * v.y + a.m[5] * v.z,
            a.m[6] * v.x + a.m[7] * v.y + a.m[8] * v.z};
}
// aᵀ v
template <class S, class T>
inline Vec3T<ProductOf<S, T>> transpose_times(const Mat3T<S>& a, const Vec3T<T>& v) {
    return {a.m[0] * v.x + a.m[3] * v.y + a.m[6] * v.z, a.m[1] * v.x + a.m[4] * v.y + a.m[7] * v.z,
            a.m[2] * v.x + a.m[5] * v.y + a.m[8] * v.z};
}
template <class T>
inline Mat3T<T> operator*(const Mat3T<T>& a, const Mat3T<T>& b) {
    Mat3T<T> c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
    return c;
}
// aᵀ b
template <class T>
inline Mat3T<T> transpose_times(const Mat3T<T>& a, const Mat3T<T>& b) {
    Mat3T<T> c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[3 * i + j] = a.m[i] * b.m[j] + a.m[3 + i] * b.m[3 + j] + a.m[6 + i] * b.m[6 + j];
    return c;
}
template <class T>
inline Mat3T<T> transpose(const Mat3T<T>& a) {
    return {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
}
// Row i as a vector.
template <class T>
inline Vec3T<T> row(const Mat3T<T>& a, int i) {
    return {a.m[3 * i], a.m[3 * i + 1], a.m[3 * i + 2]};
}

// Grassmann product (Tasora eq. 3).
template <class T>
inline QuatT<T> operator*(const QuatT<T>& a, const QuatT<T>& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
// Conjugate (Tasora eq. 4).
template <class T>
inline QuatT<T> conjugate(const QuatT<T>& q) {
    return {q.w, -q.x, -q.y, -q.z};
}
// Rotation matrix Λ(q) of a unit quaternion (Tasora eq. 8).
template <class T>
inline Mat3T<T> rotation_matrix(const QuatT<T>& q) {
    const T x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    const T xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    const T xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    const T wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return {{1.0 - (yy + zz), xy - wz, xz + wy, xy + wz, 1.0 - (xx + zz), yz - wx, xz - wy, yz + wx, 1.0 - (xx + yy)}};
}

// Vectors and quaternions in arrays of doubles.
template <class T>
inline Vec3T<T> load(const T* p) {
    return {p[0], p[1], p[2]};
}
template <class T>
inline QuatT<T> load_quaternion(const T* p) {
    return {p[0], p[1], p[2], p[3]};
}
template <class T>
inline void store(T* p, const Vec3T<T>& v) {
    p[0] = v.x, p[1] = v.y, p[2] = v.z;
}
inline void store(double* p, const Quat& q) { p[0] = q.w, p[1] = q.x, p[2] = q.y, p[3] = q.z; }
inline void add(double* p, const Vec3& v) { p[0] += v.x, p[1] += v.y, p[2] += v.z; }
inline double component(const Vec3& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

}  // namespace bellcrank
