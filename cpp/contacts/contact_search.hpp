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
    explicit ContactSearch(const ContactSet& set) : set_(set), shapes_(set.shapes.size()), near_(set) {}

    // All points with a gap below `reach` where bodies have these poses (spatial/body_state.hpp), pair by pair in an
    // order that depends on the set alone, not on earlier searches.
    const std::vector<FoundContact>& find(const double* poses, double reach);

  private:
    const ContactSet& set_;
    PlacedShapes shapes_;
    NearPairs near_;
    std::vector<FoundContact> found_;
    ContactManifold manifold_;
};

}  // namespace bellcrank
