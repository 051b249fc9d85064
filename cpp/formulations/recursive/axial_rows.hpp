// Steps of the articulated-body algorithm from one axial turn to the next (joint_kernels.hpp), one state at a time, by
// rows of the three 3×3 blocks in vectors. What goes from joint to joint are 27 numbers, which so stay in registers; by
// single numbers half of the instructions load and store them.
#pragma once

#include <cstddef>

#include "formulations/recursive/tree_pass.hpp"

#if BELLCRANK_LANES == 4

namespace bellcrank::recursive {

using Pair = double __attribute__((vector_size(16)));

template <int a, int b, int c, int d>
inline Lane pick(const Lane& v) {
    return __builtin_shufflevector(v, v, a, b, c, d);
}
template <int mask>
inline Lane blend(const Lane& from, const Lane& other) {
    return _mm256_blend_pd(from, other, mask);
}
inline Pair low(const Lane& v) { return _mm256_castpd256_pd128(v); }
inline Pair high(const Lane& v) { return _mm256_extractf128_pd(v, 1); }
inline Pair swapped(const Pair& v) { return __builtin_shufflevector(v, v, 1, 0); }
inline Lane three(const double* v) { return blend<0b1000>(load_lane(v), broadcast(0.0)); }

// A vector of three is loaded and stored with the number after it.
static_assert(offsetof(LinkWork<double>, U) == offsetof(LinkWork<double>, velocity) + 6 * sizeof(double) &&
              offsetof(LinkWork<double>, inverse) == offsetof(LinkWork<double>, U) + 6 * sizeof(double));

// The last lane of all rows is zero. A is kept as far as it is needed: xx, xy; xy, yy; and its row along z.
class AxialRows {
  public:
    AxialRows(const ArticulatedT<double>& I, const ForceT<double>& p)
        : A0_{I.A.m[0], I.A.m[3]},
          A1_{I.A.m[3], I.A.m[1]},
          A2_{I.A.m[4], I.A.m[5], I.A.m[2], 0},
          n_{p.n.x, p.n.y, p.n.z, 0},
          f_{p.f.x, p.f.y, p.f.z, 0} {
        const int C[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
        for (int i = 0; i < 3; ++i) {
            B_[i] = Lane{I.B.m[3 * i], I.B.m[3 * i + 1], I.B.m[3 * i + 2], 0};
            C_[i] = Lane{I.C.m[C[i][0]], I.C.m[C[i][1]], I.C.m[C[i][2]], 0};
        }
    }

    void get(ArticulatedT<double>& I, ForceT<double>& p) const {
        I.A = {{A0_[0], A1_[1], A2_[2], A1_[0], A2_[0], A2_[1]}};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) I.B.m[3 * i + j] = B_[i][j];
        I.C = {{C_[0][0], C_[1][1], C_[2][2], C_[0][1], C_[0][2], C_[1][2]}};
        p = {{n_[0], n_[1], n_[2]}, {f_[0], f_[1], f_[2]}};
    }

    // The link's own inertia, and v × (I v) with the momenta L = J ω + h × v and P = m v − h × ω.
    void add_own(const OwnRows& own, const MotionT<double>& velocity) {
        const Vec3T<double>&w = velocity.w, &v = velocity.v;
        const Lane wx = broadcast(w.x), wy = broadcast(w.y), wz = broadcast(w.z);
        const Lane wv = three(&w.x), vv = three(&v.x);
        const Lane L = own.A[0] * wx + own.A[1] * wy + own.A[2] * wz -
                       (own.B[0] * broadcast(v.x) + own.B[1] * broadcast(v.y) + own.B[2] * broadcast(v.z));
        const Lane P = own.B[0] * wx + own.B[1] * wy + own.B[2] * wz + own.mass * vv;
        const Lane w1 = pick<1, 2, 0, 3>(wv), v1 = pick<1, 2, 0, 3>(vv);
        const Lane L1 = pick<1, 2, 0, 3>(L), P1 = pick<1, 2, 0, 3>(P);
        n_ += pick<1, 2, 0, 3>(wv * L1 - w1 * L + vv * P1 - v1 * P);
        f_ += pick<1, 2, 0, 3>(wv * P1 - w1 * P);
        A0_ += low(own.A[0]), A1_ += low(own.A[1]), A2_ += own.A[2];
        for (int i = 0; i < 3; ++i) B_[i] += own.B[i];
        const Lane none = broadcast(0.0);
        C_[0] += blend<0b0001>(none, own.mass), C_[1] += blend<0b0010>(none, own.mass);
        C_[2] += blend<0b0100>(none, own.mass);
    }

