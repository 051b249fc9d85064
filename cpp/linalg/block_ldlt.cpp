#include "linalg/block_ldlt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bellcrank {

BlockLdlt::BlockLdlt(std::span<const int> sizes, const Elimination& elimination, std::span<const std::uint8_t> closes) {
    const int n = static_cast<int>(sizes.size());
    int row = 0;
    size_t widest = 0;
    for (int k = 0; k < n; ++k) {
        const int size = sizes[k];
        if (size < 1 || size > kMaxBlock) throw std::invalid_argument("block size must be 1 to 6");
        columns_.push_back({&block_kernels(size), size, row, 0, 0, 0, 0, !closes.empty() && closes[k] != 0});
        row += size;
    }
    for (int k = 0; k < n; ++k) {
        Column& c = columns_[k];
        c.below_begin = static_cast<int>(below_.size());
        size_t width = 0;
        for (int j : elimination.below[k]) {
            below_.push_back({j, sizes[j], columns_[j].row, 0});
            width += c.size * sizes[j];
        }
        widest = std::max(widest, width);
        c.below_end = static_cast<int>(below_.size());
    }
    scratch_.assign(widest, 0.0);
    scale_.assign(row, 0.0);
    dropped_.assign(row, 0);
    find_targets();
    place_blocks();
    find_stages();
}

int BlockLdlt::coupling(int step, int later) const {
    const Column& c = columns_[step];
    const auto first = below_.begin() + c.below_begin, last = below_.begin() + c.below_end;
    const auto it = std::lower_bound(first, last, later, [](const Below& b, int s) { return b.step < s; });
    if (it == last || it->step != later) throw std::logic_error("blocks are not coupled");
    return static_cast<int>(it - below_.begin());
}

const BlockLdlt::Stored& BlockLdlt::block(int step, int later) const {
    return stored_[step == later ? step : static_cast<int>(columns_.size()) + coupling(step, later)];
}

// Where the products of a column's lower blocks go, by number, and the first stage that each block has a part in.
void BlockLdlt::find_targets() {
    const int n = static_cast<int>(columns_.size());
    for (int k = 0; k < n; ++k) stored_.push_back({0, columns_[k].size * columns_[k].size, stage_of(k)});
    for (int k = 0; k < n; ++k)
        for (int b = columns_[k].below_begin; b < columns_[k].below_end; ++b)
            stored_.push_back({0, columns_[k].size * below_[b].size, stage_of(k)});
    for (int k = 0; k < n; ++k) {
        Column& c = columns_[k];
        c.target_begin = static_cast<int>(targets_.size());
        for (int a = c.below_begin; a < c.below_end; ++a)
            for (int b = a; b < c.below_end; ++b) {
                const int first = below_[a].step, target = a == b ? first : n + coupling(first, below_[b].step);
                stored_[target].stage = std::min(stored_[target].stage, stage_of(k));
                targets_.push_back(target);
            }
    }
}

// Diagonal blocks, then the others, which the way back needs.
void BlockLdlt::place_blocks() {
    const int n = static_cast<int>(columns_.size());
    int offset = 0;
    for (int k = 0; k < n; ++k) {
        columns_[k].diagonal = stored_[k].offset = offset;
        offset += stored_[k].size;
    }
    left_.assign(offset, 0.0);
    for (size_t i = 0; i < below_.size(); ++i) {
        below_[i].offset = stored_[n + i].offset = offset;
        offset += stored_[n + i].size;
    }
    for (int& target : targets_) target = stored_[target].offset;
    spill_ = offset;
    values_.assign(offset + kMaxBlock * kMaxBlock, 0.0);
}

void BlockLdlt::find_stages() {
    const int n = static_cast<int>(columns_.size());
    for (int k = 0; k < n; ++k) scaled_.push_back(k);
    std::stable_sort(scaled_.begin(), scaled_.end(),
                     [this](int a, int b) { return stored_[a].stage < stored_[b].stage; });
    int next = 0;
    for (int begin = 0; begin < n; begin += kStageSteps) {
        Stage s{begin, std::min(begin + kStageSteps, n), next, 0};
        while (next < n && stored_[scaled_[next]].stage == stage_of(begin)) ++next;
        s.scale_end = next;
        stages_.push_back(s);
    }
}

void BlockLdlt::factor(const PivotRule& rule, std::span<const std::uint8_t> enabled) {
    begin(rule, enabled);
    for (int s = 0; s < stages(); ++s) factor_stage(s);
}

void BlockLdlt::begin(const PivotRule& rule, std::span<const std::uint8_t> enabled) {
    dropped_count_ = doubtful_count_ = small_count_ = 0;
    smallest_pivot_ = kSafePivot;
    rule_ = rule;
    enabled_ = enabled;
}

void BlockLdlt::note_dropped(const Column& c, const double* pivot) {
    for (int r = 0; r < c.size; ++r) {
        const int row = c.row + r;
        dropped_count_ += dropped_[row];
        if (!dropped_[row] || (!enabled_.empty() && enabled_[row] == kLeftOut)) continue;
        RowPivot next{row, pivot[r] / scale_[row]};
        if (!(std::abs(next.pivot) > rule_.vanishing)) continue;
        dropped_[row] = kDoubtful;
        for (int i = 0; i < doubtful_count_; ++i)
            if (std::abs(next.pivot) > std::abs(doubtful_[i].pivot)) std::swap(next, doubtful_[i]);
        if (doubtful_count_ < kMostListed) doubtful_[doubtful_count_++] = next;
    }
}

