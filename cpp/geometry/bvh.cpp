// How a tree of bounds is divided.
#include "geometry/bvh.hpp"

#include <cmath>

namespace bellcrank {

// 1 / d, and which of the bounds along each axis is entered.
struct Bvh::Inverse {
    double by[3], o[3];
    bool down[3];

    explicit Inverse(const LocalRay& ray)
        : by{1.0 / ray.d.x, 1.0 / ray.d.y, 1.0 / ray.d.z}, o{ray.o.x, ray.o.y, ray.o.z} {
        for (int k = 0; k < 3; ++k) down[k] = by[k] < 0.0;
    }

    // Where a ray enters the four bounds of a node; infinite where it misses, or enters beyond the limit. Not a number,
    // where it lies in the plane of a side, changes nothing.
    Four entries(const Node& node, double limit) const {
        Four first{0.0, 0.0, 0.0, 0.0}, last{limit, limit, limit, limit};
        for (int k = 0; k < 3; ++k) {
            const Four in = (wide(down[k] ? node.hi[k] : node.lo[k]) - o[k]) * by[k];
            const Four out = (wide(down[k] ? node.lo[k] : node.hi[k]) - o[k]) * by[k];
            first = in > first ? in : first;
            last = out < last ? out : last;
        }
        const double inf = Bounds::kInfinity;
        return first <= last ? first : Four{inf, inf, inf, inf};
    }
};

// T. Möller, B. Trumbore, Fast, minimum storage ray-triangle intersection (1997), from outside only or from both sides.
// In one place, so that all rays round alike.
template <bool both_sides>
[[gnu::noinline]] void Bvh::enter_leaf(const Leaf& leaf, const LocalRay& ray, Best& best) {
    const Four abx = load(leaf.ab[0]), aby = load(leaf.ab[1]), abz = load(leaf.ab[2]);
    const Four acx = load(leaf.ac[0]), acy = load(leaf.ac[1]), acz = load(leaf.ac[2]);
    const Vec3& d = ray.d;
    const Four hx = d.y * acz - d.z * acy, hy = d.z * acx - d.x * acz, hz = d.x * acy - d.y * acx;
    Four det = abx * hx + aby * hy + abz * hz;
    const Four sx = ray.o.x - load(leaf.a[0]), sy = ray.o.y - load(leaf.a[1]), sz = ray.o.z - load(leaf.a[2]);
    const Four qx = sy * abz - sz * aby, qy = sz * abx - sx * abz, qz = sx * aby - sy * abx;
    Four u = sx * hx + sy * hy + sz * hz, v = d.x * qx + d.y * qy + d.z * qz;
    Four t = acx * qx + acy * qy + acz * qz;  // times det
    if constexpr (both_sides) {
        const Mask back = det < 0.0;
        u = back ? -u : u, v = back ? -v : v, t = back ? -t : t, det = back ? -det : det;
    }
    const Four slack = -1e-14 * det;
    const Mask enters = (det > 0.0) & (u >= slack) & (v >= slack) & (u + v <= det - slack) & (t >= 0.0);
    if (!(enters[0] | enters[1] | enters[2] | enters[3])) return;
    for (int i = 0; i < kWide; ++i) {
        if (!enters[i]) continue;
        const double at = t[i] / det[i];
        if (at < best.distance || (at == best.distance && best.triangle >= 0 && leaf.triangle[i] < best.triangle))
            best = {at, leaf.triangle[i]};
    }
}

template <bool both_sides>
int Bvh::nearest(const LocalRay& ray, double& distance) const {
    if (nodes_.empty()) return -1;
    const Inverse inverse(ray);
    struct Waiting {
        double entry;
        int node;
    } stack[kDepth];
    int top = 0;
    // What is missed is entered at infinity.
    Best best{std::min(distance, std::numeric_limits<double>::max()), -1};
    stack[top++] = {0.0, 0};
    while (top > 0) {
        const Waiting next = stack[--top];
        if (next.entry > best.distance) continue;
        if (next.node < 0) {
            enter_leaf<both_sides>(leaves_[-1 - next.node], ray, best);
            continue;
        }
        const Node& node = nodes_[next.node];
        const Four entry = inverse.entries(node, best.distance);
        const int bottom = top;
        for (int side = 0; side < kWide; ++side) {
            if (!(entry[side] < Bounds::kInfinity)) continue;
            int place = top++;  // the nearest on top
            for (; place > bottom && stack[place - 1].entry < entry[side]; --place) stack[place] = stack[place - 1];
            stack[place] = {entry[side], node.child[side]};
        }
    }
    if (best.triangle >= 0) distance = best.distance;
    return best.triangle;
}

bool Bvh::inside(const Vec3& point) const {
    double out = Bounds::kInfinity, in = Bounds::kInfinity;
    const Vec3 along{0.48, 0.6, 0.64};  // across no axis and no diagonal
    meet({point, along, out}, out);
    const int entered = enter({point, along, in}, in);
    return out < Bounds::kInfinity && (entered < 0 || out < in);
}

template int Bvh::nearest<false>(const LocalRay&, double&) const;
template int Bvh::nearest<true>(const LocalRay&, double&) const;

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

// Pairs of triangles of two trees that are near each other.

// Both trees are descended together. Bounds of this tree are moved into the axes of the other one, where they become
// those of the moved box, and compared with four at a time.
class Bvh::PairSearch {
  public:
    PairSearch(const Bvh& a, const Bvh& b, const Pose& rel, double grown, std::vector<std::array<int, 2>>& out)
        : a_(a), b_(b), rel_(rel), grown_(grown), out_(out) {
        for (int i = 0; i < 9; ++i) size_.m[i] = std::abs(rel.R.m[i]);
        if (a.nodes_.empty() || b.nodes_.empty()) return;
        const double inf = Bounds::kInfinity;
        descend(0, {{-inf, -inf, -inf}, {inf, inf, inf}}, 0);
    }

