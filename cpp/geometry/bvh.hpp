// A tree of bounds over triangles, four children a node and up to four triangles a leaf.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/rays.hpp"

namespace bellcrank {

class Bvh {
  public:
    // Bounds and triangles are compared four at a time.
    static constexpr int kWide = 4;

    // Splits where the surface area heuristic over 16 bins of the longest axis is least (I. Wald, On fast construction
    // of SAH-based bounding volume hierarchies, 2007), the largest of up to four parts first.
    void build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles);

    // Calls visit(triangle) for all triangles in leaves whose bounds overlap.
    template <class Visit>
    void overlapping(const Bounds& bounds, Visit&& visit) const {
        search(bounds, [&](const Node& node, int side) {
            const Leaf& leaf = leaves_[-1 - node.child[side]];
            for (int i = 0; i < leaf.count; ++i) visit(leaf.triangle[i]);
            return true;
        });
    }

    // Calls visit(triangle) for all triangles in leaves below bounds that near(bounds) accepts.
    template <class Near, class Visit>
    void where(Near&& near, Visit&& visit) const {
        int stack[kDepth], top = 0;
        if (!nodes_.empty()) stack[top++] = 0;
        while (top > 0) {
            const Node& node = nodes_[stack[--top]];
            for (int side = 0; side < kWide; ++side) {
                const Bounds own{{node.lo[0][side], node.lo[1][side], node.lo[2][side]},
                                 {node.hi[0][side], node.hi[1][side], node.hi[2][side]}};
                if (!(own.lo.x <= own.hi.x) || !near(own)) continue;
                if (node.child[side] >= 0) {
                    stack[top++] = node.child[side];
                    continue;
                }
                const Leaf& leaf = leaves_[-1 - node.child[side]];
                for (int i = 0; i < leaf.count; ++i) visit(leaf.triangle[i]);
            }
        }
    }

    // Adds the pairs of triangles of this tree, which is seen from the other one at a pose, and of the other one whose
    // bounds in the axes of the other one, wider by `grown`, overlap.
    void near_pairs(const Bvh& other, const Pose& rel, double grown, std::vector<std::array<int, 2>>& out) const;

    // The nearest triangle that a ray enters from its front before `distance`, which is shortened; −1 for none. Of
    // those at the same distance the first by number.
    int enter(const LocalRay& ray, double& distance) const { return nearest<false>(ray, distance); }
    // The same for triangles that it goes through from either side.
    int meet(const LocalRay& ray, double& distance) const { return nearest<true>(ray, distance); }
    // Whether a point is inside the solid: the next triangle on some way is left through.
    bool inside(const Vec3& point) const;

  private:
    static constexpr int kDepth = 256;
    using Four = double __attribute__((vector_size(32)));
    using FourFloats = float __attribute__((vector_size(16)));
    using Mask = std::int64_t __attribute__((vector_size(32)));

    // The bounds of the children, rounded outwards; those that are missing contain nothing. The child −1 − i is leaf i.
    struct alignas(16) Node {
        float lo[3][kWide], hi[3][kWide];
        std::int32_t child[kWide];
    };
    // Vertices a and the sides from there, component by component; what is missing has no area.
    struct Leaf {
        double a[3][kWide], ab[3][kWide], ac[3][kWide];
        std::int32_t triangle[kWide];
        int count;
    };
    struct Inverse;
    struct Best {
        double distance;
        int triangle;
    };
    std::vector<Node> nodes_;
    std::vector<Leaf> leaves_;

    static Four wide(const float* p) {
        FourFloats v;
        __builtin_memcpy(&v, p, sizeof v);
        return __builtin_convertvector(v, Four);
    }
    static Four load(const double* p) {
        Four v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
    static Mask apart(const Node& node, const Bounds& b) {
        return (wide(node.lo[0]) > b.hi.x) | (wide(node.hi[0]) < b.lo.x) | (wide(node.lo[1]) > b.hi.y) |
               (wide(node.hi[1]) < b.lo.y) | (wide(node.lo[2]) > b.hi.z) | (wide(node.hi[2]) < b.lo.z);
    }
    template <bool both_sides>
    static void enter_leaf(const Leaf& leaf, const LocalRay& ray, Best& best);
    template <bool both_sides>
    int nearest(const LocalRay& ray, double& distance) const;

    // Calls visit(node, side) for the leaves whose bounds overlap, until it returns false.
    template <class Visit>
    bool search(const Bounds& bounds, Visit&& visit) const {
        if (nodes_.empty()) return true;
        int stack[kDepth], top = 0;
        stack[top++] = 0;
        while (top > 0) {
            const Node& node = nodes_[stack[--top]];
            const Mask away = apart(node, bounds);
            for (int side = 0; side < kWide; ++side) {
                if (away[side]) continue;
                if (node.child[side] >= 0)
                    stack[top++] = node.child[side];
                else if (!visit(node, side))
                    return false;
            }
        }
        return true;
    }

    struct Item {
        Bounds bounds;
        Vec3 centre;
        int triangle;
    };
    struct Part {
        int begin, end;
        Bounds bounds;
    };
    class Builder;
    class PairSearch;
};

}  // namespace bellcrank
