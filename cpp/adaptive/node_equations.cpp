#include "adaptive/node_equations.hpp"

#include "adaptive/room.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

// Nᵀ N in the place of a lower triangular N.
void square(double* N, int d) {
    for (int j = 0; j < d; ++j)
        for (int i = j; i < d; ++i) {
            double sum = 0.0;
            for (int k = i; k < d; ++k) sum += N[d * i + k] * N[d * j + k];
            N[d * j + i] = sum;
        }
    for (int j = 1; j < d; ++j)
        for (int i = 0; i < j; ++i) N[d * j + i] = N[d * i + j];
}

void axes_of(unsigned bits, int* axis) {
    for (int i = 0; i < 6; ++i)
        if (bits >> i & 1u) *axis++ = i;
}
void clear_axes(const int* axis, int count, Matrix6& W) {
    for (int s = 0; s < count; ++s) {
        W.set_column(axis[s], Six{});
        for (int j = 0; j < 6; ++j) W.m[6 * j + axis[s]] = 0.0;
    }
}

// out += sign xᵀ y of columns of six.
[[gnu::always_inline]] inline void add_products(int N, double sign, const double* x, const double* y, double* out) {
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i) out[N * j + i] += sign * dot(six(x + 6 * i), six(y + 6 * j));
}
// Adds a value to row and column `j` of the constants.
[[gnu::always_inline]] inline void add_to_first(int N, double value, int j, double* out) {
    out[j] += value;
    if (j > 0) out[N * j] += value;
}

// A joint that does not accelerate along n: D − D n (nᵀ D n)⁻¹ nᵀ D takes the place of D, and U and W follow.
void bar(const JointNumbers& joint, Matrix6& W) {
    const int d = joint.freedoms;
    std::copy_n(joint.D, d * d, joint.whole);
    for (int k = 0; k < joint.directions; ++k) {
        const double* n = joint.along + d * k;
        double Dn[6] = {}, across = 0.0, row[6];
        Six nU{};
        for (int i = 0; i < d; ++i) {
            for (int j = 0; j < d; ++j) Dn[i] += joint.D[d * j + i] * n[j];
            across += n[i] * Dn[i];
            nU = nU + n[i] * six(joint.U + 6 * i);
        }
        put(row, nU);
        for (int i = 0; i < d; ++i) {
            for (int j = 0; j < d; ++j) joint.D[d * j + i] -= Dn[i] * Dn[j] / across;
            put(joint.U + 6 * i, six(joint.U + 6 * i) - (Dn[i] / across) * nU);
        }
        for (int j = 0; j < 6; ++j) W.set_column(j, W.column(j) + (row[j] / across) * nU);
    }
    if (joint.directions < d) return;
    std::fill_n(joint.D, d * d, 0.0);
    std::fill_n(joint.U, 6 * d, 0.0);
}

// R = D Q − U β of a joint, where β would be its acceleration if nothing held it. The scalar takes sign (2 Qᵀ U β − Qᵀ
// D Q).
[[gnu::always_inline]] inline void joint_loads(int N, const JointNumbers& joint, const double* effort,
                                               const double* beta, double sign, double* R, double* scalar) {
    const int d = joint.freedoms;
    for (int i = 0; i < d; ++i) {
        double DQ = 0.0;
        for (int j = 0; j < d; ++j) DQ += joint.D[d * j + i] * effort[j];
        if (scalar != nullptr) scalar[0] -= sign * effort[i] * DQ;
        for (int j = 0; j < N; ++j) {
            const double Ubeta = dot(six(joint.U + 6 * i), six(beta + 6 * j));
            R[d * j + i] = (j == 0 ? DQ : 0.0) - Ubeta;
            if (scalar != nullptr) add_to_first(N, (j == 0 ? 2.0 : 1.0) * sign * effort[i] * Ubeta, j, scalar);
        }
    }
}

}  // namespace

Six joint_motion(const JointMotion& motion, const double* S, const double* speeds) {
    Six out{};
    if (!motion.is_axial()) {
        for (int i = 0; i < motion.freedoms(); ++i) out = out + speeds[i] * six(S + 6 * i);
        return out;
    }
    double along[6] = {};
    for (int i = 0; i < 6; ++i)
        if (motion.axes() >> i & 1u) along[i] = *speeds++;
    return six(along);
}

void subspace_components(const JointMotion& motion, const double* S, const double* force, double* along) {
    if (!motion.is_axial())
        for (int i = 0; i < motion.freedoms(); ++i) along[i] = dot(six(S + 6 * i), six(force));
    else
        for (int i = 0; i < 6; ++i)
            if (motion.axes() >> i & 1u) *along++ = force[i];
}