  private:
    const Bvh& a_;
    const Bvh& b_;
    const Pose& rel_;  // of a, seen from b
    Mat3 size_;        // |R|
    const double grown_;
    std::vector<std::array<int, 2>>& out_;

    static Bounds child_bounds(const Node& node, int side) {
        return {{node.lo[0][side], node.lo[1][side], node.lo[2][side]},
                {node.hi[0][side], node.hi[1][side], node.hi[2][side]}};
    }
    static Bounds triangle_bounds(const Leaf& leaf, int i) {
        Bounds out;
        for (const auto& corner : corners(leaf, i)) out.add(corner);
        return out;
    }
    static std::array<Vec3, 3> corners(const Leaf& leaf, int i) {
        const Vec3 a{leaf.a[0][i], leaf.a[1][i], leaf.a[2][i]};
        return {a, a + Vec3{leaf.ab[0][i], leaf.ab[1][i], leaf.ab[2][i]},
                a + Vec3{leaf.ac[0][i], leaf.ac[1][i], leaf.ac[2][i]}};
    }
    // The bounds of a child of the first tree, in the axes of the second, wider by what is to be found.
    Bounds moved(const Node& node, int side) const {
        const Bounds own = child_bounds(node, side);
        const Vec3 centre = rel_.point(own.centre()), half = size_ * (0.5 * (own.hi - own.lo));
        return Bounds{centre - half, centre + half}.grown(grown_);
    }

    // A node of either tree, with the bounds of the first; −1 − i is leaf i.
    void descend(int a, const Bounds& bounds, int b) {
        if (a < 0 && b < 0) return compare(a_.leaves_[-1 - a], b_.leaves_[-1 - b]);
        if (a < 0) {
            const Node& node = b_.nodes_[b];
            const Mask away = apart(node, bounds);
            for (int side = 0; side < kWide; ++side)
                if (!away[side]) descend(a, bounds, node.child[side]);
            return;
        }
        const Node& node = a_.nodes_[a];
        for (int side = 0; side < kWide; ++side) {
            if (!(node.lo[0][side] <= node.hi[0][side])) continue;
            const Bounds box = moved(node, side);
            if (b >= 0) {
                const Node& other = b_.nodes_[b];
                const Mask away = apart(other, box);
                for (int k = 0; k < kWide; ++k)
                    if (!away[k]) descend(node.child[side], box, other.child[k]);
            } else if (near_leaf(b_.leaves_[-1 - b], box)) {
                descend(node.child[side], box, b);
            }
        }
    }

    static bool near_leaf(const Leaf& leaf, const Bounds& box) {
        for (int i = 0; i < leaf.count; ++i)
            if (overlap(box, triangle_bounds(leaf, i))) return true;
        return false;
    }

    void compare(const Leaf& a, const Leaf& b) {
        for (int i = 0; i < a.count; ++i) {
            Bounds own;
            for (const Vec3& p : corners(a, i)) own.add(rel_.point(p));
            own = own.grown(grown_);
            for (int k = 0; k < b.count; ++k)
                if (overlap(own, triangle_bounds(b, k))) out_.push_back({a.triangle[i], b.triangle[k]});
        }
    }
};

void Bvh::near_pairs(const Bvh& other, const Pose& rel, double grown, std::vector<std::array<int, 2>>& out) const {
    PairSearch search(*this, other, rel, grown, out);
}

}  // namespace bellcrank
