// Convex polytopes: vertices, flat faces and edges with their neighbours.
#pragma once

#include <array>
#include <vector>

#include "geometry/shape.hpp"

namespace bellcrank {

struct Hull final : Shape {
    struct Face {
        int first, count;  // in `corners`, counterclockwise from outside
        Vec3 normal;
        double offset;  // normal · x of its points
    };
    std::vector<Vec3> vertices;
    std::vector<Face> faces;
    std::vector<int> corners;               // vertices of the faces
    std::vector<int> corner_edges;          // edge from corner i to the next one of its face
    std::vector<std::array<int, 4>> edges;  // two vertices, two faces
    std::vector<int> first_neighbour,
        neighbours;                             // of vertex v: neighbours[first_neighbour[v] … first_neighbour[v + 1])
    std::vector<int> first_face, vertex_faces;  // the faces around a vertex, likewise
    Vec3 inside{0.0, 0.0, 0.0};                 // the mean of the vertices

    Hull() : Shape(ShapeKind::hull) {}
    // The vertex farthest along d, by climbing from neighbour to neighbour.
    int farthest(const Vec3& d, int start = 0) const;
};

// A hull made of the triangles that a convex hull routine returns, in any winding; coplanar ones become one face.
// Vertices that no triangle uses are dropped. Refused: fewer than four vertices, numbers that do not exist, surfaces
// that are open or not convex.
SharedShape make_hull(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles);

}  // namespace bellcrank
