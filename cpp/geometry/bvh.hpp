// A binary tree of bounds over triangles, four a leaf.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/bounds.hpp"

namespace bellcrank {

class Bvh {
  public:
    static constexpr int kLeaf = 4;

    // Splits where the surface area heuristic over 16 bins of the longest axis is least (I. Wald, On fast construction
    // of SAH-based bounding volume hierarchies, 2007).
    void build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles);

    // Calls visit(triangle) for all triangles in leaves whose bounds overlap.
    template <class Visit>
    void overlapping(const Bounds& bounds, Visit&& visit) const {
        if (nodes_.empty()) return;
        int stack[kDepth], top = 0;
        stack[top++] = 0;
        while (top > 0) {
            const Node& node = nodes_[stack[--top]];
            for (int side = 0; side < 2; ++side) {
                const float *lo = node.lo[side], *hi = node.hi[side];
                if (lo[0] > bounds.hi.x || hi[0] < bounds.lo.x || lo[1] > bounds.hi.y || hi[1] < bounds.lo.y ||
                    lo[2] > bounds.hi.z || hi[2] < bounds.lo.z)
                    continue;
                if (node.count[side] == 0)
                    stack[top++] = node.child[side];
                else
                    for (int i = 0; i < node.count[side]; ++i) visit(order_[node.child[side] + i]);
            }
        }
    }

    // Calls visit(triangle) along a ray, nearer bounds first; visit returns how far the ray still matters.
    template <class Visit>
    void along(const Vec3& origin, const Vec3& direction, double limit, Visit&& visit) const {
        if (nodes_.empty()) return;
        const double o[3] = {origin.x, origin.y, origin.z};
        const double inverse[3] = {1.0 / direction.x, 1.0 / direction.y, 1.0 / direction.z};
        struct Waiting {
            int node;
            double entry;
        } stack[kDepth];
        int top = 0;
        limit = std::min(limit, std::numeric_limits<double>::max());  // what is missed is entered at infinity
        stack[top++] = {0, 0.0};
        while (top > 0) {
            const Waiting next = stack[--top];
            if (next.entry > limit) continue;
            const Node& node = nodes_[next.node];
            double entry[2];
            for (int side = 0; side < 2; ++side) entry[side] = enter(node, side, o, inverse, limit);
            const int nearer = entry[1] < entry[0];
            for (int side : {nearer, 1 - nearer})
                if (entry[side] <= limit && node.count[side] > 0)
                    for (int i = 0; i < node.count[side]; ++i) limit = visit(order_[node.child[side] + i]);
            for (int side : {1 - nearer, nearer})
                if (entry[side] <= limit && node.count[side] == 0) stack[top++] = {node.child[side], entry[side]};
        }
    }

  private:
    static constexpr int kDepth = 128;
    // The bounds of both children, rounded outwards; a child with triangles is a leaf.
    struct Node {
        float lo[2][3], hi[2][3];
        std::int32_t child[2];
        std::int16_t count[2];
    };
    std::vector<Node> nodes_;
    std::vector<int> order_;

    static double enter(const Node& node, int side, const double* o, const double* inverse, double limit) {
        double first = 0.0, last = limit;
        for (int k = 0; k < 3; ++k) {
            const double a = (node.lo[side][k] - o[k]) * inverse[k], b = (node.hi[side][k] - o[k]) * inverse[k];
            // Not a number, where the ray lies in the plane of a side, changes nothing.
            const double in = a < b ? a : b, out = a < b ? b : a;
            first = in > first ? in : first;
            last = out < last ? out : last;
        }
        return first <= last ? first : Bounds::kInfinity;
    }

    struct Item {
        Bounds bounds;
        Vec3 centre;
        int triangle;
    };
    int split(std::vector<Item>& items, int begin, int end, int depth);
    void set_child(int node, int side, std::vector<Item>& items, int begin, int end, int depth);
};

}  // namespace bellcrank
