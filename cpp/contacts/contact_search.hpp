// The points at which the shapes of a contact set touch.
#pragma once

#include <vector>

#include "contacts/near_pairs.hpp"
#include "geometry/collide.hpp"

namespace bellcrank {

// Shapes a and b of the set, a point of their manifold, and the group that they touch in.
struct FoundContact {
    int group, a, b;
    ContactPoint point;
};

class ContactSearch {
  public:
    explicit ContactSearch(const ContactSet& set);

    // All points with a gap below `reach`, of tyres below the length of a slice, where bodies have these poses
    // (spatial/body_state.hpp), pair by pair in an order that depends on the set alone, not on earlier searches.
    const std::vector<FoundContact>& find(const double* poses, double reach);
    // The same again.
    const std::vector<FoundContact>& listed() const { return found_; }

  private:
    void keep_first_met(int group, std::size_t begin);

    const ContactSet& set_;
    PlacedShapes shapes_;
    NearPairs near_;
    std::vector<FoundContact> found_;
    std::vector<std::vector<int>> first_met_;  // of the slices of a tyre, by group: among those found, or none
    std::vector<double> reaches_;              // at least, by group
    double farthest_ = 0.0;                    // of them
    ContactManifold manifold_;
};

}  // namespace bellcrank