void BlockLdlt::note_small(const Column& c, const double* pivot) {
    for (int r = 0; r < c.size; ++r) {
        RowPivot next{c.row + r, pivot[r] / scale_[c.row + r]};
        if (dropped_[next.row] || !(next.pivot < kSafePivot)) continue;
        for (int i = 0; i < small_count_; ++i)
            if (next.pivot < small_[i].pivot) std::swap(next, small_[i]);
        if (small_count_ < kMostListed) small_[small_count_++] = next;
    }
}

// P ← P⁺. Of a regular block no row but the last has a small pivot.
void BlockLdlt::invert_pivot(const Column& c, double* P) {
    const double tolerance = c.closes ? rule_.closing : rule_.tolerance, *scale = &scale_[c.row];
    std::uint8_t* dropped = &dropped_[c.row];
    const std::uint8_t* part = enabled_.empty() ? nullptr : &enabled_[c.row];
    const bool whole = part == nullptr || std::all_of(part, part + c.size, [](auto p) { return p == kTakesPart; });
    double pivot[kMaxBlock], smallest = kSafePivot;
    if (whole && c.kernels->invert_regular(P, tolerance, scale, &smallest)) {
        std::fill_n(dropped, c.size, 0);
        if (smallest == kSafePivot) return;
        std::copy_n(scale, c.size, pivot);
        pivot[c.size - 1] *= smallest;
    } else {
        std::copy_n(P, c.size * c.size, &left_[c.diagonal]);
        for (int r = 0; r < c.size; ++r)
            pivot[r] = whole || part[r] == kTakesPart ? tolerance * scale[r] : std::numeric_limits<double>::infinity();
        smallest = c.kernels->invert(P, pivot, scale, dropped);
        if (std::any_of(dropped, dropped + c.size, [](std::uint8_t d) { return d != 0; })) note_dropped(c, pivot);
    }
    smallest_pivot_ = std::min(smallest_pivot_, smallest);
    if (rule_.list && c.closes && smallest < kSafePivot) note_small(c, pivot);
}

void BlockLdlt::factor_stage(int stage) {
    const Stage& s = stages_[stage];
    for (int i = s.scale_begin; i < s.scale_end; ++i) {
        const Column& c = columns_[scaled_[i]];
        for (int r = 0; r < c.size; ++r) scale_[c.row + r] = values_[c.diagonal + r * (c.size + 1)];
        if (rule_.shift == 0.0) continue;
        for (int r = 0; r < c.size; ++r) values_[c.diagonal + r * (c.size + 1)] += rule_.shift * scale_[c.row + r];
    }
    for (int k = s.column_begin; k < s.column_end; ++k) {
        const Column& c = columns_[k];
        const BlockKernels& kernels = *c.kernels;
        double* P = &values_[c.diagonal];
        invert_pivot(c, P);

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
    for (int s = 0; s < stages(); ++s) forward_stage(s, b);
    for (int s = stages() - 1; s >= 0; --s) backward_stage(s, b);
}

void BlockLdlt::forward_stage(int stage, double* b) const {
    for (int k = stages_[stage].column_begin; k < stages_[stage].column_end; ++k) {
        const Column& c = columns_[k];
        const BlockKernels& kernels = *c.kernels;
        double* x = b + c.row;
        if (c.below_end - c.below_begin == 1) {
            const Below& only = below_[c.below_begin];
            kernels.descend[only.size - 1](&values_[only.offset], &values_[c.diagonal], x, b + only.row);
            continue;
        }
        for (int a = c.below_begin; a < c.below_end; ++a)
            kernels.forward[below_[a].size - 1](&values_[below_[a].offset], x, b + below_[a].row);
        kernels.apply(&values_[c.diagonal], x);
    }
}

void BlockLdlt::backward_stage(int stage, double* b) const {
    for (int k = stages_[stage].column_end - 1; k >= stages_[stage].column_begin; --k) backward(columns_[k], b);
}

void BlockLdlt::backward(const Column& c, double* b) const {
    for (int a = c.below_begin; a < c.below_end; ++a)
        c.kernels->backward[below_[a].size - 1](&values_[below_[a].offset], b + below_[a].row, b + c.row);
}

// Lᵀ x = e_row: nothing of the row is left when those before it have been eliminated.
void BlockLdlt::balance(int row, double* x) const {
    std::fill_n(x, rows(), 0.0);
    const auto after = std::ranges::upper_bound(columns_, row, {}, &Column::row);
    auto k = static_cast<int>(after - columns_.begin()) - 1;
    const Column& c = columns_[k];
    const double *P = &values_[c.diagonal], *left = &left_[c.diagonal] + (row - c.row);
    for (int r = 0; r < c.size; ++r)
        for (int j = 0; j < c.size; ++j) x[c.row + r] -= P[r * c.size + j] * left[j * c.size];
    x[row] = 1.0;
    while (k-- > 0) backward(columns_[k], x);
}

}  // namespace bellcrank
