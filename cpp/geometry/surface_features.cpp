#include "geometry/surface_features.hpp"

#include <cmath>

#include "geometry/support.hpp"

namespace bellcrank {

namespace {

constexpr double kInCone = 1e-7;         // sine up to which a direction is within a cone of normals
constexpr double kNearCone = 0.0998749;  // and where faces are aligned: that of kAligned
constexpr double kParallel = 1e-9;       // sine of the angle of edges without a common perpendicular

}  // namespace

SurfaceFeatures::SurfaceFeatures(const Surface& a, const Surface& b, const Pose& rel, double reach, double groove,
                                 double slack, ContactManifold& out)
    : a_{a, {}}, b_{b, {}}, rel_(rel), reach_(reach), groove_(groove), slack_(slack), out_(out) {}

void SurfaceFeatures::load(Side& side, int number) {
    Placed& placed = side.placed;
    side.surface.triangle(number, placed.t);
    placed.number = number;
    if (&side == &a_) {
        placed.t.normal = rel_.direction(placed.t.normal);
        for (int k = 0; k < 3; ++k) placed.t.p[k] = rel_.point(placed.t.p[k]);
        for (Vec3& n : placed.t.beyond) n = rel_.direction(n);
    }
    for (int e = 0; e < 3; ++e) placed.edges[e].known = false;
}

void SurfaceFeatures::begin(int of_a) {
    load(a_, of_a);
    for (int e = 0; e < 3; ++e) a_.placed.outwards[e] = a_.placed.t.outwards(e);
}

// The ridges of triangles that are farther in front of the other's plane than the reach have nothing in common with it.
// A corner may be deep below a facet that is in front of all triangles at the corner.
void SurfaceFeatures::visit(int number) {
    load(b_, number);
    const SurfaceTriangle &ta = a_.placed.t, &tb = b_.placed.t;
    double of_a[3], of_b_[3];  // heights
    for (int k = 0; k < 3; ++k) {
        of_a[k] = dot(tb.normal, ta.p[k] - tb.p[0]);
        of_b_[k] = dot(ta.normal, tb.p[k] - ta.p[0]);
    }
    const auto [low_a, high_a] = std::minmax({of_a[0], of_a[1], of_a[2]});
    const auto [low_b, high_b] = std::minmax({of_b_[0], of_b_[1], of_b_[2]});
    if (std::max(low_a, low_b) < -slack_ && std::min(high_a, high_b) > slack_)
        out_.crossings.push_back({a_.placed.number, number});
    for (int e = 0; e < 3; ++e) b_.placed.outwards[e] = tb.outwards(e);
    for (int k = 0; k < 3; ++k) {
        if (ta.corner[k]) corner_on_facet(a_, k, b_.placed, of_a[k]);
        if (tb.corner[k]) corner_on_facet(b_, k, a_.placed, of_b_[k]);
    }
    if (std::max(low_a, low_b) >= reach_) return;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            if (is_ridge(ta.kind[i]) && is_ridge(tb.kind[j])) ridges(i, j);
            if (ta.corner[i] && is_ridge(tb.kind[j]) && std::abs(of_a[i]) < reach_) corner_at_edge(a_, i, b_, j);
            if (tb.corner[j] && is_ridge(ta.kind[i]) && std::abs(of_b_[j]) < reach_) corner_at_edge(b_, j, a_, i);
            if (ta.corner[i] && tb.corner[j] && std::abs(of_a[i]) < reach_) corner_at_corner(i, j);
        }
}

const SurfaceFeatures::Edge& SurfaceFeatures::edge(Side& side, int e) {
    Edge& edge = side.placed.edges[e];
    if (edge.known) return edge;
    const bool moved = &side == &a_;
    const SurfaceTriangle& t = side.placed.t;
    const Ridge ridge = side.surface.ridge(side.placed.number, e);
    edge.known = true;
    edge.feature = ridge.feature;
    edge.from = moved ? rel_.point(ridge.from) : ridge.from;
    edge.to = moved ? rel_.point(ridge.to) : ridge.to;
    for (int k = 0; k < 2; ++k) edge.into[k] = moved ? rel_.direction(ridge.into[k]) : ridge.into[k];
    edge.length = norm(edge.to - edge.from);
    edge.along = (1.0 / edge.length) * (edge.to - edge.from);
    edge.sides = t.kind[e] == EdgeKind::open ? 1 : 2;
    edge.normals[0] = t.normal, edge.normals[1] = t.beyond[e];
    edge.outwards[0] = side.placed.outwards[e], edge.outwards[1] = t.outwards_beyond(e);
    return edge;
}

