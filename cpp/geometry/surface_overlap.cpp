#include "geometry/surface_overlap.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/support.hpp"

namespace bellcrank {

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

// From some point of a part of a ridge to the contact; that point becomes the first end of the part.
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

}  // namespace bellcrank
