// How a tree of bounds is divided.
#include <cmath>

#include "geometry/bvh.hpp"

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

class Bvh::Builder {
  public:
    Builder(Bvh& tree, const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles)
        : tree_(tree), vertices_(vertices), triangles_(triangles), items_(triangles.size()) {
        for (std::size_t i = 0; i < items_.size(); ++i) {
            for (int v : triangles[i]) items_[i].bounds.add(vertices[v]);
            items_[i].centre = items_[i].bounds.centre();
            items_[i].triangle = static_cast<int>(i);
        }
        tree_.nodes_.clear();
        tree_.leaves_.clear();
        if (!items_.empty()) add_node(part(0, static_cast<int>(items_.size())), 0);
    }

  private:
    Bvh& tree_;
    const std::vector<Vec3>& vertices_;
    const std::vector<std::array<int, 3>>& triangles_;
    std::vector<Item> items_;

    Part part(int begin, int end) const {
        Part out{begin, end, {}};
        for (int i = begin; i < end; ++i) out.bounds.add(items_[i].bounds);
        return out;
    }

    // The node of a part, which is divided until it has four children or nothing is left to divide.
    int add_node(const Part& whole, int depth) {
        Part parts[kWide] = {whole};
        int count = 1;
        while (count < kWide) {
            int largest = -1;
            for (int i = 0; i < count; ++i) {
                if (parts[i].end - parts[i].begin <= kWide) continue;
                if (largest < 0 || half_area(parts[i].bounds) > half_area(parts[largest].bounds)) largest = i;
            }
            if (largest < 0) break;
            const int begin = parts[largest].begin, end = parts[largest].end, middle = split(begin, end, depth);
            parts[largest] = part(begin, middle);
            parts[count++] = part(middle, end);
        }
        const int number = static_cast<int>(tree_.nodes_.size());
        tree_.nodes_.emplace_back();
        for (int side = 0; side < kWide; ++side) {
            const bool used = side < count;
            int child = 0;
            if (used && parts[side].end - parts[side].begin <= kWide)
                child = -1 - add_leaf(parts[side]);
            else if (used)
                child = add_node(parts[side], depth + 1);
            Node& node = tree_.nodes_[number];
            node.child[side] = child;
            for (int k = 0; k < 3; ++k) {
                node.lo[k][side] = used ? below(component(parts[side].bounds.lo, k)) : HUGE_VALF;
                node.hi[k][side] = used ? above(component(parts[side].bounds.hi, k)) : -HUGE_VALF;
            }
        }
        return number;
    }

    int add_leaf(const Part& part) {
        Leaf leaf{};
        leaf.count = part.end - part.begin;
        for (int i = 0; i < leaf.count; ++i) {
            leaf.triangle[i] = items_[part.begin + i].triangle;
            const auto& t = triangles_[leaf.triangle[i]];
            Vec3 a = vertices_[t[0]], ab = vertices_[t[1]] - a, ac = vertices_[t[2]] - a;
            for (int k = 0; k < 3; ++k)
                leaf.a[k][i] = component(a, k), leaf.ab[k][i] = component(ab, k), leaf.ac[k][i] = component(ac, k);
        }
        tree_.leaves_.push_back(leaf);
        return static_cast<int>(tree_.leaves_.size()) - 1;
    }

    int split(int begin, int end, int depth) {
        Bounds centres;
        for (int i = begin; i < end; ++i) centres.add(items_[i].centre);
        const Vec3 size = centres.hi - centres.lo;
        const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
        const double low = component(centres.lo, axis), extent = component(size, axis);
        const int half = (begin + end) / 2;
        if (!(extent > 0.0)) return half;
        const auto first = items_.begin() + begin, last = items_.begin() + end;
        auto at_middle = [&] {
            std::nth_element(first, items_.begin() + half, last, [&](const Item& a, const Item& b) {
                return component(a.centre, axis) < component(b.centre, axis);
            });
            return half;
        };
        if (depth > 20) return at_middle();  // bounds the depth
        const double scale = kBins * (1.0 - 1e-12) / extent;
        auto bin_of = [&](const Item& item) { return static_cast<int>(scale * (component(item.centre, axis) - low)); };
        Bounds bins[kBins];
        int counts[kBins] = {};
        for (int i = begin; i < end; ++i) {
            const int bin = bin_of(items_[i]);
            bins[bin].add(items_[i].bounds);
            ++counts[bin];
        }
        const int best = cheapest(bins, counts, end - begin);
        if (best < 0) return at_middle();
        const auto middle = std::partition(first, last, [&](const Item& item) { return bin_of(item) <= best; });
        return static_cast<int>(middle - items_.begin());
    }

    // The last bin on the left of the best division; −1 where all are in one.
    static int cheapest(const Bounds* bins, const int* counts, int all) {
        double right[kBins], least = Bounds::kInfinity;
        Bounds grown;
        int count = 0, best = -1;
        for (int k = kBins - 1; k > 0; --k) {
            grown.add(bins[k]);
            count += counts[k];
            right[k] = count ? count * half_area(grown) : 0.0;
        }
        grown = Bounds();
        count = 0;
        for (int k = 0; k + 1 < kBins; ++k) {
            grown.add(bins[k]);
            count += counts[k];
            if (count == 0 || count == all) continue;
            const double cost = count * half_area(grown) + right[k + 1];
            if (cost < least) least = cost, best = k;
        }
        return best;
    }
};

void Bvh::build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles) {
    Builder(*this, vertices, triangles);
}

}  // namespace bellcrank
