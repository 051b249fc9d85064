// Shapes: immutable, in axes of their own; poses are passed with each query.
#pragma once

#include <cstdint>
#include <memory>

#include "geometry/bounds.hpp"

namespace bellcrank {

// In the order in which pairs are computed: the first shape of a pair is of the lower kind.
enum class ShapeKind : std::uint8_t {
    sphere,
    capsule,
    cylinder,
    cone,
    ellipsoid,
    box,
    hull,
    plane,
    mesh,
    height_field,
    tyre,
};
inline constexpr int kShapeKinds = 11;
inline constexpr bool is_convex(ShapeKind kind) { return kind <= ShapeKind::hull; }
inline constexpr bool is_surface(ShapeKind kind) { return kind == ShapeKind::mesh || kind == ShapeKind::height_field; }
const char* name_of(ShapeKind kind);

// A convex shape is a core with a rounding radius: a sphere a point, a capsule the segment |z| ≤ half.z. Others have
// the radius 0: a cylinder about z (radius half.x = half.y, |z| ≤ half.z), a cone about z with the apex at +half.z and
// the base, of radius half.x, at −half.z, an ellipsoid and a box with half axes. A plane is the solid z ≤ 0.
struct Shape {
    ShapeKind kind;
    double radius = 0.0;
    Vec3 half{0.0, 0.0, 0.0};
    Bounds bounds;         // local axes
    double reach_out = 0;  // the farthest point from the origin; infinite for planes

    explicit Shape(ShapeKind k) : kind(k) {}
    virtual ~Shape() = default;
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape&) = delete;
};
using SharedShape = std::shared_ptr<const Shape>;

// What is not positive and finite, or beyond all measure (surface.hpp), is refused, all numbers in one message.
SharedShape make_sphere(double radius);
SharedShape make_capsule(double radius, double half_length);
SharedShape make_cylinder(double radius, double half_length);
SharedShape make_cone(double radius, double half_height);
SharedShape make_ellipsoid(const Vec3& half_axes);
SharedShape make_box(const Vec3& half_sizes);
SharedShape make_plane();

// The least way through a shape, by its bounds in local axes; infinite for planes, meshes and height fields, which have
// no other side to come out at.
double thickness(const Shape& shape);

// Bounds in world axes: tight for spheres, capsules, boxes, cylinders, cones, ellipsoids, hulls and tyres.
Bounds bounds_of(const Shape& shape, const Pose& pose);

}  // namespace bellcrank
