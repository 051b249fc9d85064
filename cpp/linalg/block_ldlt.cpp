#include "linalg/block_ldlt.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bellcrank {

BlockLdlt::BlockLdlt(std::span<const int> sizes, const Elimination& elimination) {
    const int n = static_cast<int>(sizes.size());
    int row = 0, offset = 0;
    size_t widest = 0;
    for (int k = 0; k < n; ++k) {
        if (sizes[k] < 1 || sizes[k] > kMaxBlock) throw std::invalid_argument("block size must be 1 to 6");
        Column c{&block_kernels(sizes[k]), sizes[k], row, offset, static_cast<int>(below_.size()), 0, 0};
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
        const BlockKernels& kernels = *c.kernels;
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
        const BlockKernels& kernels = *c.kernels;
        double* x = b + c.row;
        for (int a = c.below_begin; a < c.below_end; ++a)
            kernels.forward[below_[a].size - 1](&values_[below_[a].offset], x, b + below_[a].row);
        kernels.apply(&values_[c.diagonal], x);
    }
    for (auto c = columns_.rbegin(); c != columns_.rend(); ++c) {
        const BlockKernels& kernels = *c->kernels;
        for (int a = c->below_begin; a < c->below_end; ++a)
            kernels.backward[below_[a].size - 1](&values_[below_[a].offset], b + below_[a].row, b + c->row);
    }
}

}  // namespace bellcrank
