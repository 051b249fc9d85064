// Convex shapes on triangulated surfaces: triangle by triangle, but only features of the surface count. Contacts are
// vertices of the shape on facets, corners of the surface on faces of the shape, and where edges of both cross, so that
// the division of a facet into triangles is not seen. Normals of edges and corners are limited to their Voronoi
// regions.
#include <cmath>

#include "geometry/collide.hpp"
#include "geometry/faces.hpp"
#include "geometry/mesh.hpp"
#include "geometry/pairs.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

// Meshes on planes: corners of the mesh.

void plane_mesh(const Shape&, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                ContactManifold& out) {
    const auto& mesh = static_cast<const Mesh&>(b);
    const Vec3 up = pose_a.direction({0.0, 0.0, 1.0}), n = pose_b.local_direction(up);
    const double level = dot(up, pose_b.p - pose_a.p);  // of the mesh's origin
    const auto lowest = [&](const Bounds& box) {
        return level + n.x * (n.x > 0.0 ? box.lo.x : box.hi.x) + n.y * (n.y > 0.0 ? box.lo.y : box.hi.y) +
               n.z * (n.z > 0.0 ? box.lo.z : box.hi.z);
    };
    out.marks.resize(std::max(out.marks.size(), mesh.vertices.size()), 0);
    const unsigned now = ++out.search;
    mesh.tree.where([&](const Bounds& box) { return lowest(box) < reach; },
                    [&](int i) {
                        for (int v : mesh.triangles[i]) {
                            if (!mesh.corners[v] || out.marks[v] == now) continue;
                            out.marks[v] = now;
                            const Vec3 p = mesh.vertices[v];
                            const double gap = level + dot(n, p);
                            if (gap < reach)
                                out.add(pose_b, p - (0.5 * gap) * n, -n, gap, face_feature(0),
                                        vertex_feature(static_cast<Feature>(v)));
                        }
                    });
}

// Spheres on triangulated surfaces.

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

namespace {

constexpr double kTouching = 1e-9;  // of a shape's size, to which a point is in a solid or on it

class OnSurface {
  public:
    OnSurface(const Shape& shape, const Pose& rel, const Surface& surface, const Pose& frame, double reach,
              ContactManifold& out)
        : shape_(shape), rel_(rel), surface_(surface), frame_(frame), reach_(reach), out_(out) {}

    void visit(int i) {
        load(i);
        const double middle = dot(t_.normal, centre() - t_.p[0]);
        // A mesh has two sides, and the shape is on the outside of this one.
        if (middle < 0.0 && surface_.kind == ShapeKind::mesh) return;
        const double lowest =
            dot(t_.normal, rel_.point(support(shape_, rel_.local_direction(-t_.normal))) - t_.p[0]) - shape_.radius;
        if (!(lowest < reach_)) return;
        several_facets_ = several_facets_ || (facet_ >= 0 && t_.facet != facet_);
        facet_ = t_.facet;
        const std::size_t before = out_.points.size();
        if (!t_.has_ridge()) return on_facet();
        triangle_.triangle = &t_;
        const ConvexPair pair{{shape_, triangle_, seen_from(rel_, Pose{})}, frame_in_shape(), reach_, shape_.radius};
        Separation s;
        const Vec3 towards =
            rel_.local_direction(unit(centre() - (1.0 / 3.0) * (t_.p[0] + t_.p[1] + t_.p[2]), t_.normal));
        // Points below the facet are inside the solid, whether or not the shape touches this triangle.
        if (!separation(pair.cores, reach_ + shape_.radius, towards, s)) return on_facet();
        const Vec3 n = rel_.direction(s.normal);
        const bool facing = dot(n, t_.normal) > kAligned, allowed = in_region(n);
        if (facing || !allowed) on_facet();
        if (!allowed) return;
        double least = Bounds::kInfinity;
        for (std::size_t k = before; k < out_.points.size(); ++k) least = std::min(least, out_.points[k].gap);
        if (!facing)
            on_ridge(pair, s);
        else if (feature_ != face_feature(t_.facet) &&
                 s.gap - shape_.radius < std::min(least, known_) - 1e-10 * shape_.reach_out)
            add(rel_.point(s.a), n, s.gap - shape_.radius, 0, feature_, false);
    }

