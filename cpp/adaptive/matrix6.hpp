// Spatial vectors and 6×6 matrices for the nodes of an assembly tree: motions are (ω; v), forces (n; f), matrices lie
// column by column. A column goes through registers as four numbers and two.
#pragma once

#include <cstring>

#include "trees/place.hpp"

namespace bellcrank {

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
// What a product would be if nothing in it cancelled: signs are bits that are taken off.
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

// What takes motions in a frame to motions in another that lies at `place` in it,
//   ω' = Rᵀ ω,  v' = Rᵀ (v − r × ω);
// its transpose takes forces back.
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

inline Vec3 top(const Six& v) { return {v.a[0], v.a[1], v.a[2]}; }
inline Vec3 bottom(const Six& v) { return {v.a[3], v.b[0], v.b[1]}; }
inline Six stacked(const Vec3& t, const Vec3& b) { return {Six::Four{t.x, t.y, t.z, b.x}, Six::Two{b.y, b.z}}; }

// Motions into the frame at `place` and out of it, forces likewise.
inline Six motion_into(const Place& place, const Six& a) {
    const Vec3 w = top(a);
    return stacked(transpose_times(place.rotation, w),
                   transpose_times(place.rotation, bottom(a) - cross(place.shift, w)));
}
inline Six motion_out_of(const Place& place, const Six& a) {
    const Vec3 w = place.rotation * top(a);
    return stacked(w, place.rotation * bottom(a) + cross(place.shift, w));
}
inline Six force_into(const Place& place, const Six& f) {
    const Vec3 b = bottom(f);
    return stacked(transpose_times(place.rotation, top(f) - cross(place.shift, b)), transpose_times(place.rotation, b));
}
inline Six force_out_of(const Place& place, const Six& f) {
    const Vec3 b = place.rotation * bottom(f);
    return stacked(place.rotation * top(f) + cross(place.shift, b), b);
}

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
// Of a positive definite matrix.
inline void invert(Matrix6& M) {
    sweep(M, 63u);
    for (int j = 0; j < 6; ++j) M.set_column(j, -M.column(j));
}

}  // namespace bellcrank
