// Two triangulated surfaces: the features that touch, less those that a smaller way out leaves without contact and
// those that lie beyond a thin part.
#include <algorithm>
#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/manifold.hpp"
#include "geometry/mesh.hpp"
#include "geometry/pairs.hpp"
#include "geometry/support.hpp"
#include "geometry/surface_features.hpp"

namespace bellcrank {

// Which of the features of two surfaces that are near each other are contacts.

// Works on the candidates of a manifold, in the axes of b. What is within `slack` of a surface is on it.
class SurfaceOverlap {
  public:
    SurfaceOverlap(const Mesh& a, const Surface& b, const Pose& rel, double slack, ContactManifold& out)
        : a_(a), b_(b), rel_(rel), slack_(slack), out_(out) {}

    // Leaves of the candidates those that are contacts; returns the largest depth.
    double select();
    // The depth of the vertices that lie below where the surfaces cross, if these are deeper than `looked_for` and no
    // contact moves them out; otherwise 0.
    double unexplained(double looked_for);
    // Where the surfaces cross, or a mesh is below a height field, but no candidate is beyond doubt, the shallowest one
    // around there is the contact: solids that have come into each other by more than the width of their sharp parts
    // are pushed apart all the same.
    void fall_back();

  private:
    const Mesh& a_;
    const Surface& b_;
    const Pose& rel_;  // of a, seen from b
    const double slack_;
    ContactManifold& out_;

    void load(const std::array<int, 2>& pair, SurfaceTriangle& own, SurfaceTriangle& other) const;
    bool cross(Vec3& at) const;
    bool is_buried(const SurfacePoint& point) const;
    double below(const Mesh& mesh, bool of_a, const SurfaceTriangle& from, const SurfaceTriangle& facet);
    bool is_inside(const Vec3& vertex, bool of_a) const;
    bool moves_out(const Vec3& p, bool of_a) const;
    bool accompanies(const SurfacePoint& point, std::size_t count) const;
    bool resolved(const SurfacePoint& point, std::size_t count, bool far) const;
    bool resolved(const SurfacePoint& point, const SurfacePoint& by, bool far) const;
    bool connected(const Vec3& from, const Vec3& to) const;
    bool gets_out(SurfacePoint& point) const;
    bool free_way(const Surface& surface, Vec3 (&part)[2], const Vec3& to, bool moved) const;
    bool enters(const Surface& surface, const Vec3& from, const Vec3& way, bool moved) const;
};

namespace {

constexpr double kAround = 12.0;   // depths, around a contact: the overlap that it stands for
constexpr double kGrazing = 1e-6;  // sine of the angle at which a ray does not enter a surface

// Whether q is beside p, no farther away than p is deep, and faces the same way.
bool beside(const SurfacePoint& p, const SurfacePoint& q) {
    const Vec3 off = p.middle() - q.middle();
    return dot(off, off) < p.gap * p.gap && dot(p.normal, q.normal) > 0.5;
}

bool same_corner(const SurfacePoint& p, const SurfacePoint& q) {
    return p.kind == q.kind && p.kind != SurfacePoint::Kind::ridges && p.corner == q.corner;
}

}  // namespace

// The smallest depths come first: they are the ways by which the solids separate.
double SurfaceOverlap::select() {
    out_.rejected.clear();
    auto& all = out_.candidates;
    std::sort(all.begin(), all.end(), [](const SurfacePoint& p, const SurfacePoint& q) {
        return p.gap != q.gap ? p.gap > q.gap : p.feature < q.feature;
    });
    std::size_t kept = 0;
    double depth = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        SurfacePoint point = all[i];
        if (point.groove != SurfacePoint::Groove::none && !gets_out(point)) continue;
        if (point.gap < 0.0) {
            if (resolved(point, kept, false)) continue;
            if (point.doubtful || !gets_out(point)) {
                out_.rejected.push_back(point);
                continue;
            }
            if (resolved(point, kept, true)) continue;
            depth = -point.gap;
        }
        all[kept++] = point;
    }
    all.resize(kept);
    for (SurfacePoint& point : out_.companions)
        if (accompanies(point, kept) && (point.gap >= 0.0 || gets_out(point))) all.push_back(point);
    return depth;
}

