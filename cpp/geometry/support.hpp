// The farthest points of convex cores, and the parts of their surfaces that support a direction.
#pragma once

#include <cmath>

#include "geometry/hull.hpp"
#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

// Faces are paired with a direction up to this cosine (5.7°).
inline constexpr double kAligned = 0.995;

// A vertex of a box: bit i of the number is set where coordinate i is positive.
inline Vec3 box_vertex(const Vec3& half, int i) {
    return {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
}

// The edge between two vertices of a box: 4 axis + the signs of the two other coordinates.
constexpr Feature box_edge(int from, int to) {
    const int changed = from ^ to, axis = changed == 1 ? 0 : changed == 2 ? 1 : 2;
    const int first = (from >> ((axis + 1) % 3)) & 1, second = (from >> ((axis + 2) % 3)) & 1;
    return edge_feature(4 * axis + first + 2 * second);
}

// The point of a cylinder's or cone's rim farthest along d; along x where all are.
inline Vec3 rim_direction(const Vec3& d) {
    const double across = std::sqrt(d.x * d.x + d.y * d.y);
    return across > 1e-9 * std::abs(d.z) && across > 0.0 ? Vec3{d.x / across, d.y / across, 0.0} : Vec3{1.0, 0.0, 0.0};
}

// The point of the core farthest along d, which need not be a unit vector.
inline Vec3 support(const Shape& shape, const Vec3& d) {
    const Vec3& h = shape.half;
    switch (shape.kind) {
        case ShapeKind::capsule:
            return {0.0, 0.0, std::copysign(h.z, d.z)};
        case ShapeKind::box:
            return {std::copysign(h.x, d.x), std::copysign(h.y, d.y), std::copysign(h.z, d.z)};
        case ShapeKind::cylinder: {
            const double across = std::sqrt(d.x * d.x + d.y * d.y), scale = across > 0.0 ? h.x / across : 0.0;
            return {scale * d.x, scale * d.y, std::copysign(h.z, d.z)};
        }
        case ShapeKind::cone: {
            const double across = std::sqrt(d.x * d.x + d.y * d.y), scale = across > 0.0 ? h.x / across : 0.0;
            if (2.0 * h.z * d.z >= h.x * across) return {0.0, 0.0, h.z};
            return {scale * d.x, scale * d.y, -h.z};
        }
        case ShapeKind::ellipsoid: {
            const Vec3 s{h.x * d.x, h.y * d.y, h.z * d.z};
            const double length = norm(s), scale = length > 0.0 ? 1.0 / length : 0.0;
            return {scale * h.x * s.x, scale * h.y * s.y, scale * h.z * s.z};
        }
        case ShapeKind::hull: {
            const auto& hull = static_cast<const Hull&>(shape);
            return hull.vertices[hull.farthest(d)];
        }
        case ShapeKind::mesh: {
            const Vec3* p = static_cast<const TriangleCore&>(shape).triangle->p;
            const double a = dot(d, p[0]), b = dot(d, p[1]), c = dot(d, p[2]);
            return a >= b && a >= c ? p[0] : b >= c ? p[1] : p[2];
        }
        default:
            return {0.0, 0.0, 0.0};
    }
}

// The part that supports the unit vector d. Discs and segments of round shapes are those within kAligned; polytopes
// return the face most aligned with d whatever its angle.
void support_part(const Shape& shape, const Vec3& d, SupportPart& part);

// Calls emit(point of the core, vertex feature) for all points that may touch a plane whose outward normal is −d:
// vertices, four points of each rim, one of an ellipsoid. Vertices of hulls are limited to d · p > level.
template <class Emit>
void points_towards(const Shape& shape, const Vec3& d, double level, ContactManifold& manifold, Emit&& emit);

// Vertices of a hull with d · p > level: those form one connected part of its edges.
const std::vector<int>& hull_vertices_beyond(const Hull& hull, const Vec3& d, double level, ContactManifold& manifold);

template <class Emit>
void emit_rim(double radius, double z, const Vec3& along, std::uint32_t first, Emit&& emit) {
    emit(Vec3{radius * along.x, radius * along.y, z}, vertex_feature(first));
    emit(Vec3{-radius * along.y, radius * along.x, z}, vertex_feature(first + 1));
    emit(Vec3{-radius * along.x, -radius * along.y, z}, vertex_feature(first + 2));
    emit(Vec3{radius * along.y, -radius * along.x, z}, vertex_feature(first + 3));
}

template <class Emit>
void points_towards(const Shape& shape, const Vec3& d, double level, ContactManifold& manifold, Emit&& emit) {
    const Vec3& h = shape.half;
    switch (shape.kind) {
        case ShapeKind::sphere:
            return emit(Vec3{0.0, 0.0, 0.0}, vertex_feature(0));
        case ShapeKind::capsule:
            emit(Vec3{0.0, 0.0, -h.z}, vertex_feature(0));
            return emit(Vec3{0.0, 0.0, h.z}, vertex_feature(1));
        case ShapeKind::cylinder:
            emit_rim(h.x, -h.z, rim_direction(d), 0, emit);
            return emit_rim(h.x, h.z, rim_direction(d), 4, emit);
        case ShapeKind::cone:
            emit_rim(h.x, -h.z, rim_direction(d), 0, emit);
            return emit(Vec3{0.0, 0.0, h.z}, vertex_feature(4));
        case ShapeKind::ellipsoid:
            return emit(support(shape, d), vertex_feature(0));
        case ShapeKind::box:
            for (int i = 0; i < 8; ++i) emit(box_vertex(h, i), vertex_feature(i));
            return;
        case ShapeKind::hull: {
            const auto& hull = static_cast<const Hull&>(shape);
            for (int v : hull_vertices_beyond(hull, d, level, manifold)) emit(hull.vertices[v], vertex_feature(v));
            return;
        }
        default:
            return;
    }
}

}  // namespace bellcrank
