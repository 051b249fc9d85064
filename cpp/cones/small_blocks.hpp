// Matrices of blocks, at most 6 × 6, row-major.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bellcrank {

// A row of eight numbers in vector registers. Compilers turn the same loops over plain arrays into shuffles between
// registers, which take several times as long.

struct WideRow {
    using Four = double __attribute__((vector_size(32)));
    Four a, b;

    WideRow() : a{}, b{} {}
    explicit WideRow(const double* p) {
        std::memcpy(&a, p, sizeof a);
        std::memcpy(&b, p + 4, sizeof b);
    }
    void store(double* p) const {
        std::memcpy(p, &a, sizeof a);
        std::memcpy(p + 4, &b, sizeof b);
    }
    // += s · row
    void add(double s, const WideRow& row) {
        a += s * row.a;
        b += s * row.b;
    }
};

inline double dot(const WideRow& x, const WideRow& y) {
    const WideRow::Four products = x.a * y.a + x.b * y.b;
    return (products[0] + products[1]) + (products[2] + products[3]);
}

// X ← A⁻¹ X, A (n, n), X (n, m), by elimination with row pivoting; A is lost. False where A is singular.
inline bool solve_small(int n, double* A, double* X, int m) {
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[i * n + k]) > std::abs(A[p * n + k])) p = i;
        if (!(std::abs(A[p * n + k]) > 0.0)) return false;
        if (p != k) {
            std::swap_ranges(A + k * n, A + k * n + n, A + p * n);
            std::swap_ranges(X + k * m, X + k * m + m, X + p * m);
        }
        const double inverse = 1.0 / A[k * n + k];
        for (int i = k + 1; i < n; ++i) {
            const double f = A[i * n + k] * inverse;
            if (f == 0.0) continue;
            for (int j = k + 1; j < n; ++j) A[i * n + j] -= f * A[k * n + j];
            for (int j = 0; j < m; ++j) X[i * m + j] -= f * X[k * m + j];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        const double inverse = 1.0 / A[k * n + k];
        for (int j = 0; j < m; ++j) {
            double x = X[k * m + j];
            for (int i = k + 1; i < n; ++i) x -= A[k * n + i] * X[i * m + j];
            X[k * m + j] = x * inverse;
        }
    }
    return true;
}

// y += f A x, A (n, n).
inline void add_product(int n, double f, const double* A, const double* x, double* y) {
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += A[i * n + j] * x[j];
        y[i] += f * sum;
    }
}

}  // namespace bellcrank