void SurfaceFeatures::add(const SurfacePoint& point, std::vector<SurfacePoint>& to) {
    if (!(point.gap < reach_)) return;
    for (SurfacePoint& known : to)
        if (known.feature == point.feature) {
            if (point.doubtful == known.doubtful ? point.gap > known.gap : known.doubtful) known = point;
            return;
        }
    to.push_back(point);
}

// Whether a surface around a vertex lies along `away` from it, but for a sine.
bool SurfaceFeatures::faces(const Side& side, int vertex, const Vec3& away, double sine) {
    const Vec3 n = &side == &a_ ? rel_.local_direction(away) : away;
    side.surface.spokes(vertex, out_.spokes);
    for (const Vec3& spoke : out_.spokes) {
        const double along = dot(n, spoke);
        if (along < 0.0 && along * along > sine * sine * dot(spoke, spoke)) return false;
    }
    return true;
}

// Within the triangle seen along its normal; in grooves also beyond the edge, behind the other side, whose foot
// is beyond the edge as well: no farther away than the point is deep.
bool SurfaceFeatures::over(const Placed& on, const Vec3& p, double height, SurfacePoint& point) const {
    double beyond[3], farthest = 0.0;
    int groove = -1;
    for (int e = 0; e < 3; ++e) {
        beyond[e] = dot(on.outwards[e], p - on.t.p[e]);
        if (!(beyond[e] > slack_) || on.t.kind[e] != EdgeKind::concave) continue;
        const Vec3 off = p - on.t.p[e];
        if (dot(on.t.beyond[e], off) >= 0.0 || dot(on.t.outwards_beyond(e), off) < -slack_) return false;
        if (beyond[e] > std::max(groove_, -height)) return false;
        if (beyond[e] > farthest) farthest = beyond[e], groove = e;
        beyond[e] = 0.0;
    }
    // Sides within a facet are those of a triangle, not of the groove.
    for (int e = 0; e < 3; ++e)
        if (beyond[e] > (on.t.kind[e] == EdgeKind::flat ? slack_ + 2.0 * farthest : slack_)) return false;
    if (groove < 0) return true;
    const Vec3 from = on.t.p[groove], along = on.t.p[groove == 2 ? 0 : groove + 1] - from;
    point.groove = &on == &a_.placed ? SurfacePoint::Groove::of_a : SurfacePoint::Groove::of_b;
    point.to_groove = from + std::clamp(dot(p - from, along) / dot(along, along), 0.0, 1.0) * along - p;
    return true;
}

void SurfaceFeatures::corner_on_facet(Side& side, int k, const Placed& on, double height) {
    if (!(height < reach_)) return;
    SurfacePoint point;
    const SurfaceTriangle &t = side.placed.t, &facet = on.t;
    const Vec3 p = t.p[k], n = facet.normal, foot = p - height * n;
    if (!over(on, p, height, point)) return;
    const bool facing = faces(side, t.vertex[k], n, kNearCone);
    if (!facing && point.groove != SurfacePoint::Groove::none) return;
    const bool of_a = &side == &a_;
    Feature below = face_feature(facet.facet);
    for (int i = 0; i < 3; ++i)
        if (facet.corner[i] && norm(foot - facet.p[i]) < 2.0 * slack_) below = vertex_feature(facet.vertex[i]);
    const Feature own = vertex_feature(t.vertex[k]);
    point.kind = of_a ? SurfacePoint::Kind::corner_of_a : SurfacePoint::Kind::corner_of_b;
    point.corner = t.vertex[k];
    point.facet = facet.facet;
    point.on_a = of_a ? p : foot;
    point.normal = of_a ? n : -n;
    point.gap = height;
    point.feature = of_a ? feature_pair(own, below) : feature_pair(below, own);
    add(point, facing ? out_.candidates : out_.companions);
}

