#include "contacts/contact_search.hpp"

#include <algorithm>
#include <tuple>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kMargin = 0.1;  // by which bounds are wider, in sizes of a shape

bool contains(const Bounds& outer, const Bounds& inner, double reach) {
    return outer.lo.x <= inner.lo.x - reach && outer.lo.y <= inner.lo.y - reach && outer.lo.z <= inner.lo.z - reach &&
           outer.hi.x >= inner.hi.x + reach && outer.hi.y >= inner.hi.y + reach && outer.hi.z >= inner.hi.z + reach;
}

double margin_of(const Shape& shape) { return shape.reach_out < Bounds::kInfinity ? kMargin * shape.reach_out : 0.0; }

}  // namespace

ContactSearch::ContactSearch(const ContactSet& set)
    : set_(set), poses_(set.shapes.size()), bounds_(set.shapes.size()), wide_(set.shapes.size()) {
    phases_.resize(set.groups.size());
}

void ContactSearch::place(const double* poses) {
    for (size_t i = 0; i < set_.shapes.size(); ++i) {
        const BodyShape& s = set_.shapes[i];
        const Mat3 R = rotation_matrix(pose_rotation(poses, s.body));
        poses_[i] = {pose_position(poses, s.body) + R * s.on_body.p, R * s.on_body.R};
        bounds_[i] = bounds_of(*s.shape, poses_[i]);
    }
}

bool ContactSearch::left(double reach) const {
    if (reach > reach_) return true;
    for (size_t i = 0; i < bounds_.size(); ++i)
        if (!contains(wide_[i], bounds_[i], reach)) return true;
    return false;
}

bool ContactSearch::may_touch(const ContactGroup& group, int a, int b) const {
    const int i = set_.shapes[a].body, j = set_.shapes[b].body;
    return i != j &&
           !std::binary_search(group.apart.begin(), group.apart.end(), std::pair(std::min(i, j), std::max(i, j)));
}

void ContactSearch::pair_up(double reach) {
    reach_ = reach;
    pairs_.clear();
    for (size_t i = 0; i < wide_.size(); ++i) wide_[i] = bounds_[i].grown(reach + margin_of(*set_.shapes[i].shape));
    for (size_t g = 0; g < set_.groups.size(); ++g) {
        const ContactGroup& group = set_.groups[g];
        members_.clear();
        for (const int shape : group.shapes) members_.push_back(wide_[shape]);
        for (const auto& [i, j] : phases_[g].pairs(members_)) {
            const int a = group.shapes[i], b = group.shapes[j];
            if (may_touch(group, a, b)) pairs_.push_back({static_cast<int>(g), a, b});
        }
    }
    std::sort(pairs_.begin(), pairs_.end(),
              [](const Pair& p, const Pair& q) { return std::tie(p.group, p.a, p.b) < std::tie(q.group, q.a, q.b); });
}

const std::vector<FoundContact>& ContactSearch::find(const double* poses, double reach) {
    place(poses);
    if (left(reach)) pair_up(reach);
    found_.clear();
    for (const Pair& pair : pairs_) {
        if (!overlap(bounds_[pair.a].grown(reach), bounds_[pair.b])) continue;
        collide(*set_.shapes[pair.a].shape, poses_[pair.a], *set_.shapes[pair.b].shape, poses_[pair.b], reach,
                manifold_);
        for (const ContactPoint& point : manifold_.points) found_.push_back({pair.group, pair.a, pair.b, point});
    }
    return found_;
}

}  // namespace bellcrank
