// Spatial vectors, inertias and frames: over one number, lanes of them (spatial/lanes.hpp), numbers of double length
// and expressions. Motions are (ω; v) and forces (n; f), at the origin of a frame and in its axes.
#pragma once

#include <cmath>
#include <cstring>

#include "spatial/algebra.hpp"

namespace bellcrank {

// A frame in another: its rotation, in numbers, and where its origin is.
// r_outer = rotation r_inner + shift; for shifts of other scalars there are products with rotations of numbers.
template <class V>
struct PlaceOf {
    Mat3 rotation{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    V shift{};
};
using Place = PlaceOf<Vec3>;

template <class V>
PlaceOf<V> operator*(const PlaceOf<V>& a, const PlaceOf<V>& b) {
    return {a.rotation * b.rotation, a.shift + a.rotation * b.shift};
}
template <class V>
PlaceOf<V> inverse(const PlaceOf<V>& a) {
    return {transpose(a.rotation), -transpose_times(a.rotation, a.shift)};
}

// A rotation whose z axis is the coordinate axis: (x, y, z) → (z, x, y), or twice.
inline Mat3 z_to_axis(int axis) {
    if (axis == 0) return {{0, 0, 1, 1, 0, 0, 0, 1, 0}};
    if (axis == 1) return {{0, 1, 0, 0, 0, 1, 1, 0, 0}};
    return Place{}.rotation;
}

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
template <class S, class T>
inline ProductOf<S, T> dot(const MotionT<S>& m, const ForceT<T>& f) {
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
// The rate of a motion that stands still in axes that move with `frame`.
template <class S, class T>
inline MotionT<ProductOf<S, T>> cross(const MotionT<S>& frame, const MotionT<T>& m) {
    return {cross(frame.w, m.w), cross(frame.w, m.v) + cross(frame.v, m.w)};
}
// The same of a force; less the transpose of that of motions.
template <class S, class T>
inline ForceT<ProductOf<S, T>> cross(const MotionT<S>& frame, const ForceT<T>& f) {
    return {cross(frame.w, f.n) + cross(frame.v, f.f), cross(frame.w, f.f)};
}

// Symmetric 3×3, in the order xx, yy, zz, xy, xz, yz.
template <class T>
struct SymmetricT {
    T m[6];

    T& xx() { return m[0]; }
    T& yy() { return m[1]; }
    T& zz() { return m[2]; }
    T& xy() { return m[3]; }
    T& xz() { return m[4]; }
    T& yz() { return m[5]; }
    const T& xx() const { return m[0]; }
    const T& yy() const { return m[1]; }
    const T& zz() const { return m[2]; }
    const T& xy() const { return m[3]; }
    const T& xz() const { return m[4]; }
    const T& yz() const { return m[5]; }
};
template <class T>
inline SymmetricT<T>& operator+=(SymmetricT<T>& a, const SymmetricT<T>& b) {
    for (int k = 0; k < 6; ++k) a.m[k] += b.m[k];
    return a;
}
template <class S, class T>
inline Vec3T<ProductOf<S, T>> operator*(const SymmetricT<S>& s, const Vec3T<T>& v) {
    return {s.m[0] * v.x + s.m[3] * v.y + s.m[4] * v.z, s.m[3] * v.x + s.m[1] * v.y + s.m[5] * v.z,
            s.m[4] * v.x + s.m[5] * v.y + s.m[2] * v.z};
}

// An inertia, rigid or articulated, in three blocks (R. Featherstone, Rigid Body Dynamics Algorithms, chapter 7): a
// symmetric map of accelerations to forces:  n = A ω̇ + B a,  f = Bᵀ ω̇ + C a.
template <class T>
struct ArticulatedT {
    SymmetricT<T> A;
    Mat3T<T> B;
    SymmetricT<T> C;

    ForceT<T> operator*(const MotionT<T>& a) const { return {A * a.w + B * a.v, transpose_times(B, a.w) + C * a.v}; }
    ArticulatedT& operator+=(const ArticulatedT& o) {
        A += o.A;
        for (int k = 0; k < 9; ++k) B.m[k] += o.B.m[k];
        C += o.C;
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
// q S qᵀ
template <class T, class R>
inline SymmetricT<T> rotated(const Mat3T<R>& q, const SymmetricT<T>& s) {
    Vec3T<T> c[3];  // rows of q S
    for (int i = 0; i < 3; ++i)
        c[i] = {q.m[3 * i] * s.m[0] + q.m[3 * i + 1] * s.m[3] + q.m[3 * i + 2] * s.m[4],
                q.m[3 * i] * s.m[3] + q.m[3 * i + 1] * s.m[1] + q.m[3 * i + 2] * s.m[5],
                q.m[3 * i] * s.m[4] + q.m[3 * i + 1] * s.m[5] + q.m[3 * i + 2] * s.m[2]};
    const auto entry = [&](int i, int j) {
        return c[i].x * q.m[3 * j] + c[i].y * q.m[3 * j + 1] + c[i].z * q.m[3 * j + 2];
    };
    return {{entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)}};
}
// q B qᵀ
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

// Take motions and forces from the frame that lies in another, its axes at `R` and its origin at `r`, to that one, and
// back (Featherstone, table 2.2 and section 2.8).
template <class T, class S>
inline MotionT<T> outward(const Mat3T<S>& R, const Vec3T<S>& r, const MotionT<T>& m) {
    const Vec3T<T> w = R * m.w;
    return {w, R * m.v + cross(r, w)};
}
template <class T, class S>
inline ForceT<T> outward(const Mat3T<S>& R, const Vec3T<S>& r, const ForceT<T>& p) {
    const Vec3T<T> f = R * p.f;
    return {R * p.n + cross(r, f), f};
}
template <class T, class S>
inline MotionT<T> inward(const Mat3T<S>& R, const Vec3T<S>& r, const MotionT<T>& m) {
    return {transpose_times(R, m.w), transpose_times(R, m.v + cross(m.w, r))};
}
template <class T, class S>
inline ForceT<T> inward(const Mat3T<S>& R, const Vec3T<S>& r, const ForceT<T>& p) {
    return {transpose_times(R, p.n - cross(r, p.f)), transpose_times(R, p.f)};
}

// Spatial vectors in registers, as four numbers and two, and 6×6 matrices, column by column.
struct Six {
    using Four = double __attribute__((vector_size(32)));
    using Two = double __attribute__((vector_size(16)));
    Four a;
    Two b;
};

inline Six six(const double* p) {
    Six v;
    std::memcpy(&v.a, p, sizeof v.a);
    std::memcpy(&v.b, p + 4, sizeof v.b);
    return v;
}
inline void put(double* p, const Six& v) {
    std::memcpy(p, &v.a, sizeof v.a);
    std::memcpy(p + 4, &v.b, sizeof v.b);
}
inline Six operator+(const Six& x, const Six& y) { return {x.a + y.a, x.b + y.b}; }
inline Six operator-(const Six& x, const Six& y) { return {x.a - y.a, x.b - y.b}; }
inline Six operator-(const Six& x) { return {-x.a, -x.b}; }
inline Six operator*(double s, const Six& x) { return {s * x.a, s * x.b}; }
inline double dot(const Six& x, const Six& y) {
    const Six::Four p = x.a * y.a;
    const Six::Two q = x.b * y.b;
    return (p[0] + p[1]) + (p[2] + p[3]) + (q[0] + q[1]);
}
// The size of a product if nothing in it cancelled: signs are bits that are taken off.
inline double size_of_dot(const Six& x, const Six& y) {
    using FourBits = long long __attribute__((vector_size(32)));
    using TwoBits = long long __attribute__((vector_size(16)));
    constexpr long long kSize = 0x7fffffffffffffff;
    const auto p = reinterpret_cast<Six::Four>(reinterpret_cast<FourBits>(x.a * y.a) & kSize);
    const auto q = reinterpret_cast<Six::Two>(reinterpret_cast<TwoBits>(x.b * y.b) & kSize);
    const Six::Two sum = Six::Two{p[0], p[1]} + Six::Two{p[2], p[3]} + q;
    return sum[0] + sum[1];
}
template <int K>
inline double entry(const Six& v) {
    if constexpr (K < 4)
        return v.a[K];
    else
        return v.b[K - 4];
}
template <int K>
inline void set_entry(Six& v, double s) {
    if constexpr (K < 4)
        v.a[K] = s;
    else
        v.b[K - 4] = s;
}

struct Matrix6 {
    double m[36];

    Six column(int j) const { return six(m + 6 * j); }
    void set_column(int j, const Six& v) { put(m + 6 * j, v); }
    double operator()(int i, int j) const { return m[6 * j + i]; }
};

// base + sign · A B; base and out may be one.
template <int kSign, bool kBased>
inline void multiply(const double* base, const Matrix6& A, const double* B, double* out, int columns = 6) {
    const Six c[6] = {A.column(0), A.column(1), A.column(2), A.column(3), A.column(4), A.column(5)};
    for (int j = 0; j < columns; ++j, B += 6, out += 6) {
        Six s = B[0] * c[0];
        for (int k = 1; k < 6; ++k) s = s + B[k] * c[k];
        if constexpr (kSign < 0) s = -s;
        if constexpr (kBased) {
            s = six(base) + s;
            base += 6;
        }
        put(out, s);
    }
}
inline void product(const Matrix6& A, const Matrix6& B, Matrix6& out) { multiply<1, false>(nullptr, A, B.m, out.m); }
inline void sum_product(const Matrix6& base, const Matrix6& A, const Matrix6& B, Matrix6& out) {
    multiply<1, true>(base.m, A, B.m, out.m);
}
inline void difference_product(const Matrix6& base, const Matrix6& A, const Matrix6& B, Matrix6& out) {
    multiply<-1, true>(base.m, A, B.m, out.m);
}
inline Six operator*(const Matrix6& A, const Six& v) {
    double s[6], out[6];
    put(s, v);
    multiply<1, false>(nullptr, A, s, out, 1);
    return six(out);
}
inline Matrix6 transpose(const Matrix6& A) {
    Matrix6 out;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out.m[6 * i + j] = A.m[6 * j + i];
    return out;
}
// Aᵀ v
inline Six transpose_times(const Matrix6& A, const Six& v) {
    double out[6];
    for (int j = 0; j < 6; ++j) out[j] = dot(A.column(j), v);
    return six(out);
}
inline void add(Matrix6& out, const Matrix6& A) {
    for (int j = 0; j < 6; ++j) out.set_column(j, out.column(j) + A.column(j));
}
inline void symmetrize(Matrix6& A) {
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i < j; ++i) A.m[6 * j + i] = A.m[6 * i + j] = 0.5 * (A.m[6 * j + i] + A.m[6 * i + j]);
}
// out = base + ½ (A + Aᵀ)
inline void add_symmetric(const Matrix6& base, const Matrix6& A, Matrix6& out) {
    const Matrix6 T = transpose(A);
    for (int j = 0; j < 6; ++j) out.set_column(j, base.column(j) + 0.5 * (A.column(j) + T.column(j)));
}

// The matrix X of motion_into(place, ·):  ω' = Rᵀ ω,  v' = Rᵀ (v − r × ω). Xᵀ is that of force_out_of.
inline Matrix6 motion_transform(const Place& place) {
    const Mat3& R = place.rotation;
    const Vec3& r = place.shift;
    Matrix6 X;
    for (int i = 0; i < 3; ++i) {  // row i of Rᵀ, and of −Rᵀ [r]× = (r × column i of R)ᵀ
        const Vec3 e{R.m[i], R.m[3 + i], R.m[6 + i]}, c = cross(r, e);
        X.m[i] = e.x, X.m[6 + i] = e.y, X.m[12 + i] = e.z;
        X.m[18 + i] = X.m[24 + i] = X.m[30 + i] = 0.0;
        X.m[3 + i] = c.x, X.m[9 + i] = c.y, X.m[15 + i] = c.z;
        X.m[21 + i] = e.x, X.m[27 + i] = e.y, X.m[33 + i] = e.z;
    }
    return X;
}

inline Twist as_motion(const Six& v) { return {{v.a[0], v.a[1], v.a[2]}, {v.a[3], v.b[0], v.b[1]}}; }
inline Load as_force(const Six& v) { return {{v.a[0], v.a[1], v.a[2]}, {v.a[3], v.b[0], v.b[1]}}; }
inline Six stacked(const Vec3& t, const Vec3& b) { return {Six::Four{t.x, t.y, t.z, b.x}, Six::Two{b.y, b.z}}; }
inline Six stacked(const Twist& m) { return stacked(m.w, m.v); }
inline Six stacked(const Load& f) { return stacked(f.n, f.f); }

// Motions into the frame at `place` and out of it, forces likewise.
inline Six motion_into(const Place& at, const Six& a) { return stacked(inward(at.rotation, at.shift, as_motion(a))); }
inline Six motion_out_of(const Place& at, const Six& a) {
    return stacked(outward(at.rotation, at.shift, as_motion(a)));
}
inline Six force_into(const Place& at, const Six& f) { return stacked(inward(at.rotation, at.shift, as_force(f))); }
inline Six force_out_of(const Place& at, const Six& f) { return stacked(outward(at.rotation, at.shift, as_force(f))); }

// Sweeps the pivots in `mask` of a symmetric matrix [M_ll M_ls; M_sl M_ss], l those of the mask: M_ll becomes −M_ll⁻¹,
// M_ls becomes M_ll⁻¹ M_ls, M_ss what is left of it, M_ss − M_sl M_ll⁻¹ M_ls. Positive definite ones need no pivoting.
template <int K>
inline void sweep_pivot(Six (&c)[6]) {
    const double inverse = 1.0 / entry<K>(c[K]);
    const Six pivot = c[K];
    for (int j = 0; j < 6; ++j) {
        if (j == K) continue;
        const double t = entry<K>(c[j]) * inverse;
        c[j] = c[j] - t * pivot;
        set_entry<K>(c[j], t);
    }
    c[K] = inverse * pivot;
    set_entry<K>(c[K], -inverse);
}
inline void sweep(Matrix6& M, unsigned mask) {
    Six c[6] = {M.column(0), M.column(1), M.column(2), M.column(3), M.column(4), M.column(5)};
    if (mask & 1u) sweep_pivot<0>(c);
    if (mask & 2u) sweep_pivot<1>(c);
    if (mask & 4u) sweep_pivot<2>(c);
    if (mask & 8u) sweep_pivot<3>(c);
    if (mask & 16u) sweep_pivot<4>(c);
    if (mask & 32u) sweep_pivot<5>(c);
    for (int j = 0; j < 6; ++j) M.set_column(j, c[j]);
}
// Inverts a positive definite matrix.
inline void invert(Matrix6& M) {
    sweep(M, 63u);
    for (int j = 0; j < 6; ++j) M.set_column(j, -M.column(j));
}

// The inverse N of the factor L of a positive definite matrix of d columns, A = L Lᵀ, in its place. N, applied and
// applied again, solves with the digits that A has; an inverse loses those of its condition twice.
inline void whiten(double* A, int d) {
    for (int k = 0; k < d; ++k) {
        const double inverse = 1.0 / std::sqrt(A[d * k + k]);
        A[d * k + k] = inverse;
        for (int i = k + 1; i < d; ++i) A[d * k + i] *= inverse;
        for (int j = k + 1; j < d; ++j)
            for (int i = j; i < d; ++i) A[d * j + i] -= A[d * k + i] * A[d * k + j];
        // Row k of the inverse: L_kj for j < k are still those of the factor.
        for (int j = 0; j < k; ++j) {
            double sum = 0.0;
            for (int i = j; i < k; ++i) sum += A[d * i + k] * A[d * j + i];
            A[d * j + k] = -inverse * sum;
        }
    }
    for (int j = 1; j < d; ++j)
        for (int i = 0; i < j; ++i) A[d * j + i] = 0.0;
}

// J m[c]×; m[c]×ᵀ m 1.
inline Matrix6 matrix6(const Articulated& I) {
    Matrix6 out;
    const Mat3 A = full(I.A), C = full(I.C);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            out.m[6 * j + i] = A.m[3 * i + j];
            out.m[6 * (j + 3) + i] = out.m[6 * i + j + 3] = I.B.m[3 * i + j];
            out.m[6 * (j + 3) + i + 3] = C.m[3 * i + j];
        }
    return out;
}

}  // namespace bellcrank
