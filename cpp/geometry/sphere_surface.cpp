// Spheres on triangulated surfaces.
#include <cmath>

#include "geometry/pairs.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

namespace {

// The local minima of the distance of a point from a surface, each with the feature it belongs to. They are contacts of
// a sphere around the point: on a plane there is one, however it is divided, in a groove one for each side.
struct NearPoint {
    Vec3 normal;
    double distance;  // negative inside
    Feature feature;
};

class NearPoints {
  public:
    NearPoints(const Surface& surface, const Vec3& c, double limit, std::vector<NearPoint>& out)
        : surface_(surface), c_(c), limit_(limit), out_(out) {}

    void visit(const SurfaceTriangle& t) {
        const double height = dot(t.normal, c_ - t.p[0]);
        if (!(height < limit_)) return;
        double beyond[3], size[3];
        bool inside = true;
        for (int e = 0; e < 3; ++e) {
            const Vec3 along = t.p[e == 2 ? 0 : e + 1] - t.p[e];
            size[e] = norm(along);
            beyond[e] = dot(t.outwards(e), c_ - t.p[e]);
            // On a flat edge both triangles have the point.
            if (beyond[e] > (t.kind[e] == EdgeKind::flat ? 1e-9 * size[e] : 0.0)) inside = false;
        }
        if (inside) return take(t.normal, height, face_feature(t.facet));
        for (int e = 0; e < 3; ++e)
            if (t.kind[e] != EdgeKind::flat && beyond[e] >= 0.0) on_edge(t, e, size[e]);
        for (int k = 0; k < 3; ++k)
            if (t.kind[k] != EdgeKind::flat || t.kind[(k + 2) % 3] != EdgeKind::flat) on_vertex(t, k);
    }

  private:
    const Surface& surface_;
    const Vec3 c_;
    const double limit_;
    std::vector<NearPoint>& out_;
    std::vector<Vec3>& spokes_ = room();

    static std::vector<Vec3>& room() {
        thread_local std::vector<Vec3> spokes;
        return spokes;
    }

    void take(const Vec3& normal, double distance, Feature feature) {
        if (!(distance < limit_)) return;
        for (const NearPoint& known : out_) {
            if (known.feature == feature) return;
            const Vec3 off = known.normal - normal;
            if (dot(off, off) < 1e-18 && std::abs(known.distance - distance) <= 1e-12 * std::abs(limit_)) return;
        }
        out_.push_back({normal, distance, feature});
    }

    // Nearest to the inner part of an edge: beyond it for both triangles.
    void on_edge(const SurfaceTriangle& t, int e, double size) {
        const Vec3 from = t.p[e], u = (1.0 / size) * (t.p[e == 2 ? 0 : e + 1] - from);
        const double s = dot(u, c_ - from);
        if (s < -1e-12 * size || s > size * (1.0 + 1e-12)) return;
        const Vec3 d = c_ - (from + s * u);
        if (t.kind[e] != EdgeKind::open && dot(t.outwards_beyond(e), d) < 0.0) return;
        const double side = t.kind[e] == EdgeKind::concave ? -1.0 : 1.0;
        take(unit(side * d, t.normal), side * norm(d), edge_feature(t.edge[e]));
    }

    // Nearest to a vertex: behind it along all its edges.
    void on_vertex(const SurfaceTriangle& t, int k) {
        const Vec3 d = c_ - t.p[k];
        const double length = norm(d);
        if (!(length < std::abs(limit_) * 2.0 + 1e-300)) return;
        surface_.spokes(t.vertex[k], spokes_);
        for (const Vec3& spoke : spokes_)
            if (dot(spoke, d) > 1e-12 * norm(spoke) * length) return;
        const double side = dot(surface_.vertex_normal(t.vertex[k]), d) < 0.0 ? -1.0 : 1.0;
        take(unit(side * d, t.normal), side * length, vertex_feature(t.vertex[k]));
    }
};

}  // namespace

void sphere_surface(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                    ContactManifold& out) {
    thread_local std::vector<NearPoint> minima;
    const auto& surface = static_cast<const Surface&>(b);
    const Vec3 c = pose_b.local_point(pose_a.p);
    const double far = a.radius + reach;
    surface.near(Bounds{c, c}.grown(far), out, out.found);
    minima.clear();
    NearPoints points(surface, c, far, minima);
    for (int i : out.found) {
        SurfaceTriangle t;
        surface.triangle(i, t);
        points.visit(t);
    }
    // A centre that is inside leaves by the nearest way.
    double nearest = Bounds::kInfinity;
    for (const NearPoint& p : minima) nearest = std::min(nearest, std::abs(p.distance));
    for (const NearPoint& p : minima) {
        if (p.distance < 0.0 && -p.distance > nearest) continue;
        const double gap = p.distance - a.radius;
        out.add(pose_b, c - (a.radius + 0.5 * gap) * p.normal, p.normal, gap, 0, p.feature);
    }
}

}  // namespace bellcrank
