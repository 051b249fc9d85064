// What two triangles of two surfaces may touch at: a corner and a facet, two ridges, nearest points of open pairs.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

// Adds to the candidates of a manifold, pair of triangles by pair, in the axes of b. Nothing depends on how facets and
// ridges are divided, and each pair of features is listed once.
class SurfaceFeatures {
  public:
    // Gaps less than `reach`. What is within `slack` of a side is on it; beyond concave edges contacts are looked for
    // as far as `groove`.
    SurfaceFeatures(const Surface& a, const Surface& b, const Pose& rel, double reach, double groove, double slack,
                    ContactManifold& out);
    void begin(int of_a);  // a triangle of a
    void visit(int of_b);  // and one of b

  private:
    struct Edge {
        Feature feature;
        Vec3 from, to, along, into[2];  // of the whole ridge
        double length;
        int sides;                     // one where it is open
        Vec3 normals[2], outwards[2];  // of its triangles; across the edge within their planes
        bool known = false;
    };
    struct Placed {
        SurfaceTriangle t;
        Vec3 outwards[3];
        Edge edges[3];
        int number;
    };
    struct Side {
        const Surface& surface;
        Placed placed;
    };
    Side a_, b_;
    const Pose& rel_;  // of a, seen from b
    const double reach_, groove_, slack_;
    ContactManifold& out_;

    void load(Side& side, int number);
    const Edge& edge(Side& side, int e);
    void corner_on_facet(Side& side, int k, const Placed& on, double height);
    bool over(const Placed& on, const Vec3& p, double height, SurfacePoint& point) const;
    bool faces(const Side& side, int vertex, const Vec3& away, double sine);
    void corner_at_edge(Side& side, int k, Side& other, int e);
    void corner_at_corner(int of_a, int of_b);
    void ridges(int of_a, int of_b);
    bool crossing(const Edge& a, const Edge& b, const Vec3& n, SurfacePoint& point) const;
    bool within(const Edge& edge, double first, double last, const Vec3& p, SurfacePoint& point) const;
    static bool in_wedge(const Edge& edge, const Vec3& at, const Edge& wedge, const Vec3& tip, Vec3 inside[2]);
    static bool lies(const Edge& edge, const Vec3& n);
    void add(const SurfacePoint& point, std::vector<SurfacePoint>& to);
};

}  // namespace bellcrank
