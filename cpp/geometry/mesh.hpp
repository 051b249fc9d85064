// Triangle meshes, with neighbours and a tree of bounds.
#pragma once

#include "geometry/bvh.hpp"
#include "geometry/rays.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

struct Mesh final : Surface {
    Mesh() : Surface(ShapeKind::mesh) {}

    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles, edges;  // vertices and edges of each triangle
    std::vector<std::array<int, 3>> across;            // triangles beyond its edges, −1 for none
    std::vector<std::array<EdgeKind, 3>> kinds;
    std::vector<int> facets;
    std::vector<Vec3> normals;  // of each triangle's facet
    std::vector<Vec3> vertex_normals;
    std::vector<char> corners, open;  // vertices; open: at an edge with one triangle
    bool closed = true;               // no vertex is open
    std::vector<int> first_spoke, spoke_ends;
    std::vector<Ridge> ridges;
    std::vector<int> ridge_of;    // by edge; −1 for edges that are flat or concave
    double mean_thickness = 0.0;  // of a plate: volume by half of the area; infinite where the surface is open
    Bvh tree;

    void triangle(int i, SurfaceTriangle& out) const override;
    void near(const Bounds& bounds, ContactManifold& scratch, std::vector<int>& found) const override;
    int neighbour(int i, int e) const override { return across[i][e]; }
    // Whether a point lies in the solid; one that is open holds every point.
    bool contains(const Vec3& point) const { return !closed || tree.inside(point); }
    void spokes(int vertex, std::vector<Vec3>& out) const override;
    Vec3 vertex_normal(int vertex) const override { return vertex_normals[vertex]; }
    Ridge ridge(int i, int e) const override { return ridges[ridge_of[edges[i][e]]]; }
    bool ray(const LocalRay& ray, RayHit& hit) const;
};

// Joins the pieces of convex and open edges, once kinds, normals and corners are known.
void find_ridges(Mesh& mesh);

// Equal vertices become one, triangles between fewer than three vertices are dropped. Refused: what surface_faults()
// finds; a mesh may be open unless it is to be `solid`.
SharedShape make_mesh(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                      bool solid = false);

}  // namespace bellcrank
