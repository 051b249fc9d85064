#include "geometry/support.hpp"

namespace bellcrank {

namespace {

// Faces of a box: 2 axis + (positive); vertices counterclockwise from outside.
void box_face(const Shape& box, const Vec3& d, SupportPart& part) {
    const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
    const int k = x >= y && x >= z ? 0 : y >= z ? 1 : 2, i = (k + 1) % 3, j = (k + 2) % 3;
    const bool up = component(d, k) > 0.0;
    const int side = up ? 1 << k : 0;
    int ring[4] = {side, side | 1 << i, side | 1 << i | 1 << j, side | 1 << j};
    if (!up) std::swap(ring[1], ring[3]);
    part.kind = SupportPart::Kind::face;
    part.normal = {0.0, 0.0, 0.0};
    component(part.normal, k) = up ? 1.0 : -1.0;
    part.feature = face_feature(2 * k + up);
    for (int c = 0; c < 4; ++c)
        part.vertices.push_back(
            {box_vertex(box.half, ring[c]), vertex_feature(ring[c]), box_edge(ring[c], ring[(c + 1) % 4])});
}

void hull_face(const Hull& hull, const Vec3& d, SupportPart& part) {
    const int top = hull.farthest(d);
    int best = -1;
    double cosine = -2.0;
    auto look_around = [&](int vertex) {
        for (int k = hull.first_face[vertex]; k < hull.first_face[vertex + 1]; ++k) {
            const double c = dot(hull.faces[hull.vertex_faces[k]].normal, d);
            if (c > cosine) cosine = c, best = hull.vertex_faces[k];
        }
    };
    look_around(top);
    // Across an edge both ends are farthest, to rounding; the faces must not depend on which is found.
    const double level = dot(d, hull.vertices[top]) - 1e-11 * hull.reach_out;
    for (int k = hull.first_neighbour[top]; k < hull.first_neighbour[top + 1]; ++k)
        if (dot(d, hull.vertices[hull.neighbours[k]]) > level) look_around(hull.neighbours[k]);
    const Hull::Face& face = hull.faces[best];
    part.kind = SupportPart::Kind::face;
    part.normal = face.normal;
    part.feature = face_feature(best);
    for (int c = face.first; c < face.first + face.count; ++c)
        part.vertices.push_back(
            {hull.vertices[hull.corners[c]], vertex_feature(hull.corners[c]), edge_feature(hull.corner_edges[c])});
}

void disc(const Shape& shape, double z, const Vec3& d, std::uint32_t first, SupportPart& part) {
    part.kind = SupportPart::Kind::disc;
    part.normal = {0.0, 0.0, z > 0.0 ? 1.0 : -1.0};
    part.centre = {0.0, 0.0, z};
    part.radius = shape.half.x;
    part.feature = face_feature(z > 0.0);
    emit_rim(shape.half.x, z, rim_direction(d), first,
             [&](const Vec3& p, Feature f) { part.vertices.push_back({p, f, edge_feature(z > 0.0)}); });
}

void segment(const PolygonVertex& from, const PolygonVertex& to, SupportPart& part) {
    part.kind = SupportPart::Kind::segment;
    part.vertices.push_back(from);
    part.vertices.push_back(to);
    part.feature = from.edge;
}

// The triangle, or where it is seen from aside its edge or vertex.
void triangle_part(const SurfaceTriangle& t, const Vec3& d, SupportPart& part) {
    double height[3], size = 0.0;
    for (int k = 0; k < 3; ++k) {
        height[k] = dot(d, t.p[k] - t.p[0]);
        size = std::max(size, norm(t.p[k] - t.p[0]));
    }
    const double level = std::max({height[0], height[1], height[2]}) - 1e-9 * size;
    const bool aside = dot(d, t.normal) < 0.1;
    for (int k = 0; k < 3; ++k)
        if (!aside || height[k] >= level)
            part.vertices.push_back({t.p[k], vertex_feature(t.vertex[k]), edge_feature(t.edge[k])});
    part.normal = t.normal;
    part.feature = face_feature(t.facet);
    if (part.vertices.size() == 3) {
        part.kind = SupportPart::Kind::face;
    } else if (part.vertices.size() == 2) {
        part.kind = SupportPart::Kind::segment;
        const int e = height[0] < level ? 1 : height[1] < level ? 2 : 0;
        // In an order that both triangles at the edge have.
        if (part.vertices[0].vertex > part.vertices[1].vertex) std::swap(part.vertices[0], part.vertices[1]);
        part.vertices[0].edge = part.vertices[1].edge = part.feature = edge_feature(t.edge[e]);
    } else {
        part.feature = part.vertices[0].vertex;
    }
}

}  // namespace

void support_part(const Shape& shape, const Vec3& d, SupportPart& part) {
    const Vec3& h = shape.half;
    part.vertices.clear();
    part.kind = SupportPart::Kind::point;
    part.feature = vertex_feature(0);
    const double sine = std::sqrt(1.0 - kAligned * kAligned);
    const Feature line = edge_feature(2);
    switch (shape.kind) {
        case ShapeKind::capsule:
            return segment({{0.0, 0.0, -h.z}, vertex_feature(0), line}, {{0.0, 0.0, h.z}, vertex_feature(1), line},
                           part);
        case ShapeKind::cylinder:
            if (std::abs(d.z) > kAligned) return disc(shape, std::copysign(h.z, d.z), d, d.z > 0.0 ? 4 : 0, part);
            if (std::abs(d.z) < sine) {
                const Vec3 a = h.x * rim_direction(d);
                return segment({{a.x, a.y, -h.z}, vertex_feature(0), line}, {{a.x, a.y, h.z}, vertex_feature(4), line},
                               part);
            }
            break;
        case ShapeKind::cone: {
            if (d.z < -kAligned) return disc(shape, -h.z, d, 0, part);
            // The sine of the angle between d and the side's line in the plane of d and the axis.
            const double slant = std::hypot(2.0 * h.z, h.x);
            if (std::abs((2.0 * h.z * d.z - h.x * std::hypot(d.x, d.y)) / slant) < sine) {
                const Vec3 a = h.x * rim_direction(d);
                return segment({{a.x, a.y, -h.z}, vertex_feature(0), line}, {{0.0, 0.0, h.z}, vertex_feature(4), line},
                               part);
            }
            break;
        }
        case ShapeKind::box:
            return box_face(shape, d, part);
        case ShapeKind::hull:
            return hull_face(static_cast<const Hull&>(shape), d, part);
        case ShapeKind::mesh:
            return triangle_part(*static_cast<const TriangleCore&>(shape).triangle, d, part);
        default:
            break;
    }
    part.vertices.push_back({support(shape, d), part.feature, part.feature});
}

const std::vector<int>& hull_vertices_beyond(const Hull& hull, const Vec3& d, double level, ContactManifold& manifold) {
    manifold.marks.resize(std::max(manifold.marks.size(), hull.vertices.size()), 0);
    const unsigned now = ++manifold.search;
    std::vector<int>& found = manifold.found;
    found.clear();
    const int top = hull.farthest(d);
    if (!(dot(d, hull.vertices[top]) > level)) return found;
    manifold.marks[top] = now;
    found.push_back(top);
    for (std::size_t i = 0; i < found.size(); ++i)
        for (int k = hull.first_neighbour[found[i]]; k < hull.first_neighbour[found[i] + 1]; ++k) {
            const int next = hull.neighbours[k];
            if (manifold.marks[next] == now || !(dot(d, hull.vertices[next]) > level)) continue;
            manifold.marks[next] = now;
            found.push_back(next);
        }
    return found;
}

}  // namespace bellcrank
