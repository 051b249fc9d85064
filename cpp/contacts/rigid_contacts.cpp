// Contacts of methods that step by impulses: what acts is what the last step has found.
#include <algorithm>

#include "contacts/contacts.hpp"
#include "contacts/point_velocity.hpp"

namespace bellcrank {

void Contacts::be_rigid(bool rigid) {
    rigid_ = rigid;
    listed_ = false;
    contacts_.clear();
    forces_.clear();
}

const std::vector<FoundContact>& Contacts::near(const double* poses, double way) { return search_.find(poses, way); }

Vec3 Contacts::velocity_between(const FoundContact& found, const double* poses, const double* twists) const {
    const Vec3 at = found.point.position;
    return point_velocity(poses, twists, set_.shapes[found.a].body, at) -
           point_velocity(poses, twists, set_.shapes[found.b].body, at);
}

std::optional<bool> Contacts::slipped(const FoundContact& found, const double* poses) {
    const Anchor* anchor = find_anchor(found.group, found.a, found.b, found.point, poses);
    return anchor == nullptr ? std::nullopt : std::optional(anchor->slips);
}

void Contacts::begin_list() {
    list_.clear();
    listed_ = true;
}

void Contacts::take_list(const double* poses) {
    calm_time_ = Bounds::kInfinity;
    if (!listed_) return;
    listed_ = false;
    contacts_.clear();
    next_.clear();
    for (const Contact& c : list_) {
        contacts_.push_back(c);
        next_.push_back(
            anchor_at(poses, c.group, c.a, c.b, c.feature, c.position, c.normal, {0.0, 0.0, 0.0}, !c.sticks));
    }
    forces_.assign(contacts_.size(), ContactForce{});
    take(next_);
}

}  // namespace bellcrank
