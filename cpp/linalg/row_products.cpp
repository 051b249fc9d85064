#include "linalg/row_products.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "spatial/lanes.hpp"

namespace bellcrank {

struct RowProducts::Pack {
    struct Places {
        int linear[kLanes], angular[kLanes];
    };
    Places a, b;
    int target[kLanes];
    double linear_weight[kLanes];
};

namespace {

void gather_rows(const double* rows, const int* offsets, int count, Lane (*out)[3]) {
    const double* place[kLanes];
    Lane quad[4];
    for (int r = 0; r < count; ++r) {
        for (int l = 0; l < kLanes; ++l) place[l] = rows + offsets[l] + kRow * r;
        gather4(place, quad);
        for (int k = 0; k < 3; ++k) out[r][k] = quad[k];
    }
}

Lane dot3(const Lane* a, const Lane* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

template <int A, int B>
void product(const double* rows, const int* linear_a, const int* angular_a, int count_a, const int* linear_b,
             const int* angular_b, int count_b, Lane weight, Lane* out) {
    Lane a[A][3], b[B][3];
    gather_rows(rows, angular_a, A, a);
    gather_rows(rows, angular_b, B, b);
    for (int r = 0; r < A; ++r)
        for (int c = 0; c < B; ++c) out[r * B + c] = dot3(a[r], b[c]);
    gather_rows(rows, linear_a, count_a, a);
    gather_rows(rows, linear_b, count_b, b);
    for (int r = 0; r < count_a; ++r) {
        for (int k = 0; k < 3; ++k) a[r][k] *= weight;
        for (int c = 0; c < count_b; ++c) out[r * B + c] += dot3(a[r], b[c]);
    }
}

// A Aᵀ: the rows are gathered once and half of the products formed.
template <int A>
void square(const double* rows, const int* linear, const int* angular, int count, Lane weight, Lane* out) {
    Lane a[A][3];
    gather_rows(rows, angular, A, a);
    for (int r = 0; r < A; ++r)
        for (int c = 0; c <= r; ++c) out[r * A + c] = dot3(a[r], a[c]);
    gather_rows(rows, linear, count, a);
    for (int r = 0; r < count; ++r)
        for (int c = 0; c <= r; ++c) out[r * A + c] += weight * dot3(a[r], a[c]);
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

using SquareKernel = void (*)(const double*, const int*, const int*, int, Lane, Lane*);
constexpr std::array<SquareKernel, 6> kSquare = {square<1>, square<2>, square<3>, square<4>, square<5>, square<6>};
using ProductKernel = void (*)(const double*, const int*, const int*, int, const int*, const int*, int, Lane, Lane*);
template <int A>
constexpr std::array<ProductKernel, 6> kRow = {product<A, 1>, product<A, 2>, product<A, 3>,
                                               product<A, 4>, product<A, 5>, product<A, 6>};
constexpr std::array<std::array<ProductKernel, 6>, 6> kProduct = {kRow<1>, kRow<2>, kRow<3>, kRow<4>, kRow<5>, kRow<6>};

}  // namespace

void RowProducts::add(const BodyRows& a, const BodyRows& b, int target, double weight, int stage) {
    products_.push_back({a, b, target, weight, stage, 0});
}

void RowProducts::arrange(int stages, int spill) {
    std::map<std::pair<int, int>, int> rounds;
    for (Product& p : products_) p.round = rounds[{p.target, p.stage}]++;
    for (const auto& [target, count] : rounds) targets_.push_back(target);
    // Rounds apart: lanes of one pack must not write to one target. Within a round, products of one kind together.
    const auto kind = [](const Product& p) {
        return std::tuple(p.stage, p.round, p.a.rows, p.a.linear_rows, p.b.rows, p.b.linear_rows, p.weight != 1.0,
                          p.a.angular == p.b.angular);
    };
    std::stable_sort(products_.begin(), products_.end(), [&](const Product& p, const Product& q) {
        return std::tuple(kind(p), p.a.angular) < std::tuple(kind(q), q.a.angular);
    });
    stage_begin_.assign(stages + 1, 0);
    std::vector<Pack> packs;
    for (size_t i = 0; i < products_.size();) {
        const Product& first = products_[i];
        Batch batch{first.a.rows,
                    first.a.linear_rows,
                    first.b.rows,
                    first.b.linear_rows,
                    first.round == 0,
                    first.weight != 1.0,
                    first.a.angular == first.b.angular,
                    static_cast<int>(packs.size()),
                    0,
                    static_cast<int>(weights_.size())};
        size_t end = i;
        while (end < products_.size() && kind(products_[end]) == kind(first)) ++end;
        for (; i < end; i += kLanes) {
            Pack pack;
            for (int l = 0; l < kLanes; ++l) {
                const bool spare = i + l >= end;
                const Product& p = products_[spare ? i : i + l];
                pack.a.linear[l] = p.a.linear;
                pack.a.angular[l] = p.a.angular;
                pack.b.linear[l] = p.b.linear;
                pack.b.angular[l] = p.b.angular;
                pack.target[l] = spare ? spill : p.target;
                pack.linear_weight[l] = p.a.scale * p.b.scale;
                if (batch.weighted) weights_.push_back(p.weight);
            }
            packs.push_back(pack);
        }
        i = end;
        batch.end = static_cast<int>(packs.size());
        batches_.push_back(batch);
        stage_begin_[first.stage + 1] = static_cast<int>(batches_.size());
    }
    for (int s = 0; s < stages; ++s) stage_begin_[s + 1] = std::max(stage_begin_[s + 1], stage_begin_[s]);
    packs_ = std::make_shared<const std::vector<Pack>>(std::move(packs));
    products_.clear();
    products_.shrink_to_fit();
}

void RowProducts::evaluate(int stage, const double* rows, double* values) const {
    for (int k = stage_begin_[stage]; k < stage_begin_[stage + 1]; ++k) {
        const Batch& batch = batches_[k];
        const ProductKernel kernel = kProduct[batch.rows_a - 1][batch.rows_b - 1];
        const int count = batch.rows_a * batch.rows_b;
        for (int i = batch.begin; i < batch.end; ++i) {
            const Pack& p = (*packs_)[i];
            Lane out[36], weight;
            for (int l = 0; l < kLanes; ++l) lane_set(weight, l, p.linear_weight[l]);
            if (batch.square) {
                kSquare[batch.rows_a - 1](rows, p.a.linear, p.a.angular, batch.linear_a, weight, out);
            } else {
                kernel(rows, p.a.linear, p.a.angular, batch.linear_a, p.b.linear, p.b.angular, batch.linear_b, weight,
                       out);
            }
            if (batch.weighted) {
                const double* of_pack = &weights_[batch.weights + kLanes * (i - batch.begin)];
                for (int l = 0; l < kLanes; ++l) lane_set(weight, l, of_pack[l]);
                for (int k = 0; k < count; ++k) out[k] *= weight;
            }
            write(out, count, batch.overwrite, p.target, values);
        }
    }
}

bool RowProducts::writes(int target, int stage) const {
    return std::binary_search(targets_.begin(), targets_.end(), std::pair(target, stage));
}

}  // namespace bellcrank
