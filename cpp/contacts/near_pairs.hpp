// Which shapes of a contact set are near each other.
#pragma once

#include <vector>

#include "contacts/contact_set.hpp"
#include "geometry/broad_phase.hpp"

namespace bellcrank {

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

}  // namespace bellcrank