// Open pairs whose nearest points are a corner and a point within an edge, either in the other's cone of normals.
void SurfaceFeatures::corner_at_edge(Side& side, int k, Side& other, int e) {
    const SurfaceTriangle& t = side.placed.t;
    const Vec3 p = t.p[k];
    const Edge& at = edge(other, e);
    const double along = dot(p - at.from, at.along);
    if (!(along > 0.0 && along < at.length)) return;
    const Vec3 foot = at.from + along * at.along, d = p - foot;
    const double gap = norm(d);
    if (!(gap < reach_ && gap > slack_)) return;
    const Vec3 away = (1.0 / gap) * d;
    for (int s = 0; s < at.sides; ++s)
        if (dot(away, at.outwards[s]) < -kInCone) return;
    if (!faces(side, t.vertex[k], away, kInCone)) return;
    const bool of_a = &side == &a_;
    const Feature own = vertex_feature(t.vertex[k]);
    SurfacePoint point;
    point.on_a = of_a ? p : foot;
    point.normal = of_a ? away : -away;
    point.gap = gap;
    point.feature = of_a ? feature_pair(own, at.feature) : feature_pair(at.feature, own);
    add(point, out_.candidates);
}

void SurfaceFeatures::corner_at_corner(int of_a, int of_b) {
    const SurfaceTriangle &ta = a_.placed.t, &tb = b_.placed.t;
    const Vec3 d = ta.p[of_a] - tb.p[of_b], n = unit(d, {0.0, 0.0, 1.0});
    const double gap = norm(d);
    if (!(gap < reach_ && gap > slack_)) return;
    if (!faces(a_, ta.vertex[of_a], n, kInCone) || !faces(b_, tb.vertex[of_b], -n, kInCone)) return;
    SurfacePoint point;
    point.on_a = ta.p[of_a];
    point.normal = n;
    point.gap = gap;
    point.feature = feature_pair(vertex_feature(ta.vertex[of_a]), vertex_feature(tb.vertex[of_b]));
    add(point, out_.candidates);
}

// Ridges that cross seen along their common perpendicular, if that is a normal of both (a face of the difference of the
// solids). Otherwise, where facets of either face each other nearly, seen along the mean of their normals, and where a
// ridge lies nearly along a facet, seen along its normal: corners of the patch that both have in common.
void SurfaceFeatures::ridges(int of_a, int of_b) {
    const Edge &a = edge(a_, of_a), &b = edge(b_, of_b);
    SurfacePoint point;
    point.kind = SurfacePoint::Kind::ridges;
    point.feature = feature_pair(a.feature, b.feature);
    const Vec3 c = cross(a.along, b.along);
    const double sine = norm(c);
    for (double sign : {1.0, -1.0}) {
        if (!(sine > kParallel)) break;
        const Vec3 n = (sign / sine) * c;
        bool normal = true;
        for (int s = 0; s < 2; ++s) {
            normal = normal && (s >= b.sides || dot(n, b.outwards[s]) >= -kInCone);
            normal = normal && (s >= a.sides || dot(n, a.outwards[s]) <= kInCone);
        }
        if (normal && crossing(a, b, n, point)) return add(point, out_.candidates);
    }
    SurfacePoint best = point;
    bool any = false;
    const auto along = [&](const Vec3& n) {
        if (!crossing(a, b, n, point)) return;
        if (!any || (point.doubtful == best.doubtful ? point.gap > best.gap : best.doubtful)) best = point;
        any = true;
    };
    for (int i = 0; i < a.sides; ++i)
        for (int j = 0; j < b.sides; ++j)
            if (-dot(a.normals[i], b.normals[j]) > kAligned) along(unit(b.normals[j] - a.normals[i], b.normals[j]));
    const bool facing = any;
    for (int j = 0; j < b.sides && !facing; ++j)
        if (lies(a, -b.normals[j])) along(b.normals[j]);
    for (int i = 0; i < a.sides && !facing; ++i)
        if (lies(b, -a.normals[i])) along(-a.normals[i]);
    if (any) add(best, out_.candidates);
}

