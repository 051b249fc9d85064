// All other pairs of convex shapes: distance or depth of the cores, then the parts that face each other.
#include <cmath>

#include "geometry/box_faces.hpp"
#include "geometry/collide.hpp"
#include "geometry/faces.hpp"
#include "geometry/pairs.hpp"

namespace bellcrank {

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