// A corner that others below it keep from touching the facet belongs to the contact of these with the same facet,
// if it is less deep.
bool SurfaceOverlap::accompanies(const SurfacePoint& point, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k)
        if (out_.candidates[k].kind == point.kind && out_.candidates[k].facet == point.facet &&
            out_.candidates[k].gap <= point.gap)
            return true;
    return false;
}

bool SurfaceOverlap::resolved(const SurfacePoint& point, std::size_t count, bool far) const {
    for (std::size_t k = count; k-- > 0 && out_.candidates[k].gap <= slack_;)
        if (resolved(point, out_.candidates[k], far)) return true;
    return false;
}

// Whether moving a out at contact `by`, which is less deep, leaves nothing at `point`: a is in front of the plane
// through that contact then, and b behind it. That is so near the contact; farther away in the same part of the
// overlap, which is known of points that get out.
bool SurfaceOverlap::resolved(const SurfacePoint& point, const SurfacePoint& by, bool far) const {
    const double depth = std::max(0.0, -by.gap);
    const bool same = same_corner(point, by), grooves = point.groove != SurfacePoint::Groove::none;
    // What has a contact with a facet is not in a groove beside it.
    if ((same || beside(point, by)) && grooves && by.groove == SurfacePoint::Groove::none) return true;
    if (dot(point.normal, by.normal) > kAligned) return same;
    if (grooves && by.groove != SurfacePoint::Groove::none) return false;
    const Vec3 middle = by.middle() - point.on_a;
    const Vec3 off = middle - std::clamp(dot(middle, point.normal), 0.0, -point.gap) * point.normal;
    // At no depth at all the solids lie flush, and what is on that plane is in neither.
    const bool far_off = depth > slack_ && dot(off, off) > kAround * kAround * depth * depth;
    if (far_off && !(far && connected(point.inside(), by.inside()))) return false;
    const double margin = 1e-6 * depth + slack_;
    const Vec3 pivot = by.on_b();
    return dot(by.normal, point.on_a - pivot) >= -depth - margin && dot(by.normal, point.on_b() - pivot) <= margin;
}

// Whether neither surface is between two points, which are in the same part of the overlap then.
bool SurfaceOverlap::connected(const Vec3& from, const Vec3& to) const {
    const double length = norm(to - from);
    if (!(length > slack_)) return true;
    const Vec3 along = (1.0 / length) * (to - from);
    double until = length;
    if (a_.tree.meet({rel_.local_point(from), rel_.local_direction(along), until}, until) >= 0) return false;
    if (b_.kind != ShapeKind::mesh) return true;
    until = length;
    return static_cast<const Mesh&>(b_).tree.meet({from, along, until}, until) < 0;
}

// The way out of a solid enters no other part of it: otherwise the point has come through a thin part. Nor does the
// way to a groove.
bool SurfaceOverlap::gets_out(SurfacePoint& point) const {
    if (-point.gap > slack_) {
        const Vec3 way = -point.gap * point.normal;
        if (point.kind == SurfacePoint::Kind::corner_of_a &&
            (b_.kind == ShapeKind::mesh ? enters(b_, point.on_a, way, false) : !is_buried(point)))
            return false;
        if (point.kind == SurfacePoint::Kind::corner_of_b && enters(a_, point.on_b(), -way, true)) return false;
        if (point.kind == SurfacePoint::Kind::ridges &&
            !(free_way(b_, point.in_b, point.on_b(), false) && free_way(a_, point.in_a, point.on_a, true)))
            return false;
    }
    if (point.groove == SurfacePoint::Groove::none) return true;
    if (point.groove == SurfacePoint::Groove::of_a)
        return a_.tree.inside(rel_.local_point(point.on_b())) && !enters(a_, point.on_b(), point.to_groove, true);
    return (b_.kind != ShapeKind::mesh || static_cast<const Mesh&>(b_).tree.inside(point.on_a)) &&
           !enters(b_, point.on_a, point.to_groove, false);
}

