// All other pairs of convex shapes: distance or depth of the cores, then the parts that face each other.
#include <cmath>

#include "geometry/collide.hpp"
#include "geometry/faces.hpp"
#include "geometry/pairs.hpp"
#include "geometry/point_distance.hpp"
#include "geometry/support.hpp"

namespace bellcrank {

// Closed forms: spheres with all convex shapes but hulls, two capsules, planes with all convex shapes.

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

void convex_convex(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                   ContactManifold& out) {
    const Vec3 apart = pose_a.p - pose_b.p;
    const double far = a.reach_out + b.reach_out + reach;
    if (!(dot(apart, apart) < far * far)) return;
    const ConvexPair pair{{a, b, seen_from(pose_a, pose_b)}, pose_a, reach, a.radius + b.radius};
    Separation s;
    const Vec3 guess = unit(-pair.cores.pose.p, {0.0, 0.0, 1.0});
    if (separation(pair.cores, reach + pair.rounding, guess, s)) add_facing_parts(pair, s, out);
}

namespace {

struct Axis {
    double gap = -Bounds::kInfinity;
    Vec3 normal{0.0, 0.0, 0.0};  // from B to A
    int i = -1, j = -1;          // edge directions of A and B; of a face one of them
};

// The largest separation along face normals and along products of edges, in A's axes; false where it exceeds reach.
// S. Gottschalk, M. Lin, D. Manocha, OBBTree (1996).
bool separating_axes(const Vec3& half_a, const Vec3& half_b, const Pose& rel, double reach, Axis& face, Axis& edge) {
    const double ha[3] = {half_a.x, half_a.y, half_a.z}, hb[3] = {half_b.x, half_b.y, half_b.z};
    const double t[3] = {rel.p.x, rel.p.y, rel.p.z};
    const double* R = rel.R.m;
    double size[9];
    for (int i = 0; i < 9; ++i) size[i] = std::abs(R[i]);
    for (int i = 0; i < 3; ++i) {
        const double gap =
            std::abs(t[i]) - ha[i] - (size[3 * i] * hb[0] + size[3 * i + 1] * hb[1] + size[3 * i + 2] * hb[2]);
        if (!(gap < reach)) return false;
        if (gap <= face.gap) continue;
        face.gap = gap;
        face.normal = {0.0, 0.0, 0.0};
        component(face.normal, i) = t[i] > 0.0 ? -1.0 : 1.0;
        face.i = i;
    }
    for (int j = 0; j < 3; ++j) {
        const double along = t[0] * R[j] + t[1] * R[3 + j] + t[2] * R[6 + j];
        const double gap = std::abs(along) - hb[j] - (size[j] * ha[0] + size[3 + j] * ha[1] + size[6 + j] * ha[2]);
        if (!(gap < reach)) return false;
        if (gap <= face.gap) continue;
        face.gap = gap;
        const double sign = along > 0.0 ? -1.0 : 1.0;
        face.normal = {sign * R[j], sign * R[3 + j], sign * R[6 + j]};
        face.i = -1, face.j = j;
    }
    for (int i = 0; i < 3; ++i) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; ++j) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            const double c = R[3 * i + j], sine2 = 1.0 - c * c;
            if (sine2 < 1e-10) continue;
            const double along = t[i2] * R[3 * i1 + j] - t[i1] * R[3 * i2 + j];  // t · (Aᵢ × Bⱼ)
            const double across = ha[i1] * size[3 * i2 + j] + ha[i2] * size[3 * i1 + j] + hb[j1] * size[3 * i + j2] +
                                  hb[j2] * size[3 * i + j1];
            const double over = std::abs(along) - across;
            if (over > 0.0 ? over * over >= edge.gap * std::abs(edge.gap) * sine2
                           : over * over <= edge.gap * edge.gap * sine2) {
                const double length = std::sqrt(sine2), gap = over / length;
                if (!(gap < reach)) return false;
                if (gap <= edge.gap) continue;
                edge.gap = gap;
                const double sign = (along > 0.0 ? -1.0 : 1.0) / length;
                edge.normal = {0.0, 0.0, 0.0};
                component(edge.normal, i1) = -sign * R[3 * i2 + j];
                component(edge.normal, i2) = sign * R[3 * i1 + j];
                edge.i = i, edge.j = j;
            }
        }
    }
    return true;
}

// The nearest points of the edges that face each other along an axis.
void edge_points(const ConvexPair& pair, const Axis& axis, Separation& s) {
    const CorePair& cores = pair.cores;
    s.normal = axis.normal;
    s.gap = axis.gap;
    Vec3 a = support(cores.A, -axis.normal), b = support(cores.B, cores.pose.local_direction(axis.normal));
    component(a, axis.i) = 0.0;
    component(b, axis.j) = 0.0;
    Vec3 u{0.0, 0.0, 0.0}, v{0.0, 0.0, 0.0};
    component(u, axis.i) = 1.0;
    component(v, axis.j) = 1.0;
    v = cores.pose.direction(v);
    const Vec3 q = cores.pose.point(b) - a;
    const double c = dot(u, v), sine2 = 1.0 - c * c, qu = dot(q, u), qv = dot(q, v);
    s.a = a + ((qu - c * qv) / sine2) * u;
    s.b = cores.pose.point(b) + ((c * qu - qv) / sine2) * v;
}

}  // namespace

void box_box(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
             ContactManifold& out) {
    const ConvexPair pair{{a, b, seen_from(pose_a, pose_b)}, pose_a, reach, 0.0};
    Axis face, edge;
    if (!separating_axes(a.half, b.half, pair.cores.pose, reach, face, edge)) return;
    const double rounding = 1e-12 * (a.reach_out + b.reach_out);
    const bool crossing = edge.gap > face.gap + rounding;
    Separation s;
    if (!crossing) {
        if (face.i >= 0)
            box_faces({a, pose_a, b, pose_b, pair.cores.pose, false}, face.i, reach, out);
        else
            box_faces({b, pose_b, a, pose_a, seen_from(pose_b, pose_a), true}, face.j, reach, out);
        if (!out.points.empty() && (face.gap <= 0.0 || least_gap(out) <= face.gap + rounding)) return;
    } else if (edge.gap <= 0.0) {
        edge_points(pair, edge, s);
        return add_facing_parts(pair, s, out);
    }
    // Open boxes may be nearest at a corner, which no axis shows.
    out.clear();
    if (separation(pair.cores, reach, crossing ? edge.normal : face.normal, s)) add_facing_parts(pair, s, out);
}

}  // namespace bellcrank
