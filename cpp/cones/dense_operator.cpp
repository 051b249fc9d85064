#include "cones/dense_operator.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

// In four sums, which need not wait for one another.
double dot(const double* a, const double* b, int count) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int j = 0;
    for (; j + 4 <= count; j += 4)
        for (int l = 0; l < 4; ++l) sum[l] += a[j + l] * b[j + l];
    for (; j < count; ++j) sum[0] += a[j] * b[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// a += factor · b
void add(double* __restrict a, double factor, const double* __restrict b, int count) {
    for (int j = 0; j < count; ++j) a[j] += factor * b[j];
}

}  // namespace

void DenseConeOperator::set(const double* S, int rows) {
    S_ = S;
    rows_ = rows;
    factors_.resize(static_cast<size_t>(rows) * rows);
    product_.resize(rows);
    pivots_.resize(rows);
}

void DenseConeOperator::multiply(const double* x, double* y) {
    for (int i = 0; i < rows_; ++i) y[i] = dot(S_ + static_cast<size_t>(i) * rows_, x, rows_);
}

void DenseConeOperator::diagonal(double* d) const {
    for (int i = 0; i < rows_; ++i) d[i] = S_[static_cast<size_t>(i) * (rows_ + 1)];
}

bool DenseConeOperator::factor(const ConeLayout& layout, const double* B, const double* D) {
    const int n = rows_;
    double* A = factors_.data();
    for (const ConeBlock& b : layout.blocks())
        for (int r = 0; r < b.size; ++r) {
            double* row = A + static_cast<size_t>(b.row + r) * n;
            std::fill_n(row, n, 0.0);
            for (int c = 0; c < b.size; ++c) {
                const double f = B[b.values + r * b.size + c];
                const double* s = S_ + static_cast<size_t>(b.row + c) * n;
                if (f != 0.0) add(row, f, s, n);
                row[b.row + c] += D[b.values + r * b.size + c];
            }
        }
    for (int k = 0; k < n; ++k) {
        double* pivot_row = A + static_cast<size_t>(k) * n;
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[static_cast<size_t>(i) * n + k]) > std::abs(A[static_cast<size_t>(p) * n + k])) p = i;
        pivots_[k] = p;
        if (p != k) std::swap_ranges(pivot_row, pivot_row + n, A + static_cast<size_t>(p) * n);
        if (!(std::abs(pivot_row[k]) > 0.0) || !std::isfinite(pivot_row[k])) return false;
        const double inverse = 1.0 / pivot_row[k];
        for (int i = k + 1; i < n; ++i) {
            double* row = A + static_cast<size_t>(i) * n;
            if (row[k] == 0.0) continue;
            row[k] *= inverse;
            add(row + k + 1, -row[k], pivot_row + k + 1, n - k - 1);
        }
    }
    return true;
}

void DenseConeOperator::solve(double* b) {
    const int n = rows_;
    for (int k = 0; k < n; ++k)
        if (pivots_[k] != k) std::swap(b[k], b[pivots_[k]]);
    const auto row = [&](int i) { return factors_.data() + static_cast<size_t>(i) * n; };
    for (int i = 1; i < n; ++i) b[i] -= dot(row(i), b, i);
    for (int i = n - 1; i >= 0; --i) b[i] = (b[i] - dot(row(i) + i + 1, b + i + 1, n - 1 - i)) / row(i)[i];
}

void DenseConeOperator::begin_sweeps(const ConeLayout&, const double* x) { multiply(x, product_.data()); }

void DenseConeOperator::product_of(const ConeBlock& block, double* y) {
    std::copy_n(&product_[block.row], block.size, y);
}

// Adds columns of S, which are its rows since S is symmetric.
void DenseConeOperator::change(const ConeBlock& block, const double* dx) {
    for (int r = 0; r < block.size; ++r) {
        if (dx[r] == 0.0) continue;
        for (int i = 0; i < rows_; ++i) product_[i] += S_[static_cast<size_t>(i) * rows_ + block.row + r] * dx[r];
    }
}

}  // namespace bellcrank
