// The points at which the shapes of a contact set touch.
#pragma once

#include <cstdint>
#include <vector>

#include "contacts/contact_set.hpp"
#include "geometry/broad_phase.hpp"
#include "geometry/collide.hpp"

namespace bellcrank {

// Shapes a and b of the set, a point of their manifold, and the group that they touch in.
struct FoundContact {
    int group, a, b;
    ContactPoint point;
};

// Keeps the pairs that may touch while no shape has left the bounds, wider than it, for which they were found.
class ContactSearch {
  public:
    explicit ContactSearch(const ContactSet& set);

    // All points with a gap below `reach` where bodies have these poses (spatial/body_state.hpp), pair by pair in an
    // order that depends on the set alone, not on earlier searches.
    const std::vector<FoundContact>& find(const double* poses, double reach);

  private:
    // What a group has of its own: the bounds of its shapes, how far each may move, the pairs that may touch.
    struct Members {
        KeptPairs near;
        std::vector<Bounds> bounds;
        std::vector<double> margins;
        BoundsPairs pairs;  // of shapes of the set
        int searches = 0;
    };
    void place(const double* poses);
    void pair_up(const ContactGroup& group, Members& members, double reach);
    bool may_touch(const ContactGroup& group, int a, int b) const;

    const ContactSet& set_;
    std::vector<Pose> poses_;
    std::vector<Bounds> bounds_;
    std::vector<Members> members_;  // of each group
    std::vector<FoundContact> found_;
    ContactManifold manifold_;
};

}  // namespace bellcrank