// Whether an edge touches a plane with this normal of its own solid, as nearly as facets are aligned.
bool SurfaceFeatures::lies(const Edge& edge, const Vec3& n) {
    if (std::abs(dot(n, edge.along)) > kNearCone) return false;
    for (int s = 0; s < edge.sides; ++s)
        if (dot(n, edge.outwards[s]) < -kNearCone) return false;
    return true;
}

// The ends of an edge lie on either side of a line, at distances of opposite signs; or the line passes beyond an end
// where the solid goes on, and p on the other edge is in there.
bool SurfaceFeatures::within(const Edge& edge, double first, double last, const Vec3& p, SurfacePoint& point) const {
    const double s = first / (first - last) * edge.length;
    for (int end = 0; end < 2; ++end) {
        const double inside = end == 0 ? s : edge.length - s, off = end == 0 ? first : last;
        if (inside > 0.0 && std::abs(off) > slack_) continue;
        const Vec3 &into = edge.into[end], corner = end == 0 ? edge.from : edge.to;
        if (!(dot(into, into) > 0.0) || -inside > groove_) return false;
        if (inside < 0.0 && dot(into, p - corner) > slack_) return false;
        if (point.groove != SurfacePoint::Groove::none) return false;
        point.groove = &edge - a_.placed.edges < 3 && &edge >= a_.placed.edges ? SurfacePoint::Groove::of_a
                                                                               : SurfacePoint::Groove::of_b;
        point.to_groove = corner - p;
    }
    return true;
}

// The part of a ridge within the wedge of another ridge with the contact `tip`, behind both its sides, no farther from
// `at` than that is from the contact if it begins there. The ridge need not be in there at the contact itself, if the
// wedge is sharp or a side lies along the normal.
bool SurfaceFeatures::in_wedge(const Edge& edge, const Vec3& at, const Edge& wedge, const Vec3& tip, Vec3 inside[2]) {
    const double start = dot(at - edge.from, edge.along), far = norm(at - tip);
    double first = std::min(0.0, -start), last = std::max(0.0, edge.length - start);
    for (int s = 0; s < 2; ++s) {
        const Vec3& n = s < wedge.sides ? wedge.normals[s] : wedge.outwards[0];
        const double height = dot(n, at - tip), slope = dot(n, edge.along);
        if (std::abs(slope) < kParallel) {
            if (height > 0.0 && s > 0) return false;
            continue;
        }
        (slope > 0.0 ? last : first) = slope > 0.0 ? std::min(last, -height / slope) : std::max(first, -height / slope);
    }
    if (!(first < last)) return false;
    const double near = std::clamp(0.0, first, last);
    inside[0] = at + std::max(first, near - far) * edge.along;
    inside[1] = at + std::min(last, near + far) * edge.along;
    return true;
}

bool SurfaceFeatures::crossing(const Edge& a, const Edge& b, const Vec3& n, SurfacePoint& point) const {
    const Vec3 across_a = unit(cross(a.along, n), {0.0, 0.0, 0.0}), across_b = unit(cross(b.along, n), {0.0, 0.0, 0.0});
    const double a0 = dot(a.from - b.from, across_b), a1 = dot(a.to - b.from, across_b);
    const double b0 = dot(b.from - a.from, across_a), b1 = dot(b.to - a.from, across_a);
    if (!(std::abs(a0 - a1) > slack_ && std::abs(b0 - b1) > slack_)) return false;
    const Vec3 on_a = a.from + (a0 / (a0 - a1)) * (a.to - a.from), on_b = b.from + (b0 / (b0 - b1)) * (b.to - b.from);
    const double gap = dot(n, on_a - on_b);
    if (!(gap < reach_)) return false;
    point.groove = SurfacePoint::Groove::none;
    if (!within(a, a0, a1, on_b, point) || !within(b, b0, b1, on_a, point)) return false;
    // Nothing is behind the rim of an open surface.
    if (gap < 0.0 &&
        ((a.sides == 1 && dot(n, a.normals[0]) > kInCone) || (b.sides == 1 && dot(n, b.normals[0]) < -kInCone)))
        return false;
    point.doubtful = gap < 0.0 && !(in_wedge(a, on_a, b, on_b, point.in_b) && in_wedge(b, on_b, a, on_a, point.in_a));
    point.on_a = on_a;
    point.normal = n;
    point.gap = gap;
    return true;
}

}  // namespace bellcrank