    // A point that is behind several facets belongs to the one it is nearest to, but in a groove to both sides.
    void drop_deeper() {
        if (!several_facets_) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < out_.points.size(); ++i) {
            const ContactPoint& p = out_.points[i];
            if (p.gap < 0.0 && !out_.in_groove[i] && is_face(p) && has_nearer_facet(p)) continue;
            out_.points[kept++] = p;
        }
        out_.points.resize(kept);
    }

  private:
    const Shape& shape_;
    const Pose& rel_;  // of the shape, seen from the surface
    const Surface& surface_;
    const Pose& frame_;  // of the surface
    double reach_;
    ContactManifold& out_;
    SurfaceTriangle t_, beyond_;
    int number_ = -1;  // of t_
    TriangleCore triangle_;
    Pose in_world_;
    int facet_ = -1;  // the last one
    bool several_facets_ = false;
    Feature feature_ = 0;  // of the triangle, that supports the last normal
    double known_ = 0.0;   // the least gap of points of this triangle that others had added before

    void load(int i) {
        number_ = i;
        surface_.triangle(i, t_);
    }

    bool has_nearer_facet(const ContactPoint& contact) {
        const Vec3 p = frame_.local_point(contact.position + (0.5 * contact.gap) * contact.normal);
        const auto facet = static_cast<int>(contact.feature & ~(3u << 30));
        double groove;
        for (int i : out_.triangles) {
            load(i);
            const double height = dot(t_.normal, p - t_.p[0]);
            if (height < 0.0 && height > contact.gap && t_.facet != facet && above(p, groove)) return true;
        }
        return false;
    }

    static bool is_face(const ContactPoint& p) { return (p.feature & 3u << 30) == kFaceFeature; }

    Vec3 centre() const {
        return rel_.point(shape_.kind == ShapeKind::hull ? static_cast<const Hull&>(shape_).inside
                                                         : Vec3{0.0, 0.0, 0.0});
    }
    const Pose& frame_in_shape() {
        in_world_ = {frame_.point(rel_.p), frame_.R * rel_.R};
        return in_world_;
    }

    // Whether the point of the shape below p, on the core, is behind the triangle of a mesh, and not on the far side of
    // a wall.
    bool is_behind(const Vec3& p, const Vec3& n) const {
        return surface_.kind != ShapeKind::mesh || static_cast<const Mesh&>(surface_).contains(p - shape_.radius * n);
    }

    // p on the core, in the surface's axes.
    void add(const Vec3& p, const Vec3& n, double gap, Feature of_shape, Feature of_surface, bool groove) {
        if (!(gap < reach_) || (gap < -kTouching * shape_.reach_out && !is_behind(p, n))) return;
        const std::uint64_t feature = feature_pair(of_shape, of_surface);
        for (const ContactPoint& known : out_.points)
            if (known.feature == feature) {
                known_ = std::min(known_, known.gap);
                return;
            }
        out_.add(frame_, p - (shape_.radius + 0.5 * gap) * n, n, gap, of_shape, of_surface);
        out_.in_groove.push_back(groove);
    }

