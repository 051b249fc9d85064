// Which of the features of two surfaces that are near each other are contacts.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/mesh.hpp"

namespace bellcrank {

// Works on the candidates of a manifold, in the axes of b. What is within `slack` of a surface is on it.
class SurfaceOverlap {
  public:
    SurfaceOverlap(const Mesh& a, const Surface& b, const Pose& rel, double slack, ContactManifold& out)
        : a_(a), b_(b), rel_(rel), slack_(slack), out_(out) {}

    // Leaves of the candidates those that are contacts; returns the largest depth.
    double select();
    // The depth of the vertices that lie below where the surfaces cross, if these are deeper than `looked_for` and no
    // contact moves them out; otherwise 0.
    double unexplained(double looked_for);
    // Where the surfaces cross, or a mesh is below a height field, but no candidate is beyond doubt, the shallowest one
    // around there is the contact: solids that have come into each other by more than the width of their sharp parts
    // are pushed apart all the same.
    void fall_back();

  private:
    const Mesh& a_;
    const Surface& b_;
    const Pose& rel_;  // of a, seen from b
    const double slack_;
    ContactManifold& out_;

    void load(const std::array<int, 2>& pair, SurfaceTriangle& own, SurfaceTriangle& other) const;
    bool cross(Vec3& at) const;
    bool is_buried(const SurfacePoint& point) const;
    double below(const Mesh& mesh, bool of_a, const SurfaceTriangle& from, const SurfaceTriangle& facet);
    bool is_inside(const Vec3& vertex, bool of_a) const;
    bool moves_out(const Vec3& p, bool of_a) const;
    bool accompanies(const SurfacePoint& point, std::size_t count) const;
    bool resolved(const SurfacePoint& point, std::size_t count, bool far) const;
    bool resolved(const SurfacePoint& point, const SurfacePoint& by, bool far) const;
    bool connected(const Vec3& from, const Vec3& to) const;
    bool gets_out(SurfacePoint& point) const;
    bool free_way(const Surface& surface, Vec3 (&part)[2], const Vec3& to, bool moved) const;
    bool enters(const Surface& surface, const Vec3& from, const Vec3& way, bool moved) const;
};

}  // namespace bellcrank
