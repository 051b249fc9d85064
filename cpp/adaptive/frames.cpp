#include "adaptive/frames.hpp"

namespace bellcrank {

LevelMarks::LevelMarks(const AssemblyTree& tree) : tree_(tree), marks_(tree.nodes.size(), 0), marked_(tree.levels()) {
    std::vector<int> wide(tree.levels(), 0);
    for (const AssemblyNode& node : tree.nodes) ++wide[node.level];
    for (size_t level = 0; level < wide.size(); ++level) marked_[level].reserve(wide[level]);
}

void LevelMarks::mark(int node, std::uint8_t what) {
    const int level = tree_.nodes[node].level;
    if (marks_[node] == 0) marked_[level].push_back(node);
    marks_[node] |= what;
    if (level > deepest_) deepest_ = level;
}

void LevelMarks::clear() {
    for (; deepest_ >= 0; --deepest_) {
        for (const int node : marked_[deepest_]) marks_[node] = 0;
        marked_[deepest_].clear();
    }
}

std::size_t LevelMarks::bytes() const {
    std::size_t sum = marks_.capacity();
    for (const std::vector<int>& level : marked_) sum += sizeof level + sizeof(int) * level.capacity();
    return sum;
}

Frames::Frames(const AssemblyTree& tree) : tree_(tree), places_(tree.links()), reaches_(tree.joins) {}

const Place* Frames::reach(int number) const {
    const AssemblyNode& node = tree_.nodes[number];
    return node.kind == NodeKind::join ? &reaches_[node.slot] : nullptr;
}

void Frames::update(const AssemblyNode& node) {
    if (node.kind == NodeKind::rake) return chosen_.touch(node.left);
    if (node.kind != NodeKind::join) return;
    chosen_.touch(node.right);
    if (node.ends) return;  // it has no second handle
    const Place *left = reach(node.left), *right = reach(node.right);
    Place& out = reaches_[node.slot];
    out = left ? *left * places_[node.link] : places_[node.link];
    if (right) out = out * *right;
}

bool Frames::step_up(int number, Place& at) const {
    const AssemblyNode& above = tree_.nodes[tree_.nodes[number].parent];
    if (above.kind != NodeKind::rake && (above.kind != NodeKind::join || above.right != number)) return false;
    at = places_[above.link];
    if (above.kind == NodeKind::join)
        if (const Place* left = reach(above.left)) at = *left * at;
    return true;
}

Place Frames::pose(int link) const {
    Place at, step;
    for (int node = tree_.body_of[link]; tree_.nodes[node].parent >= 0; node = tree_.nodes[node].parent)
        if (step_up(node, step)) at = step * at;
    return at;
}

Mat3 Frames::rotation_between(int node, int above) const {
    Mat3 found = Place{}.rotation;
    for (Place step; node != above; node = tree_.nodes[node].parent)
        if (step_up(node, step)) found = step.rotation * found;
    return found;
}

std::size_t Frames::bytes() const {
    return sizeof(Place) * (places_.capacity() + reaches_.capacity()) + chosen_.bytes();
}

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
