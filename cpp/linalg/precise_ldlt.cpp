#include "linalg/precise_ldlt.hpp"

#include <algorithm>
#include <stdexcept>

namespace bellcrank {

PreciseLdlt::PreciseLdlt(std::span<const int> sizes, const Elimination& elimination) {
    const int n = static_cast<int>(sizes.size());
    std::vector<int> first(n);
    int row = 0, begin = 0, widest = 0;
    for (int k = 0; k < n; ++k) first[k] = row, row += sizes[k];
    for (int k = 0; k < n; ++k) {
        Column c{
            sizes[k], first[k], sizes[k], begin, static_cast<int>(below_.size()), 0, static_cast<int>(members_.size())};
        for (int r = 0; r < c.size; ++r) members_.push_back(c.row + r);
        for (int later : elimination.below[k]) {
            below_.push_back({later, sizes[later], c.width});
            for (int r = 0; r < sizes[later]; ++r) members_.push_back(first[later] + r);
            c.width += sizes[later];
        }
        c.below_end = static_cast<int>(below_.size());
        begin += c.size * c.width;
        widest = std::max(widest, c.size * c.width);
        columns_.push_back(c);
    }
    values_.resize(begin);
    scratch_.resize(widest);
    scale_.assign(row, 0.0);
    dropped_.assign(row, 0);
}

int PreciseLdlt::place(int step, int later, int row, int other) const {
    const Column& c = columns_[step];
    int at = 0;
    if (later != step) {
        const auto begin = below_.begin() + c.below_begin, end = below_.begin() + c.below_end;
        const auto it = std::lower_bound(begin, end, later, [](const Below& b, int s) { return b.step < s; });
        if (it == end || it->step != later) throw std::logic_error("blocks are not coupled");
        at = it->at;
    }
    return c.begin + row * c.width + at + other;
}

std::span<DoubleDouble> PreciseLdlt::clear() {
    std::fill(values_.begin(), values_.end(), DoubleDouble());
    return values_;
}

void PreciseLdlt::factor(double tolerance, std::span<const std::uint8_t> takes_part) {
    dropped_count_ = 0;
    smallest_pivot_ = 1.0;
    for (const Column& c : columns_)
        for (int r = 0; r < c.size; ++r) scale_[c.row + r] = values_[c.begin + r * (c.width + 1)].hi;
    for (const Column& c : columns_) {
        eliminate(c, tolerance, takes_part);
        update(c);
    }
}

// Of each row: the inverse of its pivot on the diagonal, its multiples beyond; the row itself goes to scratch_.
void PreciseLdlt::eliminate(const Column& c, double tolerance, std::span<const std::uint8_t> takes_part) {
    for (int r = 0; r < c.size; ++r) {
        DoubleDouble* row = &values_[c.begin + r * c.width];
        DoubleDouble* kept = &scratch_[r * c.width];
        const double pivot = row[r].hi, scale = scale_[c.row + r];
        const bool keep = takes_part[c.row + r] != 0 && pivot > tolerance * scale && pivot > 0.0;
        dropped_[c.row + r] = !keep;
        dropped_count_ += !keep;
        if (!keep) {
            std::fill_n(kept, c.width, DoubleDouble());
            std::fill_n(row, c.width, DoubleDouble());
            continue;
        }
        smallest_pivot_ = std::min(smallest_pivot_, pivot / scale);
        const DoubleDouble inverse = reciprocal(row[r]);
        for (int j = r + 1; j < c.width; ++j) {
            kept[j] = row[j];
            row[j] = row[j] * inverse;
        }
        row[r] = inverse;
        for (int i = r + 1; i < c.size; ++i) {
            DoubleDouble* other = &values_[c.begin + i * c.width];
            for (int j = i; j < c.width; ++j) other[j] -= kept[i] * row[j];
        }
    }
}

void PreciseLdlt::update(const Column& c) {
    for (int a = c.below_begin; a < c.below_end; ++a)
        for (int b = a; b < c.below_end; ++b) {
            const Below &first = below_[a], &second = below_[b];
            const int width = columns_[first.step].width;
            DoubleDouble* target = &values_[place(first.step, second.step, 0, 0)];
            for (int i = 0; i < first.size; ++i)
                for (int r = 0; r < c.size; ++r) {
                    const DoubleDouble factor = scratch_[r * c.width + first.at + i];
                    const DoubleDouble* row = &values_[c.begin + r * c.width + second.at];
                    for (int j = 0; j < second.size; ++j) target[i * width + j] -= factor * row[j];
                }
        }
}

void PreciseLdlt::solve(DoubleDouble* b) const {
    for (const Column& c : columns_)
        for (int r = 0; r < c.size; ++r) {
            const DoubleDouble* row = &values_[c.begin + r * c.width];
            DoubleDouble& x = b[c.row + r];
            if (dropped_[c.row + r]) x = DoubleDouble();
            const int* member = &members_[c.member];
            for (int j = r + 1; j < c.width; ++j) b[member[j]] -= row[j] * x;
            x = x * row[r];
        }
    for (auto c = columns_.rbegin(); c != columns_.rend(); ++c)
        for (int r = c->size - 1; r >= 0; --r) {
            const DoubleDouble* row = &values_[c->begin + r * c->width];
            const int* member = &members_[c->member];
            DoubleDouble sum = b[c->row + r];
            for (int j = r + 1; j < c->width; ++j) sum -= row[j] * b[member[j]];
            b[c->row + r] = sum;
        }
}

}  // namespace bellcrank
