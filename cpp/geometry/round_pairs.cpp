// Closed forms: spheres with all convex shapes but hulls, two capsules, planes with all convex shapes.
#include <cmath>

#include "geometry/collide.hpp"
#include "geometry/pairs.hpp"
#include "geometry/point_distance.hpp"
#include "geometry/support.hpp"

namespace bellcrank {

void sphere_sphere(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                   ContactManifold& out) {
    const Vec3 d = pose_a.p - pose_b.p;
    const double sum = a.radius + b.radius, square = dot(d, d), far = sum + reach;
    if (!(square < far * far) || far < 0.0) return;
    const double distance = std::sqrt(square);
    const Vec3 n = unit(d, {0.0, 0.0, 1.0});
    out.points.push_back({pose_b.p + (b.radius + 0.5 * (distance - sum)) * n, n, distance - sum, feature_pair(0, 0)});
}

void sphere_convex(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                   ContactManifold& out) {
    const Vec3 c = pose_b.local_point(pose_a.p);
    const PointDistance d = point_distance(b, c);
    const double gap = d.distance - a.radius;
    if (gap < reach) out.add(pose_b, c - (a.radius + 0.5 * gap) * d.normal, d.normal, gap, 0, d.feature);
}

// The distance of the axes where they pass each other, and that of each end from the other axis: all local minima, of
// which two capsules that lie side by side have two at the same distance.
void capsule_capsule(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                     ContactManifold& out) {
    const Pose rel = seen_from(pose_a, pose_b);
    const Vec3 u{0.0, 0.0, 1.0}, v = rel.direction(u), q = rel.p;
    const double ha = a.half.z, hb = b.half.z, sum = a.radius + b.radius;
    auto add = [&](double s, double t, Feature of_a, Feature of_b, const Vec3& otherwise) {
        const Vec3 pa = s * u, pb = q + t * v, d = pa - pb;
        const double gap = norm(d) - sum;
        if (!(gap < reach)) return;
        const Vec3 n = unit(d, otherwise);
        out.add(pose_a, 0.5 * (pa + pb) + (0.5 * (b.radius - a.radius)) * n, n, gap, of_a, of_b);
    };
    const double c = dot(u, v), sine2 = 1.0 - c * c, qu = dot(q, u), qv = dot(q, v);
    const Vec3 crossing = unit(cross(u, v), across(u));
    bool passes = false;
    if (sine2 > 1e-12) {
        const double s = (qu - c * qv) / sine2, t = (c * qu - qv) / sine2;
        passes = std::abs(s) < ha && std::abs(t) < hb;
        if (passes) add(s, t, edge_feature(0), edge_feature(0), crossing);
    }
    for (int end = 0; end < 2; ++end) {
        const double s = end ? ha : -ha, t = s * c - qv;
        if (std::abs(t) <= hb) add(s, t, vertex_feature(end), edge_feature(0), crossing);
    }
    for (int end = 0; end < 2; ++end) {
        const double t = end ? hb : -hb, s = qu + t * c;
        if (std::abs(s) < ha) add(s, t, edge_feature(0), vertex_feature(end), crossing);
    }
    if (passes) return;
    // End to end, where no end lies nearer beside the other axis.
    double least = Bounds::kInfinity, s = 0.0, t = 0.0;
    for (int i = 0; i < 4; ++i) {
        const double sa = i & 1 ? ha : -ha, tb = i & 2 ? hb : -hb;
        const Vec3 d = sa * u - q - tb * v;
        if (dot(d, d) < least) least = dot(d, d), s = sa, t = tb;
    }
    if (std::sqrt(least) - sum < least_gap(out)) add(s, t, vertex_feature(s > 0.0), vertex_feature(t > 0.0), crossing);
}

void convex_plane(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                  ContactManifold& out) {
    (void)b;
    const Vec3 n = pose_b.direction({0.0, 0.0, 1.0}), down = -pose_a.local_direction(n);
    const double height = dot(n, pose_a.p - pose_b.p) - a.radius;
    if (!(height - a.reach_out + a.radius < reach)) return;
    points_towards(a, down, height - reach, out, [&](const Vec3& p, Feature feature) {
        const double gap = height - dot(down, p);
        if (!(gap < reach)) return;
        out.points.push_back({pose_a.point(p) - (a.radius + 0.5 * gap) * n, n, gap, feature_pair(feature, 0)});
    });
}

}  // namespace bellcrank
