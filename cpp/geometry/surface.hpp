// Triangulated surfaces: what meshes and height fields have in common.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "geometry/bounds.hpp"
#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// How the triangles at an edge meet. Open edges have one triangle. Flat edges are no features: contact does not depend
// on how a plane is divided into triangles.
enum class EdgeKind : std::uint8_t { flat, convex, concave, open };
inline bool is_ridge(EdgeKind kind) { return kind == EdgeKind::convex || kind == EdgeKind::open; }

struct SurfaceTriangle {
    int facet;               // coplanar triangles with common edges have the same
    int vertex[3], edge[3];  // edge i goes from vertex i to vertex i + 1
    Vec3 p[3], normal;
    Vec3 beyond[3];  // normals of the triangles across the edges
    EdgeKind kind[3];
    bool corner[3];  // vertices that are neither within a facet nor on a straight edge

    // Within the plane, outwards across edge i: a unit vector.
    Vec3 outwards(int i) const { return unit(cross(p[i == 2 ? 0 : i + 1] - p[i], normal), {0.0, 0.0, 0.0}); }
    // The same for the triangle beyond.
    Vec3 outwards_beyond(int i) const { return unit(cross(p[i] - p[i == 2 ? 0 : i + 1], beyond[i]), {0.0, 0.0, 0.0}); }
    bool has_ridge() const { return is_ridge(kind[0]) || is_ridge(kind[1]) || is_ridge(kind[2]); }
};

// A convex or open edge from corner to corner, in the order of their numbers: all its pieces where a plane's straight
// rim is divided. The solid may go on beyond an end, behind the plane through the end whose normal is given here;
// elsewhere it is zero.
struct Ridge {
    Feature feature;
    Vec3 from, to, into[2];
};

// The boundary of a solid that lies behind its triangles; counterclockwise from outside.
struct Surface : Shape {
    using Shape::Shape;
    virtual void triangle(int i, SurfaceTriangle& out) const = 0;
    // Triangles that bounds in local axes may touch.
    virtual void near(const Bounds& bounds, ContactManifold& scratch, std::vector<int>& found) const = 0;
    // The triangle beyond edge e of triangle i, or −1.
    virtual int neighbour(int i, int e) const = 0;
    // The directions of all edges at a vertex, and a mean of the normals around it.
    virtual void spokes(int vertex, std::vector<Vec3>& out) const = 0;
    virtual Vec3 vertex_normal(int vertex) const = 0;
    // That edge e of triangle i, which is convex or open, belongs to.
    virtual Ridge ridge(int i, int e) const = 0;
};

// A triangle as a core; its kind is that of no convex shape.
struct TriangleCore final : Shape {
    const SurfaceTriangle* triangle = nullptr;
    TriangleCore() : Shape(ShapeKind::mesh) {}
};

// What is wrong with sizes, points and triangulated surfaces.

// Sizes beyond these, m, are mistakes: their squares and cubes lose digits or overflow.
inline constexpr double kLeastSize = 1e-12, kLargestSize = 1e9;

// Texts of faults, each ended by a semicolon; empty where there are none. Long lists are cut.
std::string point_faults(const std::vector<Vec3>& points);

// The same, triangles of vertices that do not exist or that are there twice, edges along which two triangles run in the
// same direction, and closed surfaces that face inwards. A solid must be closed as well, with two triangles at each
// edge, none of them without area, and enclose a volume. Vertices at the same place are one.
std::string surface_faults(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles,
                           bool solid);

// For each point the number of the first one, in their order by place, that is at the same place.
std::vector<int> joined_points(const std::vector<Vec3>& points, std::vector<Vec3>& distinct);

}  // namespace bellcrank
