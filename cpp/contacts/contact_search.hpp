// The points at which the shapes of a contact set touch.
#pragma once

#include <vector>

#include "contacts/near_pairs.hpp"
#include "geometry/collide.hpp"
#include "geometry/tyre.hpp"

namespace bellcrank {

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
    // From a pair of the group of a tyre on: the number of the first pair that is another group's.
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
