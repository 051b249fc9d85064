#include "linalg/block_ldlt.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace bellcrank {

namespace {

// P = S⁻¹ of a K×K positive semidefinite block by LDLᵀ; rows whose pivot is not above their threshold are left out of
// S (rows and columns of P zero). S and P may be the same storage. Returns the smallest kept pivot ratio.
template <int K>
double invert_by_ldlt(const double* S, const double* threshold, const double* scale, std::uint8_t* dropped, double* P) {
    double l[K][K] = {}, y[K][K] = {}, dinv[K], m[K][K] = {};
    double smallest = std::numeric_limits<double>::infinity();
    for (int c = 0; c < K; ++c) {
        double d = S[c * K + c];
        for (int k = 0; k < c; ++k) d -= l[c][k] * y[c][k];
        const bool keep = d > threshold[c];
        dinv[c] = keep ? 1.0 / d : 0.0;
        dropped[c] = !keep;
        smallest = std::min(smallest, keep ? d / scale[c] : smallest);
        for (int r = c + 1; r < K; ++r) {
            double s = S[r * K + c];
            for (int k = 0; k < c; ++k) s -= l[r][k] * y[c][k];
            y[r][c] = s;
            l[r][c] = s * dinv[c];
            y[r][c] = keep ? s : 0.0;
        }
    }
    for (int c = 0; c < K; ++c)
        for (int r = c + 1; r < K; ++r) {
            double s = -l[r][c];
            for (int k = c + 1; k < r; ++k) s -= l[r][k] * m[k][c];
            m[r][c] = s;
        }
    for (int r = 0; r < K; ++r)
        for (int c = 0; c <= r; ++c) {
            double s = r == c ? dinv[r] : m[r][c] * dinv[r];
            for (int k = r + 1; k < K; ++k) s += m[k][r] * dinv[k] * m[k][c];
            P[r * K + c] = s;
            P[c * K + r] = s;
        }
    return smallest;
}

// A pivot below this fraction of its diagonal entry is looked at with care.
constexpr double kSafePivot = 1e-2;

// Inverse of the leading 3×3 block (ld columns) by cofactors; false if a pivot may be small. Returns the least ratio.
inline bool invert3(const double* S, int ld, const double* scale, double* P, double* smallest) {
    const double a = S[0], b = S[ld], c = S[2 * ld], d = S[ld + 1], e = S[2 * ld + 1], f = S[2 * ld + 2];
    const double c00 = d * f - e * e, c10 = c * e - b * f, c20 = b * e - c * d;
    const double minor2 = a * d - b * b, det = a * c00 + b * c10 + c * c20;
    // Pivots a, minor2/a, det/minor2 against their diagonal entries, without the divisions.
    const bool safe =
        a > kSafePivot * scale[0] && minor2 > kSafePivot * a * scale[1] && det > kSafePivot * minor2 * scale[2];
    const double r = 1.0 / det;
    P[0] = c00 * r, P[1] = P[3] = c10 * r, P[2] = P[6] = c20 * r;
    P[4] = (a * f - c * c) * r, P[5] = P[7] = (b * c - a * e) * r, P[8] = minor2 * r;
    *smallest = kSafePivot;
    return safe;
}

// The same by blocks 3 + (K − 3), whose two divisions follow each other instead of K: for blocks far from singular.
template <int K>
bool invert_by_blocks(const double* S, const double* scale, double* P) {
    constexpr int N = K - 3;
    double A[9], smallest, W[N][3], T[N][N], Q[N][N];
    if (!invert3(S, K, scale, A, &smallest)) return false;
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
        if (!(T[0][0] > kSafePivot * scale[3] && det > kSafePivot * T[0][0] * scale[4])) return false;
        const double r = 1.0 / det;
        Q[0][0] = T[1][1] * r, Q[1][1] = T[0][0] * r, Q[0][1] = Q[1][0] = -T[1][0] * r;
    } else {
        if (!invert3(&T[0][0], 3, scale + 3, &Q[0][0], &smallest)) return false;
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
double invert(const double* S, const double* threshold, const double* scale, bool all_enabled, std::uint8_t* dropped,
              double* P) {
    if constexpr (K >= 4) {
        if (all_enabled && invert_by_blocks<K>(S, scale, P)) {
            for (int k = 0; k < K; ++k) dropped[k] = 0;
            return kSafePivot;
        }
    }
    return invert_by_ldlt<K>(S, threshold, scale, dropped, P);
}

// W (K×N) = P (K×K) U (K×N)
template <int K, int N>
void multiply(const double* P, const double* U, double* W) {
    for (int r = 0; r < K; ++r) {
        double acc[N];
        for (int c = 0; c < N; ++c) acc[c] = P[r * K] * U[c];
        for (int k = 1; k < K; ++k)
            for (int c = 0; c < N; ++c) acc[c] += P[r * K + k] * U[k * N + c];
        for (int c = 0; c < N; ++c) W[r * N + c] = acc[c];
    }
}

// T (M×N) −= Wᵀ (M×K) U (K×N); W is K×M.
template <int K, int N>
void subtract_product(const double* W, int M, const double* U, double* T) {
    for (int r = 0; r < M; ++r) {
        double acc[N];
        for (int c = 0; c < N; ++c) acc[c] = T[r * N + c];
        for (int k = 0; k < K; ++k)
            for (int c = 0; c < N; ++c) acc[c] -= W[k * M + r] * U[k * N + c];
        for (int c = 0; c < N; ++c) T[r * N + c] = acc[c];
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

// y (N) −= Wᵀ x;  W is K×N.
template <int K, int N>
void forward(const double* W, const double* x, double* y) {
    for (int k = 0; k < K; ++k)
        for (int c = 0; c < N; ++c) y[c] -= W[k * N + c] * x[k];
}

// x (K) −= W y
template <int K, int N>
void backward(const double* W, const double* y, double* x) {
    for (int k = 0; k < K; ++k) {
        double s = 0.0;
        for (int c = 0; c < N; ++c) s += W[k * N + c] * y[c];
        x[k] -= s;
    }
}

template <int K>
void apply_inverse(const double* P, double* x) {
    double in[K];
    for (int k = 0; k < K; ++k) in[k] = x[k];
    for (int r = 0; r < K; ++r) {
        double s = 0.0;
        for (int k = 0; k < K; ++k) s += P[r * K + k] * in[k];
        x[r] = s;
    }
}

using Invert = double (*)(const double*, const double*, const double*, bool, std::uint8_t*, double*);
using Multiply = void (*)(const double*, const double*, double*);
using Subtract = void (*)(const double*, int, const double*, double*);
using Eliminate = void (*)(const double*, double*, double*);
using Sweep = void (*)(const double*, const double*, double*);
using Apply = void (*)(const double*, double*);

// One instance of each kernel per block size, sizes 1 to 6.
template <int K>
struct Kernels {
    static constexpr std::array<Multiply, kMaxBlock> multiply_by = {multiply<K, 1>, multiply<K, 2>, multiply<K, 3>,
                                                                    multiply<K, 4>, multiply<K, 5>, multiply<K, 6>};
    static constexpr std::array<Subtract, kMaxBlock> subtract_by = {subtract_product<K, 1>, subtract_product<K, 2>,
                                                                    subtract_product<K, 3>, subtract_product<K, 4>,
                                                                    subtract_product<K, 5>, subtract_product<K, 6>};
    static constexpr std::array<Eliminate, kMaxBlock> eliminate_by = {
        eliminate<K, 1>, eliminate<K, 2>, eliminate<K, 3>, eliminate<K, 4>, eliminate<K, 5>, eliminate<K, 6>};
    static constexpr std::array<Sweep, kMaxBlock> forward_by = {forward<K, 1>, forward<K, 2>, forward<K, 3>,
                                                                forward<K, 4>, forward<K, 5>, forward<K, 6>};
    static constexpr std::array<Sweep, kMaxBlock> backward_by = {backward<K, 1>, backward<K, 2>, backward<K, 3>,
                                                                 backward<K, 4>, backward<K, 5>, backward<K, 6>};
};

struct KernelSet {
    Invert invert;
    std::array<Multiply, kMaxBlock> multiply;
    std::array<Subtract, kMaxBlock> subtract;
    std::array<Eliminate, kMaxBlock> eliminate;
    std::array<Sweep, kMaxBlock> forward, backward;
    Apply apply;
};

template <int K>
constexpr KernelSet kernel_set() {
    return {invert<K>,
            Kernels<K>::multiply_by,
            Kernels<K>::subtract_by,
            Kernels<K>::eliminate_by,
            Kernels<K>::forward_by,
            Kernels<K>::backward_by,
            apply_inverse<K>};
}

constexpr std::array<KernelSet, kMaxBlock> kKernels = {kernel_set<1>(), kernel_set<2>(), kernel_set<3>(),
                                                       kernel_set<4>(), kernel_set<5>(), kernel_set<6>()};

}  // namespace

BlockLdlt::BlockLdlt(std::span<const int> sizes, const Elimination& elimination) {
    const int n = static_cast<int>(sizes.size());
    int row = 0, offset = 0;
    size_t widest = 0;
    for (int k = 0; k < n; ++k) {
        if (sizes[k] < 1 || sizes[k] > kMaxBlock) throw std::invalid_argument("block size must be 1 to 6");
        Column c{sizes[k], row, offset, static_cast<int>(below_.size()), 0, 0};
        row += sizes[k];
        offset += sizes[k] * sizes[k];
        size_t width = 0;
        for (int j : elimination.below[k]) {
            below_.push_back({j, sizes[j], 0, offset});
            offset += sizes[k] * sizes[j];
            width += sizes[k] * sizes[j];
        }
        widest = std::max(widest, width);
        c.below_end = static_cast<int>(below_.size());
        columns_.push_back(c);
    }
    for (Below& b : below_) b.row = columns_[b.step].row;
    for (Column& c : columns_) {
        c.target_begin = static_cast<int>(targets_.size());
        for (int a = c.below_begin; a < c.below_end; ++a)
            for (int b = a; b < c.below_end; ++b)
                targets_.push_back(a == b ? columns_[below_[a].step].diagonal
                                          : coupling_offset(below_[a].step, below_[b].step));
    }
    spill_ = offset;
    values_.assign(offset + kMaxBlock * kMaxBlock, 0.0);
    scratch_.assign(widest, 0.0);
    scale_.assign(row, 0.0);
    dropped_.assign(row, 0);
}

int BlockLdlt::coupling_offset(int step, int later) const {
    const Column& c = columns_[step];
    const auto first = below_.begin() + c.below_begin, last = below_.begin() + c.below_end;
    const auto it = std::lower_bound(first, last, later, [](const Below& b, int s) { return b.step < s; });
    if (it == last || it->step != later) throw std::logic_error("blocks are not coupled");
    return it->offset;
}

std::vector<std::pair<int, int>> BlockLdlt::block_offsets() const {
    std::vector<std::pair<int, int>> blocks;
    for (const Column& c : columns_) {
        blocks.emplace_back(c.diagonal, c.size * c.size);
        for (int b = c.below_begin; b < c.below_end; ++b)
            blocks.emplace_back(below_[b].offset, c.size * below_[b].size);
    }
    return blocks;
}

void BlockLdlt::factor(double tolerance, std::span<const std::uint8_t> enabled) {
    dropped_count_ = 0;
    smallest_pivot_ = 1.0;
    for (const Column& c : columns_)
        for (int r = 0; r < c.size; ++r) scale_[c.row + r] = values_[c.diagonal + r * (c.size + 1)];
    for (const Column& c : columns_) {
        const KernelSet& kernels = kKernels[c.size - 1];
        double threshold[kMaxBlock];
        bool all_enabled = true;
        for (int r = 0; r < c.size; ++r) {
            const bool on = enabled.empty() || enabled[c.row + r];
            all_enabled &= on;
            threshold[r] = on ? tolerance * scale_[c.row + r] : std::numeric_limits<double>::infinity();
        }
        double* P = &values_[c.diagonal];
        std::uint8_t* dropped = &dropped_[c.row];
        smallest_pivot_ =
            std::min(smallest_pivot_, kernels.invert(P, threshold, &scale_[c.row], all_enabled, dropped, P));
        for (int r = 0; r < c.size; ++r) dropped_count_ += dropped[r];

        const int* target = targets_.data() + c.target_begin;
        if (c.below_end - c.below_begin == 1) {
            const Below& only = below_[c.below_begin];
            kernels.eliminate[only.size - 1](P, &values_[only.offset], &values_[*target]);
            continue;
        }
        double* W = scratch_.data();
        for (int a = c.below_begin; a < c.below_end; ++a) {
            const Below& first = below_[a];
            kernels.multiply[first.size - 1](P, &values_[first.offset], W);
            for (int b = a; b < c.below_end; ++b, ++target)
                kernels.subtract[below_[b].size - 1](W, first.size, &values_[below_[b].offset], &values_[*target]);
            W += c.size * first.size;
        }
        if (c.below_end > c.below_begin) std::copy(scratch_.data(), W, &values_[below_[c.below_begin].offset]);
    }
}

void BlockLdlt::solve(double* b) const {
    for (const Column& c : columns_) {
        const KernelSet& kernels = kKernels[c.size - 1];
        double* x = b + c.row;
        for (int a = c.below_begin; a < c.below_end; ++a)
            kernels.forward[below_[a].size - 1](&values_[below_[a].offset], x, b + below_[a].row);
        kernels.apply(&values_[c.diagonal], x);
    }
    for (auto c = columns_.rbegin(); c != columns_.rend(); ++c) {
        const KernelSet& kernels = kKernels[c->size - 1];
        for (int a = c->below_begin; a < c->below_end; ++a)
            kernels.backward[below_[a].size - 1](&values_[below_[a].offset], b + below_[a].row, b + c->row);
    }
}

}  // namespace bellcrank