void solve_twice(const double* N, int d, const double* q, const double* sizes, double* out, double* terms) {
    for (int i = 0; i < d; ++i) out[i] = terms[i] = 0.0;
    for (int r = 0; r < d; ++r) {
        double once = 0.0, size = 0.0;
        for (int s = 0; s <= r; ++s) {
            once += N[d * s + r] * q[s];
            size += std::abs(N[d * s + r]) * sizes[s];
        }
        for (int s = 0; s <= r; ++s) {
            out[s] += N[d * s + r] * once;
            terms[s] += std::abs(N[d * s + r]) * size;
        }
    }
}

double energy_along(const double* D, int d, bool factored, const double* u) {
    double factor[36], sum = 0.0, y[6];
    if (factored) {  // |N⁻ᵀ u|²
        for (int i = d; i-- > 0;) {
            double rest = u[i];
            for (int j = i + 1; j < d; ++j) rest -= D[d * i + j] * y[j];
            y[i] = rest / D[d * i + i];
            sum += y[i] * y[i];
        }
        return sum;
    }
    std::copy_n(D, d * d, factor);
    whiten(factor, d);
    for (int r = 0; r < d; ++r) {
        double once = 0.0;
        for (int i = 0; i <= r; ++i) once += factor[d * i + r] * u[i];
        sum += once * once;
    }
    return sum;
}

// Where S consists of axes s of the frame and l are the others, W = M_ll⁻¹, U = (1, −M_sl M_ll⁻¹) and D is what is left
// of M_ss: one sweep of l. Else U and W follow from V S. Of a joint that is locked, W = V.
void split(const JointNumbers& joint, Matrix6& M, Matrix6& W) {
    const int d = joint.freedoms;
    if (d == 0 || !joint.motion.is_axial()) {
        invert(M);
        symmetrize(M);  // else V − Yᵀ Y keeps along S what V and its transpose differ by
        split_impedance(joint, M, W);
        square(joint.D, d);
        return;
    }
    const unsigned axes = joint.motion.axes();
    int axis[6] = {};
    axes_of(axes, axis);
    sweep(M, ~axes & 63u);
    for (int s = 0; s < d; ++s) {
        put(joint.U + 6 * s, -M.column(axis[s]));
        for (int r = 0; r < d; ++r) {
            joint.D[d * s + r] = M(axis[r], axis[s]);
            joint.U[6 * s + axis[r]] = r == s ? 1.0 : 0.0;
        }
    }
    for (int j = 0; j < 6; ++j) W.set_column(j, -M.column(j));
    clear_axes(axis, d, W);
}

// N being the inverse factor of Sᵀ V S and Y = N Sᵀ V,  U = Nᵀ Y and W = V − Yᵀ Y, which is zero along axes of S.
void split_impedance(const JointNumbers& joint, const Matrix6& V, Matrix6& W) {
    const int d = joint.freedoms;
    const bool axial = joint.motion.is_axial();
    double *U = joint.U, *N = joint.D, VS[36];
    int axis[6] = {};
    axes_of(joint.motion.axes(), axis);
    W = V;
    if (d == 0) return;
    for (int s = 0; s < d; ++s) put(VS + 6 * s, axial ? V.column(axis[s]) : V * six(joint.S + 6 * s));
    for (int s = 0; s < d; ++s)
        for (int r = 0; r < d; ++r)
            N[d * s + r] = axial ? VS[6 * s + axis[r]] : dot(six(joint.S + 6 * r), six(VS + 6 * s));
    whiten(N, d);
    double Y[36];
    for (int r = 0; r < d; ++r) {
        Six y{};
        for (int s = 0; s <= r; ++s) y = y + N[d * s + r] * six(VS + 6 * s);
        put(Y + 6 * r, y);
        for (int j = 0; j < 6; ++j) W.set_column(j, W.column(j) - Y[6 * r + j] * y);
    }
    for (int s = 0; s < d; ++s) {
        Six u{};
        for (int r = s; r < d; ++r) u = u + N[d * s + r] * six(Y + 6 * r);
        put(U + 6 * s, u);
    }
    if (axial) clear_axes(axis, d, W);
}

