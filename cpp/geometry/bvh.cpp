#include "geometry/bvh.hpp"

#include <cmath>

namespace bellcrank {

namespace {

constexpr int kBins = 16;

double half_area(const Bounds& b) {
    const Vec3 d = b.hi - b.lo;
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

float below(double x) { return std::nextafterf(static_cast<float>(x), -HUGE_VALF); }
float above(double x) { return std::nextafterf(static_cast<float>(x), HUGE_VALF); }

}  // namespace

void Bvh::build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles) {
    std::vector<Item> items(triangles.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        for (int v : triangles[i]) items[i].bounds.add(vertices[v]);
        items[i].centre = items[i].bounds.centre();
        items[i].triangle = static_cast<int>(i);
    }
    nodes_.clear();
    order_.resize(items.size());
    if (items.empty()) return;
    nodes_.reserve(items.size());
    const int n = static_cast<int>(items.size());
    nodes_.emplace_back();
    const int middle = n > 1 ? split(items, 0, n, 0) : n;
    set_child(0, 0, items, 0, middle, 1);
    set_child(0, 1, items, middle, n, 1);
}

int Bvh::split(std::vector<Item>& items, int begin, int end, int depth) {
    Bounds centres;
    for (int i = begin; i < end; ++i) centres.add(items[i].centre);
    const Vec3 size = centres.hi - centres.lo;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const double low = component(centres.lo, axis), extent = component(size, axis);
    const int half = (begin + end) / 2;
    if (!(extent > 0.0)) return half;
    auto by_centre = [&](const Item& a, const Item& b) {
        return component(a.centre, axis) < component(b.centre, axis);
    };
    auto at_middle = [&] {
        std::nth_element(items.begin() + begin, items.begin() + half, items.begin() + end, by_centre);
        return half;
    };
    if (depth > 60) return at_middle();  // bounds the depth
    Bounds bins[kBins];
    int counts[kBins] = {};
    const double scale = kBins * (1.0 - 1e-12) / extent;
    auto bin_of = [&](const Item& item) { return static_cast<int>(scale * (component(item.centre, axis) - low)); };
    for (int i = begin; i < end; ++i) {
        const int bin = bin_of(items[i]);
        bins[bin].add(items[i].bounds);
        ++counts[bin];
    }
    double right[kBins];
    Bounds grown;
    int count = 0;
    for (int k = kBins - 1; k > 0; --k) {
        grown.add(bins[k]);
        count += counts[k];
        right[k] = count ? count * half_area(grown) : 0.0;
    }
    grown = Bounds();
    count = 0;
    int best = -1;
    double least = Bounds::kInfinity;
    for (int k = 0; k + 1 < kBins; ++k) {
        grown.add(bins[k]);
        count += counts[k];
        if (count == 0 || count == end - begin) continue;
        const double cost = count * half_area(grown) + right[k + 1];
        if (cost < least) least = cost, best = k;
    }
    if (best < 0) return at_middle();
    const auto middle = std::partition(items.begin() + begin, items.begin() + end,
                                       [&](const Item& item) { return bin_of(item) <= best; });
    return static_cast<int>(middle - items.begin());
}

void Bvh::set_child(int node, int side, std::vector<Item>& items, int begin, int end, int depth) {
    Bounds bounds;
    for (int i = begin; i < end; ++i) bounds.add(items[i].bounds);
    for (int k = 0; k < 3; ++k) {
        nodes_[node].lo[side][k] = below(component(bounds.lo, k));
        nodes_[node].hi[side][k] = above(component(bounds.hi, k));
    }
    const int count = end - begin;
    nodes_[node].child[side] = begin;
    nodes_[node].count[side] = static_cast<std::int16_t>(std::min(count, kLeaf));
    if (count <= kLeaf) {
        for (int i = begin; i < end; ++i) order_[i] = items[i].triangle;
        // An empty child is a node that nothing enters.
        if (count == 0) nodes_[node].count[side] = 1, nodes_[node].child[side] = begin > 0 ? begin - 1 : 0;
        return;
    }
    const int child = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    nodes_[node].child[side] = child;
    nodes_[node].count[side] = 0;
    const int middle = split(items, begin, end, depth);
    set_child(child, 0, items, begin, middle, depth + 1);
    set_child(child, 1, items, middle, end, depth + 1);
}

}  // namespace bellcrank
