// How far a slice of a tyre is from a shape: a distance that is a continuous function of all poses.
#pragma once

#include <array>
#include <cmath>

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

struct HeightField;
struct Mesh;
struct SurfaceTriangle;

// The middle of a section, with unit vectors outwards from the axle, along the axle and around it.
struct SliceFrame {
    Vec3 middle, outwards, axle, around;
    double radius, section;  // of the middle from the axle; of the section

    SliceFrame local(const Pose& pose) const {
        return {pose.local_point(middle),
                pose.local_direction(outwards),
                pose.local_direction(axle),
                pose.local_direction(around),
                radius,
                section};
    }
    // Components outwards, along the axle and around, of a point as seen from the middle.
    Vec3 seen(const Vec3& p) const { return seen_direction(p - middle); }
    Vec3 seen_direction(const Vec3& v) const { return {dot(v, outwards), dot(v, axle), dot(v, around)}; }
    Vec3 direction(const Vec3& v) const { return v.x * outwards + v.y * axle + v.z * around; }
};

// The nearest point of a surface, from the middle, in the axes of the slice; and the gradient of the distance for a
// displacement of the middle.
struct SliceHit {
    double distance;  // negative where the middle is within the solid
    Vec3 point, gradient;
    bool lost = false;  // the middle is behind an open mesh, where it has no inside: no depth is right
};

// Distances are √(x² + y²) + κ |z|, with z around the wheel: a slice is not a disc but a double cone with a slope of κ,
// so that an edge or a spike gets into it and out again gradually. On ground whose slope around the wheel is less than
// κ the distance is that within the plane of the slice.
class SliceDistance {
  public:
    static constexpr double kSlope = 4.0;

    static double length(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y) + kSlope * std::abs(v.z); }

    // True, and the hit, where the distance is less than `limit`.
    bool find(const Shape& shape, const SliceFrame& frame, double limit, SliceHit& hit);

  private:
    void plane(const Vec3& normal, double offset);
    void solid(const Shape& shape, const SliceFrame& frame);
    void box(const Vec3& half, const SliceFrame& frame);
    void hull(const Shape& shape, const SliceFrame& frame);
    bool field(const HeightField& field, const SliceFrame& frame);
    void cells_around(const HeightField& field, const SliceFrame& frame, int i, int j, int ring);
    void cell(const HeightField& field, const SliceFrame& frame, int i, int j);
    void walls(const HeightField& field, const SliceFrame& frame, int i, int j);
    bool mesh(const Mesh& mesh, const SliceFrame& frame);
    bool is_behind(const Mesh& mesh, const SurfaceTriangle& t, const SliceFrame& frame) const;
    bool sees_a_back(const Mesh& mesh, const SurfaceTriangle& t, const SliceFrame& frame) const;
    bool is_at_end(const Mesh& mesh, const SurfaceTriangle& t) const;
    double depth_in(const Mesh& mesh, const SliceFrame& frame) const;
    void within_faces(double depth, const Vec3& normal);
    // The distance from the surface alone, without a sign: corners and normal seen from the slice.
    bool triangle(const std::array<Vec3, 3>& corners, const Vec3& normal);
    int edge(const Vec3& a, const Vec3& b);
    void take_edge(const Vec3& p, const Vec3& along, bool inner, double distance);
    void turn_inside_out();

    SliceHit best_{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, false};
    int feature_ = -1;  // of the triangle that was met last: an edge, or 3 more than a vertex
    ContactManifold scratch_;
};

}  // namespace bellcrank
