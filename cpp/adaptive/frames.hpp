// Hierarchical frames of a linkage (Redon and Lin, section 5.1): where every body's frame is in its parent's, and where
// the last frame of a stretch is in its first. Nothing is kept in the world: a pose there is asked for and takes as
// many steps as a node has levels.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive/assembly_tree.hpp"
#include "adaptive/chosen_rotations.hpp"
#include "spatial/aligned.hpp"
#include "trees/place.hpp"

namespace bellcrank {

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
    // that any below it was marked with. How many there were. ahead(node) is called some nodes before, to fetch what
    // work will need.
    template <class Work, class Ahead>
    int sweep(const Work& work, const Ahead& ahead) {
        constexpr size_t kAhead = 4;
        int count = 0;
        for (; deepest_ >= 0; --deepest_) {
            const std::vector<int>& level = marked_[deepest_];
            for (size_t i = 0; i < level.size(); ++i) {
                if (i + kAhead < level.size()) ahead(level[i + kAhead]);
                const int node = level[i];
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

  private:
    const Place* reach(int node) const;
    // From the frame of a node's first body, or of the body that carries it, to that of the node above.
    bool step_up(int node, Place& at) const;

    const AssemblyTree& tree_;
    std::vector<Place, AlignedAllocator<Place>> places_, reaches_;
    ChosenRotations chosen_;
};

}  // namespace bellcrank
