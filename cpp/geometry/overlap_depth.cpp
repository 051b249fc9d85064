// How far two surfaces that cross are in each other, beyond the features that were near.
#include <algorithm>

#include "geometry/height_field.hpp"
#include "geometry/surface_overlap.hpp"

namespace bellcrank {

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

}  // namespace bellcrank
