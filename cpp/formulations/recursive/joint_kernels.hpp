// Steps of the articulated-body algorithm across one joint, for each of its motions (R. Featherstone, Rigid Body
// Dynamics Algorithms, chapter 7, in three 3×3 blocks). Frames: rotation R and shift r of the joint's in the parent's;
// a turn rotates about its z axis, a slide moves along it.
#pragma once

#include <cmath>
#include <cstring>

#include "formulations/recursive/tree_pass.hpp"
#include "programs/sine_cosine.hpp"

namespace bellcrank::recursive {

// One polynomial for all lanes, while all of them are within its range.
template <class T>
inline void sine_and_cosine(const T& x, T& s, T& c) {
    constexpr int kCount = sizeof(T) / sizeof(double);
    double in[kCount], sine[kCount], cosine[kCount];
    bool within = true;
    std::memcpy(in, &x, sizeof x);
    for (int l = 0; l < kCount; ++l) within &= within_sine_bound(in[l]);
    if (within) {
        for (int l = 0; l < kCount; ++l) {
            const SineCosine both = sine_cosine(in[l]);
            sine[l] = both.sine, cosine[l] = both.cosine;
        }
    } else {
        for (int l = 0; l < kCount; ++l) sine[l] = std::sin(in[l]), cosine[l] = std::cos(in[l]);
    }
    std::memcpy(&s, sine, sizeof s), std::memcpy(&c, cosine, sizeof c);
}

template <class T>
inline T number(double s) {
    if constexpr (sizeof(T) == sizeof(double))
        return s;
    else
        return broadcast(s);
}
template <class T>
inline Vec3T<T> zero() {
    return {number<T>(0.0), number<T>(0.0), number<T>(0.0)};
}
template <class T>
inline Mat3T<T> matrix_of(const LinkConstants& k) {
    Mat3T<T> out;
    for (int i = 0; i < 9; ++i) out.m[i] = number<T>(k.R[i]);
    return out;
}
template <class T>
inline Vec3T<T> shift_of(const LinkConstants& k) {
    return {number<T>(k.r[0]), number<T>(k.r[1]), number<T>(k.r[2])};
}

// Velocity or acceleration of the parent, as the link has it before its joint adds to it.
template <class T>
inline MotionT<T> before_turn(const LinkConstants& k, const T& s, const T& c, const MotionT<T>& parent) {
    const Vec3T<T>&w = parent.w, &v = parent.v;
    const double* R = k.R;
    const T x = v.x + (w.y * k.r[2] - w.z * k.r[1]), y = v.y + (w.z * k.r[0] - w.x * k.r[2]),
            z = v.z + (w.x * k.r[1] - w.y * k.r[0]);
    const T wx = R[0] * w.x + R[3] * w.y + R[6] * w.z, wy = R[1] * w.x + R[4] * w.y + R[7] * w.z,
            wz = R[2] * w.x + R[5] * w.y + R[8] * w.z;
    const T vx = R[0] * x + R[3] * y + R[6] * z, vy = R[1] * x + R[4] * y + R[7] * z,
            vz = R[2] * x + R[5] * y + R[8] * z;
    return {{c * wx + s * wy, c * wy - s * wx, wz}, {c * vx + s * vy, c * vy - s * vx, vz}};
}

// The same where the joint's frame is reached by a shift along x, a turn about x and a shift along z.
template <class T>
inline MotionT<T> before_axial_turn(const LinkConstants& k, const T& s, const T& c, const MotionT<T>& parent) {
    const Vec3T<T>&w = parent.w, &v = parent.v;
    const double cosine = k.R[4], sine = k.R[7], a = k.r[0], d = k.along;
    const T vy = v.y + a * w.z, vz = v.z - a * w.y;
    const T wx = w.x, wy = cosine * w.y + sine * w.z, wz = cosine * w.z - sine * w.y;
    const T ux = v.x + d * wy, uy = cosine * vy + sine * vz - d * wx, uz = cosine * vz - sine * vy;
    return {{c * wx + s * wy, c * wy - s * wx, wz}, {c * ux + s * uy, c * uy - s * ux, uz}};
}

template <class T>
inline void rotate_pair(const T& s, const T& c, T& x, T& y) {
    const T turned = c * x - s * y;
    y = s * x + c * y;
    x = turned;
}

// Of the symmetric xx, yy, xy.
template <class T>
inline void rotate_block(const T& cc, const T& ss, const T& sc, T& xx, T& yy, T& xy) {
    const T turned = cc * xx + ss * yy - (sc + sc) * xy, sum = xx + yy;
    xy = sc * (xx - yy) + (cc - ss) * xy;
    xx = turned;
    yy = sum - turned;
}

// Eliminates a turn about z and turns the rest into the joint's axes. The rows of A and B along z vanish.
template <class T>
inline void reduce_turn(const LinkConstants& k, const T& rate, const T& effort, LinkWork<T>& w, ArticulatedT<T>& I,
                        ForceT<T>& p) {
    T *A = I.A.m, *B = I.B.m, *C = I.C.m;
    const ForceT<T> U{{A[4], A[5], A[2]}, {B[6], B[7], B[8]}};
    const T inverse = 1.0 / (A[2] + k.rotor), left = effort - p.n.z, z = left * inverse;
    w.U = U, w.inverse = inverse, w.z = left;
    const T ux = U.n.x * inverse, uy = U.n.y * inverse;
    A[0] -= ux * U.n.x, A[1] -= uy * U.n.y, A[3] -= ux * U.n.y;
    B[0] -= ux * U.f.x, B[1] -= ux * U.f.y, B[2] -= ux * U.f.z;
    B[3] -= uy * U.f.x, B[4] -= uy * U.f.y, B[5] -= uy * U.f.z;
    const T fx = U.f.x * inverse, fy = U.f.y * inverse, fz = U.f.z * inverse;
    C[0] -= fx * U.f.x, C[1] -= fy * U.f.y, C[2] -= fz * U.f.z;
    C[3] -= fx * U.f.y, C[4] -= fx * U.f.z, C[5] -= fy * U.f.z;
    // The rate of the axis at constant speed: v × (z q̇).
    const T wx = w.velocity.w.y * rate, wy = -w.velocity.w.x * rate, vx = w.velocity.v.y * rate,
            vy = -w.velocity.v.x * rate;
    p.n.x += A[0] * wx + A[3] * wy + B[0] * vx + B[1] * vy + U.n.x * z;
    p.n.y += A[3] * wx + A[1] * wy + B[3] * vx + B[4] * vy + U.n.y * z;
    p.n.z += U.n.z * z;
    p.f.x += B[0] * wx + B[3] * wy + C[0] * vx + C[3] * vy + U.f.x * z;
    p.f.y += B[1] * wx + B[4] * wy + C[3] * vx + C[1] * vy + U.f.y * z;
    p.f.z += B[2] * wx + B[5] * wy + C[4] * vx + C[5] * vy + U.f.z * z;

    const T s = w.sine, c = w.cosine, cc = c * c, ss = s * s, sc = s * c;
    rotate_block(cc, ss, sc, A[0], A[1], A[3]);
    rotate_block(cc, ss, sc, C[0], C[1], C[3]);
    rotate_pair(s, c, C[4], C[5]);
    rotate_pair(s, c, B[2], B[5]);
    rotate_pair(s, c, B[0], B[3]);
    rotate_pair(s, c, B[1], B[4]);
    rotate_pair(s, c, B[0], B[1]);
    rotate_pair(s, c, B[3], B[4]);
    rotate_pair(s, c, p.n.x, p.n.y);
    rotate_pair(s, c, p.f.x, p.f.y);
}

// From the joint's frame to the parent's; A and B without rows along z.
template <class T>
inline void to_parent_after_turn(const LinkConstants& k, ArticulatedT<T>& I, ForceT<T>& p) {
    const double* R = k.R;
    const T *A = I.A.m, *B = I.B.m;
    ArticulatedT<T> out;
    T a0[3], a1[3], b[3][3];  // rows of R A and R B
    for (int i = 0; i < 3; ++i) {
        a0[i] = R[3 * i] * A[0] + R[3 * i + 1] * A[3];
        a1[i] = R[3 * i] * A[3] + R[3 * i + 1] * A[1];
        for (int j = 0; j < 3; ++j) b[i][j] = R[3 * i] * B[j] + R[3 * i + 1] * B[3 + j];
    }
    const auto entry = [&](int i, int j) { return a0[i] * R[3 * j] + a1[i] * R[3 * j + 1]; };
    out.A = {{entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out.B.m[3 * i + j] = b[i][0] * R[3 * j] + b[i][1] * R[3 * j + 1] + b[i][2] * R[3 * j + 2];
    out.C = rotated(matrix_of<T>(k), I.C);
    shift(shift_of<T>(k), out);
    I = out;
    p = outward(matrix_of<T>(k), shift_of<T>(k), p);
}

// The same where the joint's frame is reached by a shift along x, a turn about x and a shift along z.
template <class T>
inline void to_parent_after_axial_turn(const LinkConstants& k, ArticulatedT<T>& I, ForceT<T>& p) {
    const double c = k.R[4], s = k.R[7], a = k.r[0], d = k.along;
    T *A = I.A.m, *B = I.B.m, *C = I.C.m;
    // Along z, which leaves the rows of A and B along z at zero.
    A[0] -= d * B[1], A[1] += d * B[3], A[3] += d * B[0];
    B[0] -= d * C[3], B[1] -= d * C[1], B[2] -= d * C[5];
    B[3] += d * C[0], B[4] += d * C[3], B[5] += d * C[4];
    A[0] -= d * B[1], A[1] += d * B[3], A[3] -= d * B[4];
    p.n.x -= d * p.f.y, p.n.y += d * p.f.x;
    // About x.
    const double cc = c * c, ss = s * s, sc = s * c;
    A[2] = ss * A[1], A[5] = sc * A[1], A[1] = cc * A[1];
    A[4] = s * A[3], A[3] = c * A[3];
    for (int i = 0; i < 6; i += 3) {
        const T turned = c * B[i + 1] - s * B[i + 2];
        B[i + 2] = s * B[i + 1] + c * B[i + 2];
        B[i + 1] = turned;
    }
    for (int j = 0; j < 3; ++j) B[6 + j] = s * B[3 + j], B[3 + j] = c * B[3 + j];
    const T turned = cc * C[1] + ss * C[2] - (2.0 * sc) * C[5], sum = C[1] + C[2];
    C[5] = sc * (C[1] - C[2]) + (cc - ss) * C[5];
    C[1] = turned, C[2] = sum - turned;
    const T xy = c * C[3] - s * C[4];
    C[4] = s * C[3] + c * C[4], C[3] = xy;
    const T ny = c * p.n.y - s * p.n.z, fy = c * p.f.y - s * p.f.z;
    p.n.z = s * p.n.y + c * p.n.z, p.n.y = ny;
    p.f.z = s * p.f.y + c * p.f.z, p.f.y = fy;
    // Along x.
    A[1] -= a * B[5], A[2] += a * B[7], A[3] -= a * B[2], A[4] += a * B[1], A[5] += a * B[4];
    B[3] -= a * C[4], B[4] -= a * C[5], B[5] -= a * C[2];
    B[6] += a * C[3], B[7] += a * C[1], B[8] += a * C[5];
    A[1] -= a * B[5], A[2] += a * B[7], A[5] -= a * B[8];
    p.n.y -= a * p.f.z, p.n.z += a * p.f.y;
}

template <class T>
inline void to_parent(const Mat3T<T>& R, const Vec3T<T>& r, ArticulatedT<T>& I, ForceT<T>& p) {
    I = {rotated(R, I.A), rotated(R, I.B), rotated(R, I.C)};
    shift(r, I);
    p = outward(R, r, p);
}

// S = L D Lᵀ. Solutions by the factors know a small eigenvalue as well as S does; those by an inverse lose its digits
// twice.
template <class T>
struct FactorsT {
    T l10, l20, l21;
    T inverse[3];  // of D

    FactorsT() = default;
    explicit FactorsT(const SymmetricT<T>& s) {
        const T* m = s.m;
        inverse[0] = 1.0 / m[0];
        l10 = m[3] * inverse[0], l20 = m[4] * inverse[0];
        const T c = m[5] - l20 * m[3];
        inverse[1] = 1.0 / (m[1] - l10 * m[3]);
        l21 = c * inverse[1];
        inverse[2] = 1.0 / (m[2] - l20 * m[4] - l21 * c);
    }
    // L⁻¹ b
    template <class V>
    Vec3T<V> forward(const Vec3T<V>& b) const {
        const V y = b.y - l10 * b.x;
        return {b.x, y, b.z - l20 * b.x - l21 * y};
    }
    // L⁻ᵀ D⁻¹ y
    template <class V>
    Vec3T<V> back(const Vec3T<V>& y) const {
        const V z2 = inverse[2] * y.z, z1 = inverse[1] * y.y - l21 * z2;
        return {inverse[0] * y.x - l10 * z1 - l20 * z2, z1, z2};
    }
    template <class V>
    Vec3T<V> solve(const Vec3T<V>& b) const {
        return back(forward(b));
    }
    // S − Bᵀ (L D Lᵀ)⁻¹ B, with L⁻¹ B given by columns.
    void take_from(SymmetricT<T>& S, const Vec3T<T>* columns) const {
        const auto product = [&](int a, int b) {
            const Vec3T<T>&p = columns[a], &q = columns[b];
            return inverse[0] * p.x * q.x + inverse[1] * p.y * q.y + inverse[2] * p.z * q.z;
        };
        S.m[0] -= product(0, 0), S.m[1] -= product(1, 1), S.m[2] -= product(2, 2);
        S.m[3] -= product(0, 1), S.m[4] -= product(0, 2), S.m[5] -= product(1, 2);
    }
};

template <class T>
inline void store(T* p, const FactorsT<T>& D) {
    p[0] = D.l10, p[1] = D.l20, p[2] = D.l21;
    for (int i = 0; i < 3; ++i) p[3 + i] = D.inverse[i];
}
template <class T>
inline FactorsT<T> load_factors(const T* p) {
    FactorsT<T> D;
    D.l10 = p[0], D.l20 = p[1], D.l21 = p[2];
    for (int i = 0; i < 3; ++i) D.inverse[i] = p[3 + i];
    return D;
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
    const QuatT<T> q = load_quaternion(x + k.x + (k.motion == Motion::free ? 3 : 0));
    return matrix_of<T>(k) * rotation_matrix(q);
}
template <class T>
inline Vec3T<T> shift_of(const LinkConstants& k, const T* x) {
    Vec3T<T> r = shift_of<T>(k);
    if (k.motion == Motion::slide) {
        const T along = x[k.x] + k.offset;
        r += Vec3T<T>{k.R[2] * along, k.R[5] * along, k.R[8] * along};
    }
    if (k.motion == Motion::free) r += matrix_of<T>(k) * load(x + k.x);
    return r;
}

// What the joint's speeds add to the velocity.
template <class T>
inline MotionT<T> own_velocity(const LinkConstants& k, const T* x, const T* u) {
    const T o = number<T>(0.0);
    if (k.motion == Motion::slide) return {zero<T>(), {o, o, u[k.u]}};
    if (k.motion == Motion::ball) return {load(u + k.u), zero<T>()};
    const Mat3T<T> R = rotation_matrix(load_quaternion(x + k.x + 3));
    return {load(u + k.u + 3), transpose_times(R, load(u + k.u))};
}

// The rate of own_velocity at constant speeds.
template <class T>
inline MotionT<T> bias_of(const LinkConstants& k, const MotionT<T>& velocity, const MotionT<T>& own) {
    MotionT<T> c = cross(velocity, own);
    if (k.motion == Motion::free) c.v += -cross(own.w, own.v);
    return c;
}

}  // namespace bellcrank::recursive
