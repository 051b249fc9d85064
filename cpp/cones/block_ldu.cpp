#include "cones/block_ldu.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cones/small_blocks.hpp"

namespace bellcrank {

namespace {

constexpr int kR = BlockLdu::kRow;

// C −= A B.
void subtract_six(const double* A, const double* B, double* C) {
    const WideRow rows[6] = {WideRow(B),          WideRow(B + kR),     WideRow(B + 2 * kR),
                             WideRow(B + 3 * kR), WideRow(B + 4 * kR), WideRow(B + 5 * kR)};
    for (int i = 0; i < 6; ++i) {
        WideRow c(C + i * kR);
        for (int k = 0; k < 6; ++k) c.add(-A[i * kR + k], rows[k]);
        c.store(C + i * kR);
    }
}

// A ← A B.
void multiply_six(double* A, const double* B) {
    for (int i = 0; i < 6; ++i) {
        WideRow c;
        for (int k = 0; k < 6; ++k) c.add(A[i * kR + k], WideRow(B + k * kR));
        c.store(A + i * kR);
    }
}

// A ← A⁻¹ by Gauss and Jordan with row pivoting: the column exchanges that undo it come last.
bool invert_six(double* A) {
    int pivots[6];
    for (int k = 0; k < 6; ++k) {
        int p = k;
        for (int i = k + 1; i < 6; ++i)
            if (std::abs(A[i * kR + k]) > std::abs(A[p * kR + k])) p = i;
        pivots[k] = p;
        const double pivot = A[p * kR + k];
        if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
        if (p != k) std::swap_ranges(A + k * kR, A + k * kR + kR, A + p * kR);
        const double inverse = 1.0 / pivot;
        A[k * kR + k] = 1.0;
        double row[kR];
        for (int j = 0; j < kR; ++j) row[j] = A[k * kR + j] *= inverse;
        for (int i = 0; i < 6; ++i) {
            if (i == k) continue;
            const double f = A[i * kR + k];
            A[i * kR + k] = 0.0;
            for (int j = 0; j < kR; ++j) A[i * kR + j] -= f * row[j];
        }
    }
    for (int k = 5; k >= 0; --k)
        if (pivots[k] != k)
            for (int i = 0; i < 6; ++i) std::swap(A[i * kR + k], A[i * kR + pivots[k]]);
    return true;
}

// y += f A x; two numbers after those of x are read.
void add_six_times(double f, const double* A, const double* x, double* y) {
    const WideRow wide(x);
    for (int i = 0; i < 6; ++i) y[i] += f * dot(WideRow(A + i * kR), wide);
}

}  // namespace

void BlockLdu::analyse(int nodes, std::span<const std::pair<int, int>> couplings) {
    const std::vector<int> last(nodes, 0);
    const Elimination elimination = minimum_degree(nodes, couplings, last);
    position_ = elimination.position;
    columns_.clear();
    later_.clear();
    targets_.clear();
    for (int k = 0; k < nodes; ++k) {
        const int begin = static_cast<int>(later_.size());
        later_.insert(later_.end(), elimination.below[k].begin(), elimination.below[k].end());
        columns_.push_back({elimination.order[k], begin, static_cast<int>(later_.size()), 0});
    }
    for (Column& c : columns_) {
        c.target = static_cast<int>(targets_.size());
        for (int a = c.begin; a < c.end; ++a)
            for (int b = c.begin; b < c.end; ++b)
                targets_.push_back(block(columns_[later_[a]].node, columns_[later_[b]].node));
    }
    values_.assign(static_cast<size_t>(kBlock) * (nodes + 2 * later_.size()), 0.0);
}

int BlockLdu::slot(int step, int later) const {
    const auto first = later_.begin() + columns_[step].begin, last = later_.begin() + columns_[step].end;
    const auto it = std::lower_bound(first, last, later);
    if (it == last || *it != later) throw std::logic_error("nodes are not coupled");
    return static_cast<int>(it - later_.begin());
}

int BlockLdu::block(int row, int column) const {
    const int r = position_[row], c = position_[column], n = nodes();
    if (r == c) return kBlock * r;
    return r < c ? kBlock * (n + 2 * slot(r, c)) : kBlock * (n + 2 * slot(c, r) + 1);
}

void BlockLdu::reset() {
    std::fill(values_.begin(), values_.end(), 0.0);
    for (int k = 0; k < nodes(); ++k)
        for (int i = 0; i < 6; ++i) values_[kBlock * k + i * (kRow + 1)] = 1.0;
}

bool BlockLdu::factor() {
    const int n = nodes();
    double* values = values_.data();
    for (int k = 0; k < n; ++k) {
        const Column& c = columns_[k];
        double* P = values + kBlock * k;
        if (!invert_six(P)) return false;
        const int* target = targets_.data() + c.target;
        for (int a = c.begin; a < c.end; ++a) {
            double* lower = values + kBlock * (n + 2 * a + 1);
            multiply_six(lower, P);
            for (int b = c.begin; b < c.end; ++b)
                subtract_six(lower, values + kBlock * (n + 2 * b), values + *target++);
        }
    }
    return true;
}

void BlockLdu::solve(double* x) const {
    const int n = nodes();
    const double* values = values_.data();
    for (int k = 0; k < n; ++k) {
        const Column& c = columns_[k];
        for (int a = c.begin; a < c.end; ++a)
            add_six_times(-1.0, values + kBlock * (n + 2 * a + 1), x + 6 * c.node, x + 6 * columns_[later_[a]].node);
    }
    for (int k = n - 1; k >= 0; --k) {
        const Column& c = columns_[k];
        double y[kR] = {}, *at = x + 6 * c.node;
        std::copy_n(at, 6, y);
        for (int b = c.begin; b < c.end; ++b)
            add_six_times(-1.0, values + kBlock * (n + 2 * b), x + 6 * columns_[later_[b]].node, y);
        std::fill_n(at, 6, 0.0);
        add_six_times(1.0, values + kBlock * k, y, at);
    }
}

}  // namespace bellcrank
