// Hierarchical frames of a linkage (Redon and Lin, section 5.1): where every body's frame is in its parent's, and where
// the last frame of a stretch is in its first. Nothing is kept in the world: a pose there is asked for and takes as
// many steps as a node has levels.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "spatial/aligned.hpp"
#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

class Frames;

// Nodes that are to be updated, by level.
class LevelMarks {
  public:
    explicit LevelMarks(const AssemblyTree& tree);

    void mark(int node, std::uint8_t what);
    // Marks all nodes above those that are marked, and calls work(node, what) for each, from the deepest level up.
    template <class Work>
    void spread(const Work& work) {
        for (int level = deepest_; level >= 0; --level)
            for (const int node : marked_[level]) {
                work(node, marks_[node]);
                if (tree_.nodes[node].parent >= 0) mark(tree_.nodes[node].parent, marks_[node]);
            }
    }
    // Calls work(node, what) for all marked nodes and those above them, from the deepest level up, each once, with all
    // that any below it was marked with. Returns how many there were.
    template <class Work>
    int sweep(const Work& work) {
        int count = 0;
        for (; deepest_ >= 0; --deepest_) {
            for (const int node : marked_[deepest_]) {
                const std::uint8_t what = marks_[node];
                marks_[node] = 0;
                work(node, what);
                const int above = tree_.nodes[node].parent;
                if (above < 0) continue;
                if (marks_[above] == 0) marked_[deepest_ - 1].push_back(above);
                marks_[above] |= what;
            }
            count += static_cast<int>(marked_[deepest_].size());
            marked_[deepest_].clear();
        }
        return count;
    }
    void clear();
    std::size_t bytes() const;

  private:
    const AssemblyTree& tree_;
    std::vector<std::uint8_t> marks_;
    std::vector<std::vector<int>> marked_;  // per level
    int deepest_ = -1;
};

// Rotations in the world of a few links of a large linkage, kept from step to step.
//
// The paths from the chosen links to the root form a tree. Its stretches between branchings are multiplied out once,
// and again only if a joint on them has moved. So n links cost at most 2 n products a step, however deep the assembly
// tree is, and each stretch that has changed costs its length.
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

class Frames {
  public:
    explicit Frames(const AssemblyTree& tree);

    // The frame of a link in its parent's.
    Place& place(int link) { return places_[link]; }
    const Place& place(int link) const { return places_[link]; }
    // What follows from the frames of a node's parts: of a join, the frame of its last body in that of its first.
    [[gnu::noinline]] void update(const AssemblyNode& node);
    [[gnu::noinline]] Place pose(int link) const;  // in the world
    // The rotation of a node's first body in that of a node above it.
    Mat3 rotation_between(int node, int above) const;
    // Links whose rotations in the world are kept; they are brought up to date where frames were updated.
    void choose(const std::vector<int>& links) { chosen_ = ChosenRotations(tree_, links); }
    const ChosenRotations& chosen() const { return chosen_; }
    void update_chosen() { chosen_.update(*this); }
    std::size_t bytes() const;

    // The frame of the last body of a node in that of its first; null: they are one, or the node has no last.
    const Place* reach(int node) const;

    // From the frame of a node's first body, or of the body that carries it, to that of the node above; false: they are
    // one.
    bool step_up(int node, Place& at) const;

  private:
    const AssemblyTree& tree_;
    std::vector<Place, AlignedAllocator<Place>> places_, reaches_;
    ChosenRotations chosen_;
};

}  // namespace bellcrank
