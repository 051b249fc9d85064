// Terrain: heights over a rectangular grid.
#pragma once

#include "geometry/rays.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

// The solid below z = heights[j * columns + i] at x = origin_x + i step_x, y = origin_y + j step_y, without a bottom.
// Each cell has two triangles, divided from its lower left to its upper right corner: numbers 2 cell and 2 cell + 1,
// cell = j (columns − 1) + i.
struct HeightField final : Surface {
    HeightField() : Surface(ShapeKind::height_field) {}

    int columns = 0, rows = 0;
    double x0 = 0.0, y0 = 0.0, dx = 1.0, dy = 1.0, per_x = 1.0, per_y = 1.0;
    std::vector<double> heights;
    std::vector<int> facets;
    std::vector<char> corners;

    Vec3 vertex(int v) const { return {x0 + dx * (v % columns), y0 + dy * (v / columns), heights[v]}; }
    // The vertices of a triangle, and the triangles beyond its edges or −1.
    void vertices_of(int triangle, int out[3]) const;
    int across(int triangle, int edge) const;
    Vec3 normal_of(int triangle) const;

    void triangle(int i, SurfaceTriangle& out) const override;
    // All columns that the bounds cover from above: what lies below the surface is inside.
    void near(const Bounds& bounds, ContactManifold& scratch, std::vector<int>& found) const override;
    int neighbour(int i, int e) const override { return across(i, e); }
    // Above a place in cell (i, j), or on the planes of its triangles beside it.
    double height_at(const Vec3& place, int i, int j) const;
    void spokes(int vertex, std::vector<Vec3>& out) const override;
    Vec3 vertex_normal(int vertex) const override;
    Ridge ridge(int i, int e) const override;
    bool ray(const LocalRay& ray, RayHit& hit) const;
    // No height within the bounds is above this one.
    double highest(const Bounds& bounds) const;
    // The normal of a plane that rises by these heights from column to column and from row to row.
    Vec3 slope_normal(double along_x, double along_y) const {
        return unit({-along_x * per_x, -along_y * per_y, 1.0}, {0.0, 0.0, 1.0});
    }
};

// `heights` row by row, of constant y. Refused: fewer than two rows or columns, steps that are not positive, heights
// that are not finite.
SharedShape make_height_field(int columns, int rows, double x0, double y0, double dx, double dy,
                              std::vector<double> heights);

}  // namespace bellcrank