    // Whether a direction lies in the Voronoi region of the vertex or edge of the triangle that supports it.
    bool in_region(const Vec3& n) {
        double height[3], top = -Bounds::kInfinity, size = 0.0;
        for (int k = 0; k < 3; ++k) {
            height[k] = dot(n, t_.p[k] - t_.p[0]);
            top = std::max(top, height[k]);
            size = std::max(size, norm(t_.p[k] - t_.p[0]));
        }
        const double slack = 1e-9;
        int highest[3], count = 0;
        for (int k = 0; k < 3; ++k)
            if (height[k] >= top - slack * size) highest[count++] = k;
        feature_ = face_feature(t_.facet);
        if (count == 3) return dot(n, t_.normal) > 0.0;
        if (count == 1) {
            const int k = highest[0];
            feature_ = vertex_feature(t_.vertex[k]);
            if (!t_.corner[k]) return false;
            surface_.spokes(t_.vertex[k], out_.spokes);
            for (const Vec3& spoke : out_.spokes)
                if (dot(n, spoke) > slack * norm(spoke)) return false;
            return true;
        }
        const int e = highest[1] - highest[0] == 1 ? highest[0] : 2;
        feature_ = edge_feature(t_.edge[e]);
        if (!is_ridge(t_.kind[e]) || dot(n, t_.outwards(e)) < -slack) return false;
        return t_.kind[e] == EdgeKind::open || dot(n, t_.outwards_beyond(e)) > -slack;
    }

    // Whether a point is seen on the facet beyond an edge, along its normal: farther away its plane means nothing.
    bool on_other_side(const Vec3& p, int e) {
        surface_.triangle(surface_.neighbour(number_, e), beyond_);
        for (int k = 0; k < 3; ++k)
            if (beyond_.edge[k] != t_.edge[e] && beyond_.kind[k] != EdgeKind::flat &&
                dot(beyond_.outwards(k), p - beyond_.p[k]) > 0.0)
                return false;
        return true;
    }

    // Within the triangle seen along its normal; in grooves also beyond the edge, behind the other side.
    bool above(const Vec3& p, double& groove) {
        groove = 0.0;
        for (int e = 0; e < 3; ++e) {
            const double beyond = dot(t_.outwards(e), p - t_.p[e]);
            const double size = norm(t_.p[e == 2 ? 0 : e + 1] - t_.p[e]);
            if (beyond <= (t_.kind[e] == EdgeKind::flat ? 1e-9 : 1e-12) * size) continue;
            if (t_.kind[e] != EdgeKind::concave || dot(t_.beyond[e], p - t_.p[e]) >= 0.0 || !on_other_side(p, e))
                return false;
            groove = 1.0;
        }
        return true;
    }

    void on_facet() {
        known_ = Bounds::kInfinity;
        const Vec3 down = rel_.local_direction(-t_.normal);
        const double level = dot(t_.normal, rel_.p - t_.p[0]) - shape_.radius;
        points_towards(shape_, down, level - reach_, out_, [&](const Vec3& local, Feature feature) {
            const Vec3 p = rel_.point(local);
            double groove;
            const double gap = dot(t_.normal, p - t_.p[0]) - shape_.radius;
            if (gap < reach_ && above(p, groove) && (groove == 0.0 || is_behind(p, t_.normal)))
                add(p, t_.normal, gap, feature, face_feature(t_.facet), groove > 0.0);
        });
        if (!t_.has_ridge()) return;
        SupportPart& part = out_.part_a;
        support_part(shape_, down, part);
        place(rel_, part);
        if (part.kind == SupportPart::Kind::point) return;
        if (part.kind == SupportPart::Kind::segment) return cross_segment(part);
        if (dot(part.normal, t_.normal) > -0.5) return;
        for (int e = 0; e < 3; ++e)
            if (is_ridge(t_.kind[e])) cross_face(part, e);
    }

    // Adds the contact of a point of the triangle with the plane of a face above it, along the triangle's normal.
    void add_above(const SupportPart& part, const Vec3& q, Feature of_shape, Feature of_surface) {
        const double gap = dot(part.vertices[0].p - q, part.normal) / dot(part.normal, t_.normal);
        add(q + gap * t_.normal, t_.normal, gap, of_shape, of_surface, false);
    }

