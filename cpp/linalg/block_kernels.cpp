#include "linalg/block_kernels.hpp"

#include <algorithm>
#include <limits>

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// Gauss-Jordan elimination in place: a step takes row c from all others, which leaves −P in the rows and columns passed
// and the Schur complement in the rest. A row that is left out takes nothing: no branches, and one division a step.
template <int K>
double invert(double* P, double* pivot, const double* scale, std::uint8_t* dropped) {
    double a[K][K], mask[K], smallest = kSafePivot;
    for (int r = 0; r < K; ++r)
        for (int c = 0; c < K; ++c) a[r][c] = P[r * K + c];
#pragma GCC unroll 6
    for (int c = 0; c < K; ++c) {
        const double d = a[c][c];
        const bool keep = d > pivot[c];
        pivot[c] = d;
        const double inverse = keep ? 1.0 / d : 0.0;
        mask[c] = keep ? 1.0 : 0.0;
        dropped[c] = !keep;
        smallest = std::min(smallest, keep ? d / scale[c] : smallest);
        double row[K], w[K];
        for (int k = 0; k < K; ++k) row[k] = a[c][k];
        for (int k = 0; k < K; ++k) w[k] = row[k] * inverse;
        for (int i = 0; i < K; ++i)
            for (int k = 0; k < K; ++k) a[i][k] -= row[i] * w[k];
        for (int k = 0; k < K; ++k) a[c][k] = a[k][c] = w[k];
        a[c][c] = -inverse;
    }
    for (int r = 0; r < K; ++r)
        for (int c = 0; c < K; ++c) P[r * K + c] = -a[r][c] * mask[r] * mask[c];
    return smallest;
}

// Inverse of the leading 3×3 block (ld columns) by cofactors; false if a pivot may be small.
inline bool invert3(const double* S, int ld, const double* scale, double* P) {
    const double a = S[0], b = S[ld], c = S[2 * ld], d = S[ld + 1], e = S[2 * ld + 1], f = S[2 * ld + 2];
    const double c00 = d * f - e * e, c10 = c * e - b * f, c20 = b * e - c * d;
    const double minor2 = a * d - b * b, det = a * c00 + b * c10 + c * c20;
    // Pivots a, minor2/a, det/minor2 against their diagonal entries, without the divisions.
    const bool safe =
        a > kSafePivot * scale[0] && minor2 > kSafePivot * a * scale[1] && det > kSafePivot * minor2 * scale[2];
    const double r = 1.0 / det;
    P[0] = c00 * r, P[1] = P[3] = c10 * r, P[2] = P[6] = c20 * r;
    P[4] = (a * f - c * c) * r, P[5] = P[7] = (b * c - a * e) * r, P[8] = minor2 * r;
    return safe;
}

// Fraction of its diagonal entry below which the last of five rows is eliminated after the others, one by one.
constexpr double kLeastLast = 1e-4;

// By blocks 3 + (K − 3), whose two divisions follow each other instead of K. Rotations about axes that are oblique to
// those of a slender body leave the last of five rows with a small pivot, which is formed here as in the elimination
// row by row.
template <int K>
bool invert_by_blocks(double* P, double tolerance, const double* scale, double* smallest) {
    constexpr int N = K - 3;
    const double* S = P;
    double A[9], W[N][3], T[N][N], Q[N][N];
    if (!invert3(S, K, scale, A)) return false;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < 3; ++j) {
            const double* s = S + (3 + i) * K;
            W[i][j] = s[0] * A[j] + s[1] * A[3 + j] + s[2] * A[6 + j];
        }
    for (int i = 0; i < N; ++i)
        for (int j = 0; j <= i; ++j) {
            const double* s = S + (3 + j) * K;
            T[i][j] = T[j][i] = S[(3 + i) * K + 3 + j] - (W[i][0] * s[0] + W[i][1] * s[1] + W[i][2] * s[2]);
        }
    if constexpr (N == 1) {
        if (!(T[0][0] > kSafePivot * scale[3])) return false;
        Q[0][0] = 1.0 / T[0][0];
    } else if constexpr (N == 2) {
        const double det = T[0][0] * T[1][1] - T[1][0] * T[1][0];
        const double last = kSafePivot * scale[4], least = std::max(kLeastLast, tolerance) * scale[4];
        if (!(T[0][0] > kSafePivot * scale[3] && det > least * T[0][0])) return false;
        if (!(det > last * T[0][0])) *smallest = det / (T[0][0] * scale[4]);
        const double r = 1.0 / det;
        Q[0][0] = T[1][1] * r, Q[1][1] = T[0][0] * r, Q[0][1] = Q[1][0] = -T[1][0] * r;
    } else {
        if (!invert3(&T[0][0], 3, scale + 3, &Q[0][0])) return false;
    }
    double QW[N][3];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < 3; ++j) {
            double s = 0.0;
            for (int k = 0; k < N; ++k) s += Q[i][k] * W[k][j];
            QW[i][j] = s;
        }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double s = A[3 * i + j];
            for (int k = 0; k < N; ++k) s += W[k][i] * QW[k][j];
            P[i * K + j] = s;
        }
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < 3; ++j) P[(3 + i) * K + j] = P[j * K + 3 + i] = -QW[i][j];
        for (int j = 0; j < N; ++j) P[(3 + i) * K + 3 + j] = Q[i][j];
    }
    return true;
}