// Whether the way from some point of a part of a ridge to the contact is free; that point becomes the first end of the
// part.
bool SurfaceOverlap::free_way(const Surface& surface, Vec3 (&part)[2], const Vec3& to, bool moved) const {
    const Vec3 first = part[0];
    for (double at : {0.5, 0.05, 0.95}) {
        part[0] = first + at * (part[1] - first);
        if (!enters(surface, part[0], to - part[0], moved)) return true;
    }
    return false;
}

bool SurfaceOverlap::enters(const Surface& surface, const Vec3& from, const Vec3& way, bool moved) const {
    const double length = norm(way);
    if (surface.kind != ShapeKind::mesh || !(length > 2.0 * slack_)) return false;
    const auto& mesh = static_cast<const Mesh&>(surface);
    const Vec3 along = (1.0 / length) * (moved ? rel_.local_direction(way) : way);
    RayHit hit{length - slack_, {0.0, 0.0, 0.0}, 0};
    return mesh.ray({moved ? rel_.local_point(from) : from, along, hit.distance}, hit) &&
           dot(hit.normal, along) < -kGrazing;
}

// How far two surfaces that cross are in each other, beyond the features that were near.

namespace {

// Whether a side of a triangle goes through the inner part of another one, and where.
bool pierces(const SurfaceTriangle& sides, const SurfaceTriangle& through, double slack, Vec3& at) {
    for (int e = 0; e < 3; ++e) {
        const Vec3 from = sides.p[e], to = sides.p[e == 2 ? 0 : e + 1];
        const double h0 = dot(through.normal, from - through.p[0]), h1 = dot(through.normal, to - through.p[0]);
        if (!(h0 * h1 < 0.0)) continue;
        at = from + (h0 / (h0 - h1)) * (to - from);
        bool inside = true;
        for (int k = 0; k < 3; ++k) inside = inside && dot(through.outwards(k), at - through.p[k]) < -slack;
        if (inside) return true;
    }
    return false;
}

}  // namespace

// Triangles in the axes of b.
void SurfaceOverlap::load(const std::array<int, 2>& pair, SurfaceTriangle& own, SurfaceTriangle& other) const {
    a_.triangle(pair[0], own);
    b_.triangle(pair[1], other);
    for (Vec3& p : own.p) p = rel_.point(p);
    own.normal = rel_.direction(own.normal);
}

bool SurfaceOverlap::cross(Vec3& at) const {
    SurfaceTriangle own, other;
    for (const auto& pair : out_.crossings) {
        load(pair, own, other);
        if (pierces(own, other, slack_, at) || pierces(other, own, slack_, at)) return true;
    }
    return false;
}

bool SurfaceOverlap::is_buried(const SurfacePoint& point) const {
    if (b_.kind == ShapeKind::mesh || point.kind != SurfacePoint::Kind::corner_of_a) return false;
    const auto& field = static_cast<const HeightField&>(b_);
    const double above = field.bounds.hi.z - point.on_a.z + 1.0;
    RayHit hit{above, {0.0, 0.0, 0.0}, 0};
    return above > 1.0 && field.ray({point.on_a + Vec3{0.0, 0.0, above}, {0.0, 0.0, -1.0}, above}, hit);
}

void SurfaceOverlap::fall_back() {
    Vec3 at{0.0, 0.0, 0.0};
    const bool crossing = cross(at);
    const SurfacePoint* best = nullptr;
    double least = Bounds::kInfinity;
    for (const auto* all : {&out_.rejected, &out_.companions})
        for (const SurfacePoint& p : *all) {
            const double way = (crossing ? norm(p.middle() - at) : 0.0) - p.gap;
            if (p.gap < 0.0 && way < least && (crossing || is_buried(p))) least = way, best = &p;
        }
    if (!best) return;
    out_.uncertainty = -best->gap;
    out_.candidates.push_back(*best);
}

