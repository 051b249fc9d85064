// Spatial vectors and articulated inertias, over one number or lanes of them.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank::recursive {

template <class T>
struct MotionT {
    Vec3T<T> w, v;  // angular, linear (at the origin)
};
template <class T>
struct ForceT {
    Vec3T<T> n, f;  // moment about the origin, force
};
using Twist = MotionT<double>;
using Load = ForceT<double>;

template <class T>
inline MotionT<T> operator+(const MotionT<T>& a, const MotionT<T>& b) {
    return {a.w + b.w, a.v + b.v};
}
template <class T>
inline MotionT<T>& operator+=(MotionT<T>& a, const MotionT<T>& b) {
    a.w += b.w;
    a.v += b.v;
    return a;
}
template <class T>
inline ForceT<T>& operator+=(ForceT<T>& a, const ForceT<T>& b) {
    a.n += b.n;
    a.f += b.f;
    return a;
}
template <class T>
inline T dot(const MotionT<T>& m, const ForceT<T>& f) {
    return dot(m.w, f.n) + dot(m.v, f.f);
}
template <class S, class T>
inline MotionT<T> operator*(S s, const MotionT<T>& m) {
    return {s * m.w, s * m.v};
}
template <class S, class T>
inline ForceT<T> operator*(S s, const ForceT<T>& m) {
    return {s * m.n, s * m.f};
}
// Rate of a motion that stands still in axes that move with `frame`.
template <class T>
inline MotionT<T> cross(const MotionT<T>& frame, const MotionT<T>& m) {
    return {cross(frame.w, m.w), cross(frame.w, m.v) + cross(frame.v, m.w)};
}

// Symmetric 3×3, in the order xx, yy, zz, xy, xz, yz.
template <class T>
struct SymmetricT {
    T m[6];
};
template <class T>
inline Vec3T<T> operator*(const SymmetricT<T>& s, const Vec3T<T>& v) {
    return {s.m[0] * v.x + s.m[3] * v.y + s.m[4] * v.z, s.m[3] * v.x + s.m[1] * v.y + s.m[5] * v.z,
            s.m[4] * v.x + s.m[5] * v.y + s.m[2] * v.z};
}

// A symmetric map of accelerations to forces:  n = A ω̇ + B a,  f = Bᵀ ω̇ + C a.
template <class T>
struct ArticulatedT {
    SymmetricT<T> A;
    Mat3T<T> B;
    SymmetricT<T> C;

    ForceT<T> operator*(const MotionT<T>& a) const { return {A * a.w + B * a.v, transpose_times(B, a.w) + C * a.v}; }
    ArticulatedT& operator+=(const ArticulatedT& o) {
        for (int k = 0; k < 6; ++k) A.m[k] += o.A.m[k];
        for (int k = 0; k < 9; ++k) B.m[k] += o.B.m[k];
        for (int k = 0; k < 6; ++k) C.m[k] += o.C.m[k];
        return *this;
    }
    // += s p qᵀ, symmetric part: for p = q, or called for both orders with half of s.
    void add_dyad(T s, const ForceT<T>& p, const ForceT<T>& q) {
        const Vec3T<T> pn = s * p.n, pf = s * p.f;
        A.m[0] += pn.x * q.n.x, A.m[1] += pn.y * q.n.y, A.m[2] += pn.z * q.n.z;
        A.m[3] += pn.x * q.n.y, A.m[4] += pn.x * q.n.z, A.m[5] += pn.y * q.n.z;
        B.m[0] += pn.x * q.f.x, B.m[1] += pn.x * q.f.y, B.m[2] += pn.x * q.f.z;
        B.m[3] += pn.y * q.f.x, B.m[4] += pn.y * q.f.y, B.m[5] += pn.y * q.f.z;
        B.m[6] += pn.z * q.f.x, B.m[7] += pn.z * q.f.y, B.m[8] += pn.z * q.f.z;
        C.m[0] += pf.x * q.f.x, C.m[1] += pf.y * q.f.y, C.m[2] += pf.z * q.f.z;
        C.m[3] += pf.x * q.f.y, C.m[4] += pf.x * q.f.z, C.m[5] += pf.y * q.f.z;
    }
};
using Articulated = ArticulatedT<double>;