    // The part of a ridge below a face: where it leaves the face, and its corners.
    void cross_face(const SupportPart& part, int e) {
        double t0, t1;
        const Vec3 from = t_.p[e], along = t_.p[e == 2 ? 0 : e + 1] - from;
        if (!clip_line(part, from, from + along, t0, t1)) return;
        const Feature ridge = edge_feature(t_.edge[e]);
        const int last = e == 2 ? 0 : e + 1;
        const bool forwards = t_.vertex[e] < t_.vertex[last];
        if (t0 > 1e-9)
            add_above(part, from + t0 * along, part.feature + (forwards ? kFirstEnd : kSecondEnd), ridge);
        else if (t_.corner[e])
            add_above(part, from, part.feature, vertex_feature(t_.vertex[e]));
        if (t1 < 1.0 - 1e-9)
            add_above(part, from + t1 * along, part.feature + (forwards ? kSecondEnd : kFirstEnd), ridge);
        else if (t_.corner[last])
            add_above(part, from + along, part.feature, vertex_feature(t_.vertex[last]));
    }

    // Where a segment passes above a ridge.
    void cross_segment(const SupportPart& part) {
        const Vec3 a = part.vertices[0].p, u = part.vertices[1].p - a;
        for (int e = 0; e < 3; ++e) {
            if (!is_ridge(t_.kind[e])) continue;
            const Vec3 out = t_.outwards(e), along = t_.p[e == 2 ? 0 : e + 1] - t_.p[e];
            const double speed = dot(out, u);
            if (std::abs(speed) < 1e-9 * norm(u)) continue;
            const double s = dot(out, t_.p[e] - a) / speed;
            if (!(s > 0.0 && s < 1.0)) continue;
            const Vec3 p = a + s * u;
            const double on = dot(p - t_.p[e], along);
            if (!(on > 0.0 && on < dot(along, along))) continue;
            add(p, t_.normal, dot(t_.normal, p - t_.p[e]) - shape_.radius, part.vertices[0].edge,
                edge_feature(t_.edge[e]), false);
        }
    }

    // The parts of the shape and the triangle that face each other along an allowed normal, less what belongs to no
    // feature of the surface.
    void on_ridge(const ConvexPair& pair, const Separation& s) {
        const std::size_t before = out_.points.size();
        const Feature supports = feature_;
        add_facing_parts(pair, s, out_);
        std::size_t kept = before;
        for (std::size_t i = before; i < out_.points.size(); ++i) {
            ContactPoint p = out_.points[i];
            auto of_surface = static_cast<Feature>(p.feature);
            if (of_surface == kWitness) of_surface = supports;
            p.feature = feature_pair(static_cast<Feature>(p.feature >> 32), of_surface);
            bool drop = false;
            for (int k = 0; k < 3; ++k) {
                drop = drop || (of_surface == vertex_feature(t_.vertex[k]) && !t_.corner[k]);
                drop = drop || (of_surface == edge_feature(t_.edge[k]) && !is_ridge(t_.kind[k]));
            }
            for (std::size_t k = 0; k < kept && !drop; ++k) drop = out_.points[k].feature == p.feature;
            if (drop) continue;
            out_.points[kept++] = p;
            out_.in_groove.push_back(false);
        }
        out_.points.resize(kept);
    }
};

}  // namespace

void convex_surface(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                    ContactManifold& out) {
    const auto& surface = static_cast<const Surface&>(b);
    const Pose rel = seen_from(pose_b, pose_a);
    const Bounds bounds = bounds_of(a, rel);
    double grown = reach;
    // Points deep inside may belong to triangles beside the bounds: those are looked for with a margin of the depth.
    for (int pass = 0; pass < 2; ++pass) {
        out.clear();
        out.in_groove.clear();
        surface.near(bounds.grown(grown), out, out.triangles);
        OnSurface on(a, rel, surface, pose_b, reach, out);
        for (int i : out.triangles) on.visit(i);
        on.drop_deeper();
        const double depth = -least_gap(out);
        if (!(depth > grown)) return;
        grown = depth;
    }
}

}  // namespace bellcrank