// Joins: two stretches of a path become one by their joint (Redon and Lin, equations 2 and 9).
//
// Everything of the left stretch A at its last body goes into the frame behind the joint first, by the motion transform
// X. With V = (Φ2ᴬ + Φ1ᴮ)⁻¹, D = (Sᵀ V S)⁻¹, U = D Sᵀ V, W = V − V S U, β = b2ᴬ + ζ − b1ᴮ and efforts Q the force on B
// is
//   f = X1 f1 − X2 f2 + γ,  X1 = W Φ21ᴬ,  X2 = W Φ12ᴮ,  γ = W β + Uᵀ Q,
// and the joint accelerates by R − G1 f1 + G2 f2,  G1 = U Φ21ᴬ,  G2 = U Φ12ᴮ,  R = D Q − U β.
void join_matrices(const JointNumbers& joint, const Matrix6& X, const Matrix6& XT, const Mobility& A, const Mobility& B,
                   bool ends, JoinMatrices& out, Matrix6& W) {
    Matrix6 L, T, M;
    product(X, *A.phi21, L);
    product(X, *A.phi2, T);
    sum_product(*B.phi1, T, XT, M);
    split(joint, M, W);
    if (joint.directions > 0) bar(joint, W);
    const Matrix6 LT = transpose(L);
    product(W, L, out.x1);
    difference_product(*A.phi1, LT, out.x1, out.phi1);
    multiply<1, false>(nullptr, LT, joint.U, joint.G1, joint.freedoms);
    if (ends) return;
    const Matrix6 phi12 = transpose(*B.phi21);
    product(W, phi12, out.x2);
    difference_product(*B.phi2, *B.phi21, out.x2, out.phi2);
    product(*B.phi21, out.x1, out.phi21);
    multiply<1, false>(nullptr, *B.phi21, joint.U, joint.G2, joint.freedoms);
}

// b1 = b1ᴬ − X1ᵀ β − G1ᵀ Q, b2 = b2ᴮ + X2ᵀ β + G2ᵀ Q, c = cᴬ + cᴮ − βᵀ W β − 2 Qᵀ U β + Qᵀ D Q.
template <int N>
void join_loads(const JointNumbers& joint, const Place& place, const JoinMatrices& matrices, const Matrix6& W,
                const StretchLoads& A, const StretchLoads& B, const double* zeta, const double* effort, bool ends,
                const JoinLoads& out, int count) {
    const int n = N > 0 ? N : count;
    Room<6 * N> beta(6 * n);
    for (int j = 0; j < n; ++j) {
        Six value = motion_into(place, six(A.b2 + 6 * j)) - six(B.b1 + 6 * j);
        if (zeta != nullptr) value = value + six(zeta + 6 * j);
        put(beta + 6 * j, value);
        put(out.b1 + 6 * j, six(A.b1 + 6 * j) - transpose_times(matrices.x1, value));
        if (!ends) put(out.b2 + 6 * j, six(B.b2 + 6 * j) + transpose_times(matrices.x2, value));
    }
    multiply<1, false>(nullptr, W, beta, out.gamma, n);
    if (out.c != nullptr) {
        for (int k = 0; k < n * n; ++k) out.c[k] = A.c[k] + B.c[k];
        add_products(n, -1.0, beta, out.gamma, out.c);
    }
    joint_loads(n, joint, effort, beta, -1.0, out.R, out.c);
    Six b1 = six(out.b1), b2 = ends ? Six{} : six(out.b2), gamma = six(out.gamma);
    for (int i = 0; i < joint.freedoms; ++i) {
        b1 = b1 - effort[i] * six(joint.G1 + 6 * i);
        if (!ends) b2 = b2 + effort[i] * six(joint.G2 + 6 * i);
        gamma = gamma + effort[i] * six(joint.U + 6 * i);
    }
    put(out.b1, b1);
    put(out.gamma, gamma);
    if (!ends) put(out.b2, b2);
}

// With a the acceleration of the carrier in the frame behind the joint, the force on the branch is W a + g and its
// joint accelerates by R − U a. The frame of the carrier takes the place of the one behind the joint by X: W X, Xᵀ W X,
// Xᵀ g.
void rake_matrices(const JointNumbers& joint, const Matrix6& X, const Matrix6& XT, const Matrix6& branch, bool alone,
                   Matrix6& law, Matrix6& WX) {
    Matrix6 W;
    if (alone)
        split_impedance(joint, branch, W);
    else {
        Matrix6 M = branch;
        split(joint, M, W);
    }
    if (joint.directions > 0) {
        if (alone) square(joint.D, joint.freedoms);
        bar(joint, W);
    }
    product(W, X, WX);
    product(XT, WX, law);
    multiply<1, false>(nullptr, XT, joint.U, joint.G1, joint.freedoms);
}

