// Two triangulated surfaces: the features that touch, less those that a smaller way out leaves without contact and
// those that lie beyond a thin part.
#include <algorithm>
#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/mesh.hpp"
#include "geometry/pairs.hpp"
#include "geometry/surface_features.hpp"
#include "geometry/surface_overlap.hpp"

namespace bellcrank {

namespace {

constexpr double kOnSide = 1e-10;   // of the size of the smaller surface: what is on a side
constexpr double kGrowth = 4.0;     // of the depth that is looked for, where more is found
constexpr double kFarthest = 1e30;  // for an infinite reach: no bounds are wider [m]
constexpr double kNear = 1e-3;      // of the size, how deep features are looked for at first
constexpr int kMostPasses = 24;

// Of a mesh and another surface: triangles whose bounds are near each other.
void find_surface_pairs(const Mesh& a, const Surface& b, const Pose& rel, double grown, ContactManifold& out) {
    out.near_pairs.clear();
    if (b.kind == ShapeKind::mesh)
        return a.tree.near_pairs(static_cast<const Mesh&>(b).tree, rel, grown, out.near_pairs);
    const auto& field = static_cast<const HeightField&>(b);
    const auto above = [&](const Bounds& own) {
        Bounds moved;
        for (int i = 0; i < 8; ++i)
            moved.add(
                rel.point({i & 1 ? own.hi.x : own.lo.x, i & 2 ? own.hi.y : own.lo.y, i & 4 ? own.hi.z : own.lo.z}));
        moved = moved.grown(grown);
        return field.highest(moved) >= moved.lo.z;
    };
    a.tree.where(above, [&](int i) {
        Bounds own;
        for (int v : a.triangles[i]) own.add(rel.point(a.vertices[v]));
        field.near(own.grown(grown), out, out.found);
        for (int k : out.found) out.near_pairs.push_back({i, k});
    });
}

}  // namespace

void surface_surface(const Shape& shape_a, const Pose& pose_a, const Shape& shape_b, const Pose& pose_b, double reach,
                     ContactManifold& out) {
    const auto& a = static_cast<const Mesh&>(shape_a);
    const auto& b = static_cast<const Surface&>(shape_b);
    const Pose rel = seen_from(pose_b, pose_a);
    double sum = dot(rel.p, rel.p);
    for (double entry : rel.R.m) sum += entry;
    if (!std::isfinite(sum)) return;
    const double size = std::min(norm(a.bounds.hi - a.bounds.lo), norm(b.bounds.hi - b.bounds.lo));
    // Corners of small triangles that are far inside belong to none whose bounds are near: they are looked for farther
    // until nothing deeper is found.
    double deepest = std::clamp(reach, kNear * size, kFarthest);
    for (int pass = 0; pass < kMostPasses; ++pass) {
        out.candidates.clear();
        out.companions.clear();
        out.crossings.clear();
        find_surface_pairs(a, b, rel, deepest, out);
        std::sort(out.near_pairs.begin(), out.near_pairs.end());
        SurfaceFeatures features(a, b, rel, reach, deepest, kOnSide * size, out);
        int last = -1;
        for (const auto& [i, k] : out.near_pairs) {
            if (i != last) features.begin(i), last = i;
            features.visit(k);
        }
        SurfaceOverlap overlap(a, b, rel, kOnSide * size, out);
        const double depth = overlap.select();
        const double farther = std::max(depth > deepest ? depth : 0.0, overlap.unexplained(deepest));
        if (farther == 0.0 || !(deepest < size)) {
            if (depth == 0.0) overlap.fall_back();
            break;
        }
        deepest = std::min(kGrowth * deepest, 1.01 * farther);
    }
    for (const SurfacePoint& p : out.candidates)
        out.add(pose_b, p.on_a - (0.5 * p.gap) * p.normal, p.normal, p.gap, static_cast<Feature>(p.feature >> 32),
                static_cast<Feature>(p.feature));
}

}  // namespace bellcrank
