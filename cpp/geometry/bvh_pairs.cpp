// Pairs of triangles of two trees that are near each other.
#include "geometry/bvh.hpp"

namespace bellcrank {

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
    // Of a child of the first tree, in the axes of the second, wider by what is to be found.
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