// A stretch (Φ1, b1, c), V = Φ1⁻¹, meets what would be its acceleration, β = ζ − b1, like the right part of a join:
//   R = D Q − U β,  g = W β + Uᵀ Q,  k = βᵀ W β + 2 Qᵀ U β − Qᵀ D Q − c.
template <int N>
void rake_loads(const JointNumbers& joint, const Place& place, const Matrix6& law, const double* b1, const double* c,
                const double* zeta, const double* effort, const LawLoads& out, int count) {
    const int n = N > 0 ? N : count;
    Room<6 * N> beta(6 * n), outside(6 * n);
    for (int j = 0; j < n; ++j) {
        const Six value = zeta == nullptr ? -six(b1 + 6 * j) : six(zeta + 6 * j) - six(b1 + 6 * j);
        put(beta + 6 * j, value);
        put(outside + 6 * j, motion_out_of(place, value));  // Xᵀ W β = (Xᵀ W X) X⁻¹ β
    }
    multiply<1, false>(nullptr, law, outside, out.g, n);
    if (out.k != nullptr) {
        for (int i = 0; i < n * n; ++i) out.k[i] = -c[i];
        add_products(n, 1.0, outside, out.g, out.k);
    }
    joint_loads(n, joint, effort, beta, 1.0, out.R, out.k);
    Six g = six(out.g);
    for (int i = 0; i < joint.freedoms; ++i) g = g + effort[i] * six(joint.G1 + 6 * i);
    put(out.g, g);
}

// A body by itself (V, h, k), t = Q + Sᵀ h:
//   R = D t − U ζ,  g = Uᵀ t − h + W ζ,  k' = k − tᵀ D t + ζᵀ W ζ + 2 ζᵀ (Uᵀ t − h).
template <int N>
void rake_alone_loads(const JointNumbers& joint, const Place& place, const Matrix6& law, const double* h,
                      const double* k, const double* zeta, const double* effort, const LawLoads& out, int count) {
    const int n = N > 0 ? N : count, d = joint.freedoms;
    Room<6 * N> t(6 * n), Dt(6 * n), outside(6 * n), law_zeta(6 * n), without(6 * n);
    for (int j = 0; j < n; ++j) {
        const double* const column = h + 6 * j;
        double sizes[6] = {}, terms[6];
        if (d > 0) subspace_components(joint.motion, joint.S, column, t + 6 * j);
        if (j == 0)
            for (int i = 0; i < d; ++i) t[i] += effort[i];
        if (joint.directions == 0)
            solve_twice(joint.D, d, t + 6 * j, sizes, Dt + 6 * j, terms);
        else
            for (int i = 0; i < d; ++i) {
                Dt[6 * j + i] = 0.0;
                for (int r = 0; r < d; ++r) Dt[6 * j + i] += joint.D[d * r + i] * t[6 * j + r];
            }
        Six g = -force_out_of(place, six(column));
        for (int i = 0; i < d; ++i) {
            g = g + t[6 * j + i] * six(joint.G1 + 6 * i);
            out.R[d * j + i] = Dt[6 * j + i];
            if (zeta != nullptr) out.R[d * j + i] -= dot(six(joint.U + 6 * i), six(zeta + 6 * j));
        }
        put(without + 6 * j, g);
        put(out.g + 6 * j, g);
        if (zeta != nullptr) put(outside + 6 * j, motion_out_of(place, six(zeta + 6 * j)));
    }
    if (out.k != nullptr) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                double value = k[n * j + i];
                for (int r = 0; r < d; ++r) value -= t[6 * i + r] * Dt[6 * j + r];
                out.k[n * j + i] = value;
            }
    }
    if (zeta == nullptr) return;
    multiply<1, false>(nullptr, law, outside, law_zeta, n);
    for (int j = 0; j < n; ++j) put(out.g + 6 * j, six(without + 6 * j) + six(law_zeta + 6 * j));
    if (out.k == nullptr) return;
    add_products(n, 1.0, outside, law_zeta, out.k);
    add_products(n, 1.0, outside, without, out.k);
    add_products(n, 1.0, without, outside, out.k);
}

template <int N>
void mobility_loads(const Matrix6& phi, const double* h, const double* k, double* b, double* c, int count) {
    const int n = N > 0 ? N : count;
    multiply<1, false>(nullptr, phi, h, b, n);
    if (c == nullptr) return;
    for (int i = 0; i < n * n; ++i) c[i] = -k[i];
    add_products(n, 1.0, h, b, c);
}

#define BELLCRANK_COLUMNS(N)                                                                                           \
    template void join_loads<N>(const JointNumbers&, const Place&, const JoinMatrices&, const Matrix6&,                \
                                const StretchLoads&, const StretchLoads&, const double*, const double*, bool,          \
                                const JoinLoads&, int);                                                                \
    template void rake_loads<N>(const JointNumbers&, const Place&, const Matrix6&, const double*, const double*,       \
                                const double*, const double*, const LawLoads&, int);                                   \
    template void rake_alone_loads<N>(const JointNumbers&, const Place&, const Matrix6&, const double*, const double*, \
                                      const double*, const double*, const LawLoads&, int);                             \
    template void mobility_loads<N>(const Matrix6&, const double*, const double*, double*, double*, int)
BELLCRANK_COLUMNS(1);
BELLCRANK_COLUMNS(7);
BELLCRANK_COLUMNS(0);
#undef BELLCRANK_COLUMNS

}  // namespace bellcrank
