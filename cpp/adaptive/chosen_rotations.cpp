#include "adaptive/chosen_rotations.hpp"

#include <cstdint>

#include "adaptive/frames.hpp"

namespace bellcrank {

ChosenRotations::ChosenRotations(const AssemblyTree& tree, const std::vector<int>& links) {
    if (links.empty()) return;
    // A stretch begins at each chosen link's body, and where two paths meet.
    const int root = static_cast<int>(tree.nodes.size()) - 1;
    std::vector<std::uint8_t> is_on_path(tree.nodes.size(), 0), begins(tree.nodes.size(), 0);
    for (const int link : links) {
        int node = tree.body_of[link];
        begins[node] = 1;
        for (; node >= 0 && !is_on_path[node]; node = tree.nodes[node].parent) is_on_path[node] = 1;
        if (node >= 0) begins[node] = 1;
    }
    // A node comes before its parent, so descending order is the order from the root down.
    stretch_of_.assign(tree.nodes.size(), -1);
    std::vector<int> nearest(tree.nodes.size(), -1);  // stretch that begins at the node or nearest above it
    for (int node = root; node >= 0; --node) {
        if (!is_on_path[node]) continue;
        const int parent = tree.nodes[node].parent, above = parent < 0 ? -1 : nearest[parent];
        nearest[node] = above;
        if (!begins[node]) continue;
        nearest[node] = static_cast<int>(stretches_.size());
        const int beyond = above < 0 ? root : stretches_[above].first;
        for (int on = node; on != beyond; on = tree.nodes[on].parent) stretch_of_[on] = nearest[node];
        stretches_.push_back({above, node, beyond, true, true, {}, {}});
    }
    for (const int link : links) stretch_of_link_.push_back(nearest[tree.body_of[link]]);
}

void ChosenRotations::update(const Frames& frames) {
    if (!is_stale_ && !has_changed_) return;
    has_changed_ = is_stale_;
    is_stale_ = false;
    for (Stretch& stretch : stretches_) {
        const Stretch* above = stretch.above < 0 ? nullptr : &stretches_[stretch.above];
        stretch.has_changed = stretch.is_stale || (above && above->has_changed);
        if (stretch.is_stale) stretch.own = frames.rotation_between(stretch.first, stretch.beyond);
        if (stretch.has_changed) stretch.world = above ? above->world * stretch.own : stretch.own;
        stretch.is_stale = false;
    }
}

std::size_t ChosenRotations::bytes() const {
    return sizeof(Stretch) * stretches_.capacity() +
           sizeof(int) * (stretch_of_.capacity() + stretch_of_link_.capacity());
}

}  // namespace bellcrank
