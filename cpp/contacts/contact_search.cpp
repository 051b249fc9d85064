#include "contacts/contact_search.hpp"

#include <algorithm>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kMargin = 0.1;  // by which bounds are wider, in sizes of a shape

double margin_of(const Shape& shape) { return shape.reach_out < Bounds::kInfinity ? kMargin * shape.reach_out : 0.0; }

}  // namespace

ContactSearch::ContactSearch(const ContactSet& set)
    : set_(set), poses_(set.shapes.size()), bounds_(set.shapes.size()), members_(set.groups.size()) {
    for (size_t g = 0; g < members_.size(); ++g)
        for (const int shape : set_.groups[g].shapes) {
            members_[g].bounds.emplace_back();
            members_[g].margins.push_back(margin_of(*set_.shapes[shape].shape));
        }
}

void ContactSearch::place(const double* poses) {
    for (size_t i = 0; i < set_.shapes.size(); ++i) {
        const BodyShape& s = set_.shapes[i];
        const Mat3 R = rotation_matrix(pose_rotation(poses, s.body));
        poses_[i] = {pose_position(poses, s.body) + R * s.on_body.p, R * s.on_body.R};
        bounds_[i] = bounds_of(*s.shape, poses_[i]);
    }
}

bool ContactSearch::may_touch(const ContactGroup& group, int a, int b) const {
    const int i = set_.shapes[a].body, j = set_.shapes[b].body;
    return i != j &&
           !std::binary_search(group.apart.begin(), group.apart.end(), std::pair(std::min(i, j), std::max(i, j)));
}

void ContactSearch::pair_up(const ContactGroup& group, Members& members, double reach) {
    for (size_t i = 0; i < group.shapes.size(); ++i) members.bounds[i] = bounds_[group.shapes[i]];
    const BoundsPairs& near = members.near.pairs(members.bounds, reach, members.margins);
    if (members.searches == members.near.searches()) return;
    members.searches = members.near.searches();
    members.pairs.clear();
    for (const auto& [i, j] : near)
        if (may_touch(group, group.shapes[i], group.shapes[j]))
            members.pairs.emplace_back(group.shapes[i], group.shapes[j]);
}

const std::vector<FoundContact>& ContactSearch::find(const double* poses, double reach) {
    place(poses);
    found_.clear();
    for (size_t g = 0; g < members_.size(); ++g) {
        pair_up(set_.groups[g], members_[g], reach);
        for (const auto& [a, b] : members_[g].pairs) {
            if (!overlap(bounds_[a].grown(reach), bounds_[b])) continue;
            collide(*set_.shapes[a].shape, poses_[a], *set_.shapes[b].shape, poses_[b], reach, manifold_);
            for (const ContactPoint& point : manifold_.points) found_.push_back({static_cast<int>(g), a, b, point});
        }
    }
    return found_;
}

}  // namespace bellcrank
