#include "linalg/row_products.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace bellcrank {

namespace {

// Targets whose products are formed together, so that rows stay in the cache between the rounds.
constexpr int kStepsPerChunk = 128;

void gather_rows(const double* rows, const int* offsets, int count, int linear, Lane (*linear_part)[3],
                 Lane (*angular_part)[3]) {
    const double* place[kLanes];
    Lane quad[4];
    for (int r = 0; r < count; ++r) {
        if (r < linear) {
            for (int l = 0; l < kLanes; ++l) place[l] = rows + offsets[l] + 8 * r;
            gather4(place, quad);
            for (int k = 0; k < 3; ++k) linear_part[r][k] = quad[k];
        }
        for (int l = 0; l < kLanes; ++l) place[l] = rows + offsets[l] + 8 * r + 4;
        gather4(place, quad);
        for (int k = 0; k < 3; ++k) angular_part[r][k] = quad[k];
    }
}

template <int A, int B>
void product(const double* rows, const int* a, int linear_a, const int* b, int linear_b, Lane* out) {
    Lane la[A][3], aa[A][3], lb[B][3], ab[B][3];
    gather_rows(rows, a, A, linear_a, la, aa);
    gather_rows(rows, b, B, linear_b, lb, ab);
    for (int r = 0; r < A; ++r)
        for (int c = 0; c < B; ++c) out[r * B + c] = aa[r][0] * ab[c][0] + aa[r][1] * ab[c][1] + aa[r][2] * ab[c][2];
    for (int r = 0; r < linear_a; ++r)
        for (int c = 0; c < linear_b; ++c)
            out[r * B + c] += la[r][0] * lb[c][0] + la[r][1] * lb[c][1] + la[r][2] * lb[c][2];
}

// A Aᵀ: the rows are gathered once and half of the products formed.
template <int A>
void square(const double* rows, const int* a, int linear, Lane* out) {
    Lane l[A][3], g[A][3];
    gather_rows(rows, a, A, linear, l, g);
    for (int r = 0; r < A; ++r)
        for (int c = 0; c <= r; ++c) out[r * A + c] = g[r][0] * g[c][0] + g[r][1] * g[c][1] + g[r][2] * g[c][2];
    for (int r = 0; r < linear; ++r)
        for (int c = 0; c <= r; ++c) out[r * A + c] += l[r][0] * l[c][0] + l[r][1] * l[c][1] + l[r][2] * l[c][2];
    for (int r = 0; r < A; ++r)
        for (int c = r + 1; c < A; ++c) out[r * A + c] = out[c * A + r];
}

void write(Lane* in, int count, bool overwrite, const int* target, double* values) {
    int at = 0;
    for (; at + 4 <= count; at += 4) {
        double* place[kLanes];
        for (int l = 0; l < kLanes; ++l) place[l] = values + target[l] + at;
        if (!overwrite) {
            const double* old[kLanes];
            Lane quad[4];
            for (int l = 0; l < kLanes; ++l) old[l] = place[l];
            gather4(old, quad);
            for (int k = 0; k < 4; ++k) in[at + k] += quad[k];
        }
        scatter4(in + at, place);
    }
    for (; at < count; ++at)
        for (int l = 0; l < kLanes; ++l) {
            double& v = values[target[l] + at];
            v = lane_get(in[at], l) + (overwrite ? 0.0 : v);
        }
}

using SquareKernel = void (*)(const double*, const int*, int, Lane*);
constexpr std::array<SquareKernel, 6> kSquare = {square<1>, square<2>, square<3>, square<4>, square<5>, square<6>};
using ProductKernel = void (*)(const double*, const int*, int, const int*, int, Lane*);
template <int A>
constexpr std::array<ProductKernel, 6> kRow = {product<A, 1>, product<A, 2>, product<A, 3>,
                                               product<A, 4>, product<A, 5>, product<A, 6>};
constexpr std::array<std::array<ProductKernel, 6>, 6> kProduct = {kRow<1>, kRow<2>, kRow<3>, kRow<4>, kRow<5>, kRow<6>};

}  // namespace

void RowProducts::add(const RowBlock& a, const RowBlock& b, int target, double weight, int step) {
    products_.push_back({a, b, target, weight, step, 0});
}

void RowProducts::arrange(int spill) {
    std::map<int, int> rounds;
    for (Product& p : products_) p.round = rounds[p.target]++;
    for (const auto& [target, count] : rounds) targets_.push_back(target);
    // Rounds apart: lanes of one pack must not write to one target. Within a round, products of one kind together.
    const auto key = [](const Product& p) {
        return std::tuple(p.step / kStepsPerChunk, p.round, p.a.rows, p.a.linear, p.b.rows, p.b.linear, p.weight != 1.0,
                          p.a.offset == p.b.offset, p.step);
    };
    const auto kind = [](const Product& p) {
        return std::tuple(p.step / kStepsPerChunk, p.round, p.a.rows, p.a.linear, p.b.rows, p.b.linear, p.weight != 1.0,
                          p.a.offset == p.b.offset);
    };
    std::stable_sort(products_.begin(), products_.end(),
                     [&](const Product& p, const Product& q) { return key(p) < key(q); });
    for (size_t i = 0; i < products_.size();) {
        const Product& first = products_[i];
        Batch batch{first.a.rows,
                    first.a.linear,
                    first.b.rows,
                    first.b.linear,
                    first.round == 0,
                    first.weight != 1.0,
                    first.a.offset == first.b.offset,
                    static_cast<int>(packs_.size()),
                    0};
        size_t end = i;
        while (end < products_.size() && kind(products_[end]) == kind(first)) ++end;
        for (; i < end; i += kLanes) {
            Pack pack;
            for (int l = 0; l < kLanes; ++l) {
                const bool spare = i + l >= end;
                const Product& p = products_[spare ? i : i + l];
                pack.a[l] = p.a.offset;
                pack.b[l] = p.b.offset;
                pack.target[l] = spare ? spill : p.target;
                pack.weight[l] = p.weight;
            }
            packs_.push_back(pack);
        }
        i = end;
        batch.end = static_cast<int>(packs_.size());
        batches_.push_back(batch);
    }
    products_.clear();
    products_.shrink_to_fit();
}

void RowProducts::evaluate(const double* rows, double* values) const {
    for (const Batch& batch : batches_) {
        const ProductKernel kernel = kProduct[batch.rows_a - 1][batch.rows_b - 1];
        const int count = batch.rows_a * batch.rows_b;
        for (int i = batch.begin; i < batch.end; ++i) {
            const Pack& p = packs_[i];
            Lane out[36];
            if (batch.square) {
                kSquare[batch.rows_a - 1](rows, p.a, batch.linear_a, out);
            } else {
                kernel(rows, p.a, batch.linear_a, p.b, batch.linear_b, out);
            }
            if (batch.weighted) {
                Lane weight;
                for (int l = 0; l < kLanes; ++l) lane_set(weight, l, p.weight[l]);
                for (int k = 0; k < count; ++k) out[k] *= weight;
            }
            write(out, count, batch.overwrite, p.target, values);
        }
    }
}

bool RowProducts::writes(int target) const { return std::binary_search(targets_.begin(), targets_.end(), target); }

}  // namespace bellcrank
