// Rotations in the world of a few links of a large linkage, kept from step to step.
//
// The paths from the chosen links to the root form a tree. Its stretches between branchings are multiplied out once,
// and again only if a joint on them has moved. So n links cost at most 2 n products a step, however deep the assembly
// tree is, and each stretch that has changed costs its length.
#pragma once

#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

class Frames;

class ChosenRotations {
  public:
    ChosenRotations() = default;
    ChosenRotations(const AssemblyTree& tree, const std::vector<int>& links);

    // Notes that the rotation from a node's first body to the node above has changed.
    void touch(int node) {
        if (stretch_of_.empty() || stretch_of_[node] < 0) return;
        stretches_[stretch_of_[node]].is_stale = true;
        is_stale_ = true;
    }
    // Brings all of them up to date, and notes which have changed since the last time.
    void update(const Frames& frames);

    // chosen: a link's index among those chosen.
    const Mat3& rotation(int chosen) const { return stretches_[stretch_of_link_[chosen]].world; }
    bool has_changed(int chosen) const { return stretches_[stretch_of_link_[chosen]].has_changed; }
    std::size_t bytes() const;

  private:
    struct Stretch {
        int above;          // the stretch that it hangs on, −1: it reaches the root
        int first, beyond;  // nodes: its lowest, and the first that is no longer its own
        bool is_stale = true, has_changed = true;
        Mat3 own, world;
    };

    bool is_stale_ = true, has_changed_ = true;  // any of them
    std::vector<Stretch> stretches_;             // each after the one that it hangs on
    std::vector<int> stretch_of_;                // per node, −1: on no link's path
    std::vector<int> stretch_of_link_;           // per chosen link
};

}  // namespace bellcrank
