// Tyres: slices around a wheel, each as deep in the ground as its section.
#pragma once

#include <algorithm>
#include <vector>

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"
#include "geometry/slice_distance.hpp"

namespace bellcrank {

// A tyre of round section about the z axis, in slices all around, on a rim of round section.
struct Tyre final : Shape {
    Tyre() : Shape(ShapeKind::tyre) {}

    // A torus: the radius of the circle of middles, and that of its section.
    struct Ring {
        double radius, section;
    };
    Ring tread{0.0, 0.0}, rim{0.0, 0.0};
    double step = 0.0;          // angle from slice to slice [rad]
    std::vector<Vec3> radials;  // of the slices

    double spacing() const { return half.x * step; }  // of slices, on the tread
};

// rim: the depth at which it strikes. Refused: sizes that are not positive, a section as wide as the radius, fewer than
// eight slices, a rim that is not within the section.
SharedShape make_tyre(double radius, double width, double height, int slices, double rim);

// Whether a point of a tyre's manifold is one of the rim, by the feature of the tyre.
constexpr bool is_of_rim(Feature of_tyre) { return of_tyre >= kEdgeFeature; }

// Where the slices of a tyre meet all shapes of its ground. It keeps its memory.
class TreadScan {
  public:
    void begin(const Tyre& tyre, const Pose& wheel, double reach);
    // Another shape of the ground; which: its number. Whether it presses the tyre, seen alone.
    bool meet(const Shape& shape, const Pose& pose, int which);
    // Whether a slice has come behind an open mesh, where no depth is right.
    bool lost() const { return lost_; }
    // For each slice of tread or rim that is above the ground by less than the reach, in their order: the shape that it
    // meets there, and its point: on the ground, with a normal towards the wheel.
    template <class Take>
    void finish(Take&& take) {
        std::sort(near_.begin(), near_.end());
        for (int ring = 0; ring < 2; ++ring)
            for (const int i : near_)
                if (slice(ring, i).shape >= 0) take(slice(ring, i).shape, point_of(ring, i));
    }

  private:
    struct Slice {
        double gap = 0.0;
        Vec3 point, gradient;  // as SliceHit has them
        int shape = -1;
    };
    int slices() const { return static_cast<int>(tyre_->radials.size()); }
    Slice& slice(int ring, int i) { return slices_[static_cast<std::size_t>(2 * i + ring)]; }
    // Frames of slices of a wheel whose axes are these, and the points they touch at.
    SliceFrame frame_of(const Pose& wheel, int ring, int i) const;
    ContactPoint point_of(int ring, int i);
    void mark_near(int i);
    bool press(const Shape& shape, const SliceFrame& frame, int which, int ring, int i);
    const Tyre::Ring& ring_of(int ring) const { return ring == 0 ? tyre_->tread : tyre_->rim; }

    const Tyre* tyre_ = nullptr;
    Pose wheel_;
    double reach_ = 0.0;
    bool lost_ = false;
    std::vector<Slice> slices_;  // by number: of the tread and of the rim
    std::vector<char> is_near_;
    std::vector<int> near_;
    SliceDistance distance_;
};

// collide() for a tyre and another shape.
void tyre_on(const Shape& other, const Pose& pose, const Shape& tyre, const Pose& wheel, double reach,
             ContactManifold& out);

}  // namespace bellcrank