    // Eliminates the turn: docs/theory/recursive.md, (3) for one free speed. The rows of A and B along z vanish.
    void reduce(double effort, double rate, LinkWork<double>& link) {
        const Vec3T<double>&w = link.velocity.w, &v = link.velocity.v;
        const Lane turned = broadcast(rate);
        // The rate of the axis at constant speed: v × (z q̇).
        const Lane wx = broadcast(w.y) * turned, wy = -(broadcast(w.x) * turned);
        const Lane vx = broadcast(v.y) * turned, vy = -(broadcast(v.x) * turned);

        const Lane inverse = 1.0 / pick<2, 2, 2, 2>(A2_), left = broadcast(effort) - pick<2, 2, 2, 2>(n_);
        const Lane Un = A2_, Uf = B_[2], un = Un * inverse, uf = Uf * inverse, z = left * inverse;
        store_lane(&link.U.n.x, Un);
        store_lane(&link.U.f.x, Uf);
        link.inverse = inverse[0], link.z = left[0];
        const Lane ux = pick<0, 0, 0, 0>(un), uy = pick<1, 1, 1, 1>(un);
        A0_ -= low(ux) * low(Un), A1_ -= low(uy) * low(Un);
        B_[0] -= ux * Uf, B_[1] -= uy * Uf;
        C_[0] -= pick<0, 0, 0, 0>(uf) * Uf, C_[1] -= pick<1, 1, 1, 1>(uf) * Uf, C_[2] -= pick<2, 2, 2, 2>(uf) * Uf;
        const Pair along = __builtin_shufflevector(low(vx), low(vy), 0, 2);
        const Pair n = A0_ * low(wx) + A1_ * low(wy) + Pair(_mm_hadd_pd(low(B_[0]) * along, low(B_[1]) * along));
        n_ += Un * z + Lane(_mm256_zextpd128_pd256(n));
        f_ += Uf * z + B_[0] * wx + B_[1] * wy + C_[0] * vx + C_[1] * vy;
    }

    // Into the axes of the joint.
    void turn(double sine, double cosine) {
        const Lane s = broadcast(sine), c = broadcast(cosine);
        const Lane stay = blend<0b1100>(c, broadcast(1.0)), cross = s * Lane{-1, 1, 0, 0};
        const auto mixed = [&](const Lane& row) { return row * stay + pick<1, 0, 2, 3>(row) * cross; };
        const auto pair = [&](const Pair& row) { return Pair(_mm_fmaddsub_pd(low(c), row, low(s) * swapped(row))); };
        const Pair A0 = low(c) * A0_ - low(s) * A1_, A1 = low(s) * A0_ + low(c) * A1_;
        A0_ = pair(A0), A1_ = pair(A1);
        const Lane B0 = c * B_[0] - s * B_[1], B1 = s * B_[0] + c * B_[1];
        B_[0] = mixed(B0), B_[1] = mixed(B1);
        const Lane C0 = c * C_[0] - s * C_[1], C1 = s * C_[0] + c * C_[1];
        C_[0] = mixed(C0), C_[1] = mixed(C1), C_[2] = mixed(C_[2]);
        n_ = mixed(n_), f_ = mixed(f_);
    }

    // From the joint's frame to the parent's, which is reached by a shift along z, a turn about x and a shift along x:
    // each shift r makes B' = B + [r] C and A' = A − B [r] + [r] B'ᵀ.
    void to_parent(const LinkConstants& k) {
        shift_along_z(broadcast(k.along));
        turn_about_x(broadcast(k.R[7]), broadcast(k.R[4]));
        shift_along_x(broadcast(k.r[0]));
    }

  private:
    void shift_along_z(const Lane& d) {
        const Pair e = low(d), B0 = low(B_[0]), B1 = low(B_[1]);
        B_[0] -= d * C_[1], B_[1] += d * C_[0];
        const Pair x = __builtin_shufflevector(low(B_[0]), low(B_[1]), 0, 2);
        const Pair y = __builtin_shufflevector(low(B_[0]), low(B_[1]), 1, 3);
        A0_ = Pair(_mm_addsub_pd(A0_, e * swapped(B0))) - e * y;
        A1_ = Pair(_mm_addsub_pd(A1_, e * swapped(B1))) + e * x;
        n_ += pick<1, 0, 2, 3>(f_) * (d * Lane{-1, 1, 0, 0});
    }

    void turn_about_x(const Lane& s, const Lane& c) {
        const Lane one = broadcast(1.0), stay = blend<0b0110>(one, c), cross = s * Lane{0, -1, 1, 0};
        const auto mixed = [&](const Lane& row) { return row * stay + pick<0, 2, 1, 3>(row) * cross; };
        const Lane A1 = pick<0, 1, 1, 3>(_mm256_zextpd128_pd256(A1_)) * blend<0b0100>(stay, s);
        A1_ = low(c) * low(A1), A2_ = s * A1;
        const Lane B1 = mixed(B_[1]);
        B_[0] = mixed(B_[0]), B_[1] = c * B1, B_[2] = s * B1;
        const Lane C1 = mixed(C_[1]), C2 = mixed(C_[2]);
        C_[0] = mixed(C_[0]), C_[1] = c * C1 - s * C2, C_[2] = s * C1 + c * C2;
        n_ = mixed(n_), f_ = mixed(f_);
    }

    void shift_along_x(const Lane& a) {
        const Lane cross = a * Lane{0, -1, 1, 0}, B2 = pick<0, 2, 1, 3>(B_[2]);
        const Pair before = high(B_[1]);
        B_[1] -= a * C_[2], B_[2] += a * C_[1];
        const Lane y = blend<0b0100>(_mm256_unpackhi_pd(B_[0], B_[1]), pick<0, 1, 1, 3>(B_[2]));
        A2_ += B2 * cross + a * y;
        A1_ -= low(a) * Pair(_mm_unpacklo_pd(high(B_[0]), before + high(B_[1])));
        A0_ = __builtin_shufflevector(A0_, A1_, 0, 2);
        n_ += pick<0, 2, 1, 3>(f_) * cross;
    }

    Pair A0_, A1_;
    Lane A2_, B_[3], C_[3], n_, f_;
};

}  // namespace bellcrank::recursive

#endif
