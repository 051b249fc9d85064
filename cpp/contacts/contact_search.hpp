// The points at which the shapes of a contact set touch.
#pragma once

#include <vector>

#include "contacts/contact_set.hpp"
#include "geometry/broad_phase.hpp"
#include "geometry/collide.hpp"
#include "geometry/tyre.hpp"

namespace bellcrank {

// Which shapes of a contact set are near each other.

// Poses and bounds of all shapes of a set, world axes, where bodies have these poses (spatial/body_state.hpp).
struct PlacedShapes {
    explicit PlacedShapes(size_t count) : poses(count), bounds(count) {}
    void place(const ContactSet& set, const double* body_poses);

    std::vector<Pose> poses;
    std::vector<Bounds> bounds;
};

// Sizes of the thinner one by which a shape may get into another within a step.
inline constexpr double kStride = 0.1;
// That way: infinite where neither can be got through.
double stride(const ContactSet& set, int a, int b);

// Shapes a and b, and the group that they touch in.
struct ShapePair {
    int group, a, b;
};

// Keeps the pairs that may touch while no shape leaves the bounds, wider than its own, for which they were found.
class NearPairs {
  public:
    explicit NearPairs(const ContactSet& set);

    // Afterwards list() has all pairs whose bounds come within `reach` of each other. True if it was found anew.
    bool update(const std::vector<Bounds>& bounds, double reach);
    // In an order that depends on the set alone.
    const std::vector<ShapePair>& list() const { return pairs_; }

  private:
    bool left(const std::vector<Bounds>& bounds, double reach) const;
    bool may_touch(const ContactGroup& group, int a, int b) const;

    const ContactSet& set_;
    std::vector<Bounds> wide_, members_;
    std::vector<ShapePair> pairs_;
    std::vector<BroadPhase> phases_;  // one for each group
    double reach_ = -1.0;
};

// Shapes a and b of the set, a point of their manifold, the group that they touch in, and their size and speed
// (ContactSet).
struct FoundContact {
    int group, a, b;
    ContactPoint point;
    double size, speed;
};
// Gaps that are looked for, in sizes. Always the same: which points a manifold has may depend on it.
inline constexpr double kNearGap = 1e-2;

class ContactSearch {
  public:
    explicit ContactSearch(const ContactSet& set);

    // All points with a gap below kNearGap sizes and `way` [m], of tyres below the length of a slice as well, where
    // bodies have these poses (spatial/body_state.hpp), pair by pair in an order that depends on the set alone, not on
    // earlier searches.
    const std::vector<FoundContact>& find(const double* poses, double way = 0.0);
    // Pairs of shapes of which one is a tyre that the other presses in, seen alone, when that was found.
    const std::vector<std::pair<int, int>>& pressed() const { return pressed_; }
    // The group of a tyre that has come behind an open mesh, where no depth is right; or -1.
    int lost() const { return lost_; }
    // The same again.
    const std::vector<FoundContact>& listed() const { return found_; }

  private:
    // The number of the first pair of another group, from a pair of the group of a tyre on.
    std::size_t find_on_tread(std::size_t first);

    const ContactSet& set_;
    PlacedShapes shapes_;
    NearPairs near_;
    std::vector<FoundContact> found_;
    std::vector<std::pair<int, int>> pressed_;
    int lost_ = -1;
    double tread_ = 0.0;   // the longest slice of all tyres
    double widest_ = 0.0;  // the largest size of shapes that others can get near to
    ContactManifold manifold_;
    TreadScan scan_;
};

}  // namespace bellcrank