template <class T>
inline Mat3T<T> full(const SymmetricT<T>& s) {
    return {{s.m[0], s.m[3], s.m[4], s.m[3], s.m[1], s.m[5], s.m[4], s.m[5], s.m[2]}};
}
// R S Rᵀ
template <class T, class R>
inline SymmetricT<T> rotated(const Mat3T<R>& q, const SymmetricT<T>& s) {
    Vec3T<T> c[3];  // rows of R S
    for (int i = 0; i < 3; ++i)
        c[i] = {q.m[3 * i] * s.m[0] + q.m[3 * i + 1] * s.m[3] + q.m[3 * i + 2] * s.m[4],
                q.m[3 * i] * s.m[3] + q.m[3 * i + 1] * s.m[1] + q.m[3 * i + 2] * s.m[5],
                q.m[3 * i] * s.m[4] + q.m[3 * i + 1] * s.m[5] + q.m[3 * i + 2] * s.m[2]};
    const auto entry = [&](int i, int j) {
        return c[i].x * q.m[3 * j] + c[i].y * q.m[3 * j + 1] + c[i].z * q.m[3 * j + 2];
    };
    return {{entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)}};
}
// R B Rᵀ
template <class T, class R>
inline Mat3T<T> rotated(const Mat3T<R>& q, const Mat3T<T>& b) {
    Mat3T<T> c, out;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[3 * i + j] = q.m[3 * i] * b.m[j] + q.m[3 * i + 1] * b.m[3 + j] + q.m[3 * i + 2] * b.m[6 + j];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out.m[3 * i + j] =
                c.m[3 * i] * q.m[3 * j] + c.m[3 * i + 1] * q.m[3 * j + 1] + c.m[3 * i + 2] * q.m[3 * j + 2];
    return out;
}

// The same inertia seen from a point from which the origin lies at r:  B' = B + [r] C,  A' = A − B [r] + [r] B'ᵀ.
template <class T, class R>
inline void shift(const Vec3T<R>& r, ArticulatedT<T>& I) {
    const T* C = I.C.m;
    T* B = I.B.m;
    T* A = I.A.m;
    // −B [r], its upper triangle
    A[0] += B[2] * r.y - B[1] * r.z;
    A[1] += B[3] * r.z - B[5] * r.x;
    A[2] += B[7] * r.x - B[6] * r.y;
    A[3] += B[0] * r.z - B[2] * r.x;
    A[4] += B[1] * r.x - B[0] * r.y;
    A[5] += B[4] * r.x - B[3] * r.y;
    // columns of C crossed by r
    B[0] += r.y * C[4] - r.z * C[3];
    B[1] += r.y * C[5] - r.z * C[1];
    B[2] += r.y * C[2] - r.z * C[5];
    B[3] += r.z * C[0] - r.x * C[4];
    B[4] += r.z * C[3] - r.x * C[5];
    B[5] += r.z * C[4] - r.x * C[2];
    B[6] += r.x * C[3] - r.y * C[0];
    B[7] += r.x * C[1] - r.y * C[3];
    B[8] += r.x * C[5] - r.y * C[4];
    // [r] B'ᵀ: row i of r × (row j of B')
    A[0] += r.y * B[2] - r.z * B[1];
    A[1] += r.z * B[3] - r.x * B[5];
    A[2] += r.x * B[7] - r.y * B[6];
    A[3] += r.y * B[5] - r.z * B[4];
    A[4] += r.y * B[8] - r.z * B[7];
    A[5] += r.z * B[6] - r.x * B[8];
}

// From a link's frame to another's in which its axes are q and its origin r, and back.
template <class T, class R>
inline ForceT<T> outward(const Mat3T<R>& q, const Vec3T<R>& r, const ForceT<T>& p) {
    const Vec3T<T> f = q * p.f;
    return {q * p.n + cross(r, f), f};
}
template <class T, class R>
inline MotionT<T> inward(const Mat3T<R>& q, const Vec3T<R>& r, const MotionT<T>& m) {
    return {transpose_times(q, m.w), transpose_times(q, m.v + cross(m.w, r))};
}

}  // namespace bellcrank::recursive
