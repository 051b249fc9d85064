// Tyres: rays from the rim outwards, fixed to the wheel.
#pragma once

#include <vector>

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

// A tyre of round section about the z axis, in slices all around. The rays of a slice start at one point of the rim,
// where its section begins, and spread across the section.
struct Tyre final : Shape {
    Tyre() : Shape(ShapeKind::tyre) {}

    struct Ray {
        double outwards, aside, length;  // direction, towards +z; to the end of the section
    };
    double rim = 0.0, section = 0.0;  // radius of the rim; height and width of the section
    double step = 0.0;                // angle from slice to slice [rad]
    std::vector<Vec3> radials;        // of the slices
    std::vector<Ray> rays;            // of a slice; the middle one points outwards

    double tread() const { return half.x * step; }  // between two slices
};

// Refused: sizes that are not positive, a section as wide as the radius, fewer than eight slices or three rays, an even
// number of rays, more than 65.
SharedShape make_tyre(double radius, double width, int slices, int rays);

// What the rays of a tyre meet, on all shapes of its ground. It keeps its memory.
class TreadScan {
  public:
    void begin(const Tyre& tyre, const Pose& wheel, double reach);
    // Another shape of the ground; which: its number. Whether a ray meets it within the tyre, seen alone.
    bool meet(const Shape& shape, const Pose& pose, int which);
    // For each slice that is behind the ground by less than the reach, in their order: the shape that it meets there,
    // the slice's number, and its point: on the ground, with a normal towards the wheel. No point is deeper in the
    // slice.
    template <class Take>
    void finish(Take&& take) {
        find_slices();
        for (const int i : near_)
            if (slices_[i].gap < reach_) take(slices_[i].shape, i, point_of(i));
    }

  private:
    struct Hit {
        double distance;
        Vec3 normal;  // world axes
        int shape;
    };
    // In the plane of a slice, from where its rays start: outwards and aside.
    struct Flat {
        double x, y;
    };
    struct Slice {
        bool is_near = false;
        double gap = 0.0;
        Flat place{0.0, 0.0}, normal{0.0, 0.0};
        int shape = -1;
    };
    void meet_slice(const Shape& shape, const Pose& pose, const Pose& wheel, double top, int which, int i);
    bool surrounds(const Shape& shape, const Pose& pose, const Pose& wheel, int which, int i);
    void sink(Slice& slice, const Vec3& normal, double distance, int which, int i);
    void find_slices();
    void find_deepest(Slice& slice, int i);
    Flat met_by(const Hit* hits, int ray) const;
    double room(const Hit* hits, int ray, int other, const Flat& normal) const;
    ContactPoint point_of(int i) const;
    double depth_beside(int i) const;
    Hit* hits_of(int i) { return hits_.data() + static_cast<std::size_t>(i) * tyre_->rays.size(); }
    const Hit* hits_of(int i) const { return hits_.data() + static_cast<std::size_t>(i) * tyre_->rays.size(); }
    Flat in_slice(const Vec3& v, int i) const;

    const Tyre* tyre_ = nullptr;
    Pose wheel_;
    Vec3 axis_{0.0, 0.0, 1.0};
    double reach_ = 0.0;
    bool pressed_ = false;  // by the shape at hand
    std::vector<Slice> slices_;
    std::vector<Hit> hits_;
    std::vector<int> near_;
};

// collide() for a tyre and another shape.
void tyre_on(const Shape& other, const Pose& pose, const Shape& tyre, const Pose& wheel, double reach,
             ContactManifold& out);

}  // namespace bellcrank