template <int K>
bool invert_regular(double* P, double tolerance, const double* scale, double* smallest) {
    if constexpr (K > 3) {
        return invert_by_blocks<K>(P, tolerance, scale, smallest);
    } else if constexpr (K == 3) {
        double A[9];
        if (!invert3(P, 3, scale, A)) return false;
        std::copy_n(A, 9, P);
        return true;
    } else {
        return false;
    }
}

// W (K×N) = P (K×K) U (K×N)
template <int K, int N>
void multiply(const double* P, const double* U, double* W) {
    Strip<N> u[K];
    for (int k = 0; k < K; ++k) u[k] = Strip<N>::load(U + k * N);
    for (int r = 0; r < K; ++r) {
        Strip<N> w = Strip<N>::scaled(P[r * K], u[0]);
        for (int k = 1; k < K; ++k) w.add_scaled(P[r * K + k], u[k]);
        w.store(W + r * N);
    }
}

// T (M×N) −= Wᵀ (M×K) U (K×N); W is K×M.
template <int K, int N>
void subtract_product(const double* W, int M, const double* U, double* T) {
    Strip<N> u[K];
    for (int k = 0; k < K; ++k) u[k] = Strip<N>::load(U + k * N);
    for (int r = 0; r < M; ++r) {
        Strip<N> t = Strip<N>::load(T + r * N);
        for (int k = 0; k < K; ++k) t.subtract_scaled(W[k * M + r], u[k]);
        t.store(T + r * N);
    }
}

// The elimination of a column with one lower block: T −= Uᵀ P U, U ← P U.
template <int K, int N>
void eliminate(const double* P, double* U, double* T) {
    double W[K * N];
    multiply<K, N>(P, U, W);
    subtract_product<K, N>(W, N, U, T);
    for (int i = 0; i < K * N; ++i) U[i] = W[i];
}

// y (N) −= Wᵀ x;  W is K×N. Even and odd rows apart: a sum waits for each of its terms, and the next column for the
// sum.
template <int K, int N>
void forward(const double* W, const double* x, double* y) {
    Strip<N> even = Strip<N>::load(y);
    even.subtract_scaled(x[0], Strip<N>::load(W));
    if constexpr (K > 1) {
        Strip<N> odd = Strip<N>::scaled(x[1], Strip<N>::load(W + N));
        for (int k = 2; k < K; ++k) {
            const Strip<N> row = Strip<N>::load(W + k * N);
            k % 2 == 0 ? even.subtract_scaled(x[k], row) : odd.add_scaled(x[k], row);
        }
        even.subtract(odd);
    }
    even.store(y);
}

// x (K) −= W y, sums in halves for the same reason.
template <int K, int N>
void backward(const double* W, const double* y, double* x) {
    for (int k = 0; k < K; ++k) {
        const double* row = W + k * N;
        double near = x[k], far = 0.0;
        for (int c = 0; c < N; ++c) (c < N / 2 ? near : far) += (c < N / 2 ? -row[c] : row[c]) * y[c];
        x[k] = near - far;
    }
}

// x ← P x; P is symmetric.
template <int K>
void apply_inverse(const double* P, double* x) {
    Strip<K> sum = Strip<K>::scaled(x[0], Strip<K>::load(P));
    for (int k = 1; k < K; ++k) sum.add_scaled(x[k], Strip<K>::load(P + k * K));
    sum.store(x);
}

// The forward substitution of a column with one lower block: y −= Wᵀ x, x ← P x.
template <int K, int N>
void descend(const double* W, const double* P, double* x, double* y) {
    forward<K, N>(W, x, y);
    apply_inverse<K>(P, x);
}

template <int K>
constexpr BlockKernels kernels_of() {
    return {invert_regular<K>,
            invert<K>,
            {multiply<K, 1>, multiply<K, 2>, multiply<K, 3>, multiply<K, 4>, multiply<K, 5>, multiply<K, 6>},
            {subtract_product<K, 1>, subtract_product<K, 2>, subtract_product<K, 3>, subtract_product<K, 4>,
             subtract_product<K, 5>, subtract_product<K, 6>},
            {eliminate<K, 1>, eliminate<K, 2>, eliminate<K, 3>, eliminate<K, 4>, eliminate<K, 5>, eliminate<K, 6>},
            {descend<K, 1>, descend<K, 2>, descend<K, 3>, descend<K, 4>, descend<K, 5>, descend<K, 6>},
            {forward<K, 1>, forward<K, 2>, forward<K, 3>, forward<K, 4>, forward<K, 5>, forward<K, 6>},
            {backward<K, 1>, backward<K, 2>, backward<K, 3>, backward<K, 4>, backward<K, 5>, backward<K, 6>},
            apply_inverse<K>};
}

constexpr std::array<BlockKernels, kMaxBlock> kKernels = {kernels_of<1>(), kernels_of<2>(), kernels_of<3>(),
                                                          kernels_of<4>(), kernels_of<5>(), kernels_of<6>()};

}  // namespace

const BlockKernels& block_kernels(int size) { return kKernels[size - 1]; }

}  // namespace bellcrank