// Height fields need no walk: all of their cells below a mesh are near it.
double SurfaceOverlap::unexplained(double looked_for) {
    if (b_.kind != ShapeKind::mesh || out_.crossings.empty()) return 0.0;
    const auto& b = static_cast<const Mesh&>(b_);
    out_.marks.resize(std::max(out_.marks.size(), a_.vertices.size() + b.vertices.size()), 0);
    ++out_.search;
    double depth = 0.0;
    SurfaceTriangle own, other;
    Vec3 at;
    for (const auto& pair : out_.crossings) {
        load(pair, own, other);
        if (!pierces(own, other, slack_, at) && !pierces(other, own, slack_, at)) continue;
        depth = std::max({depth, below(a_, true, own, other), below(b, false, other, own)});
    }
    return depth > looked_for ? depth : 0.0;
}

// Walks from the lowest vertex of a triangle down along a facet's normal, within the other solid; how deep it ends, 0
// where a contact moves the end out. No vertex is passed twice.
double SurfaceOverlap::below(const Mesh& mesh, bool of_a, const SurfaceTriangle& from, const SurfaceTriangle& facet) {
    const Vec3 n = of_a ? rel_.local_direction(facet.normal) : facet.normal;
    const double level = dot(n, of_a ? rel_.local_point(facet.p[0]) : facet.p[0]);
    const auto height = [&](int v) { return dot(n, mesh.vertices[v]) - level; };
    const std::size_t first = of_a ? 0 : a_.vertices.size();
    int v = from.vertex[0];
    for (int k = 1; k < 3; ++k)
        if (height(from.vertex[k]) < height(v)) v = from.vertex[k];
    if (!is_inside(mesh.vertices[v], of_a)) return 0.0;
    while (out_.marks[first + v] != out_.search) {
        out_.marks[first + v] = out_.search;
        int lowest = v;
        for (int k = mesh.first_spoke[v]; k < mesh.first_spoke[v + 1]; ++k)
            if (height(mesh.spoke_ends[k]) < height(lowest) - slack_) lowest = mesh.spoke_ends[k];
        if (lowest != v && is_inside(mesh.vertices[lowest], of_a)) {
            v = lowest;
            continue;
        }
        return moves_out(of_a ? rel_.point(mesh.vertices[v]) : mesh.vertices[v], of_a) ? 0.0 : -height(v);
    }
    return 0.0;
}

// Whether a vertex of a surface, in its own axes, is in the other solid.
bool SurfaceOverlap::is_inside(const Vec3& vertex, bool of_a) const {
    return of_a ? static_cast<const Mesh&>(b_).tree.inside(rel_.point(vertex))
                : a_.tree.inside(rel_.local_point(vertex));
}

// Whether some contact takes a point of a surface out of the other solid, as far as it is flat there.
bool SurfaceOverlap::moves_out(const Vec3& p, bool of_a) const {
    for (const SurfacePoint& by : out_.candidates) {
        const double height = dot(by.normal, p - (of_a ? by.on_b() : by.on_a)), most = -by.gap * (1.0 + 1e-6) + slack_;
        if (by.gap < 0.0 && (of_a ? height >= -most : height <= most)) return true;
    }
    return false;
}

namespace {

constexpr double kOnSide = 1e-10;   // of the size of the smaller surface: what is on a side
constexpr double kGrowth = 4.0;     // of the depth that is looked for, where more is found
constexpr double kFarthest = 1e30;  // for an infinite reach: no bounds are wider [m]
constexpr double kNear = 1e-3;      // of the size, how deep features are looked for at first
constexpr int kMostPasses = 24;

// Finds the triangles of a mesh and of another surface whose bounds are near each other.
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
