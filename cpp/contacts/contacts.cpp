#include "contacts/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "contacts/meeting.hpp"
#include "contacts/point_velocity.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kSame = 1e-5;          // distance of a point from itself, by the size of a shape
constexpr double kClosed = 1e-9;        // gap that counts as closed where a step ends, in sizes (ContactSet)
constexpr double kOpen = 3e-9;          // the same, at which a point has lifted off
constexpr double kStopped = 1e-12;      // speed of slip back that ends it, in speeds (ContactSet)
constexpr double kUnknown = 1e-13;      // the same, in speeds of the bodies: what rounding leaves
constexpr double kMoving = 1e-6;        // speed beyond which a point that begins to touch slips, in speeds
constexpr int kSlips = 1, kSticks = 2;  // of a group's events

// Whether a contact may have come to a point from its mark. On the body where its way is shorter it comes no farther
// than one has slid along the other and rolled on it, on surfaces no flatter than a ball of this size; and the normal
// turns by what that makes on such a ball. It jumps where the way out of an overlap changes: that is another contact.
bool leads_to(const SurfaceMark& mark, const ContactPoint& point, double size, const Pose (&bodies)[2]) {
    double way = Bounds::kInfinity, turn = way;
    for (int side = 0; side < 2; ++side) {
        way = std::min(way, norm(bodies[side].point(mark.on[side].point) - point.position));
        turn = std::min(turn, norm(bodies[side].direction(mark.on[side].normal) - point.normal));
    }
    const SurfaceMark::OnBody &a = mark.on[0], &b = mark.on[1];
    const Vec3 slid = bodies[0].point(a.point) - bodies[1].point(b.point);
    const Vec3 turned = bodies[0].direction(a.normal) - bodies[1].direction(b.normal);
    const Vec3 spun = bodies[0].direction(a.tangent) - bodies[1].direction(b.tangent);
    // One of the two lies across the axis, or nearly.
    const double most = norm(slid) + std::max(norm(turned), norm(spun)) * size;
    return way < most && 0.5 * turn * size < most;
}

}  // namespace

// Finds an anchor by its feature; or, where features have changed, as from one triangle of a floor to the next, by
// where it is on either body. The only point of two shapes may have moved on with the bodies meanwhile: a ball that
// leaves a face touches its edge. New points are left alone within a step, and its force would be missing to the step's
// end.
Contacts::Anchor* Contacts::find_anchor(int group, int a, int b, const ContactPoint& point, const double* poses) {
    const auto key = std::tuple(a, b, point.feature);
    const auto less = [](const Anchor& anchor, const auto& k) { return anchor.key() < k; };
    const auto at = std::lower_bound(anchors_.begin(), anchors_.end(), key, less);
    if (at != anchors_.end() && at->key() == key) return &*at;
    if (of_tyre(group)) return find_bristle(group, a, b, point.feature);
    const auto begin = std::lower_bound(anchors_.begin(), anchors_.end(), std::tuple(a, b, std::uint64_t{0}), less);
    const Pose bodies[2] = {pose_of(poses, set_.shapes[a].body), pose_of(poses, set_.shapes[b].body)};
    double nearest = kSame * std::min(set_.shapes[a].shape->reach_out, set_.shapes[b].shape->reach_out);
    Anchor* found = nullptr;
    auto k = begin;
    for (; k != anchors_.end() && k->a == a && k->b == b; ++k)
        for (int side = 0; side < 2; ++side) {
            const double apart = norm(bodies[side].point(k->mark.on[side].point) - point.position);
            if (apart < nearest) nearest = apart, found = &*k;
        }
    if (found != nullptr || k - begin != 1 || !is_only_point(a, b)) return found;
    return leads_to(begin->mark, point, set_.size(a, b), bodies) ? &*begin : nullptr;
}

bool Contacts::is_only_point(int a, int b) const {
    return std::ranges::count_if(search_.listed(), [&](const auto& at) { return at.a == a && at.b == b; }) == 1;
}

const ContactLaw& Contacts::law_of(int group, std::uint64_t feature) const {
    const ContactGroup& g = set_.groups[group];
    return g.of_tyre && is_of_rim(std::max(first_feature(feature), second_feature(feature))) ? g.rim : g.law;
}

void Contacts::evaluate(const FoundContact& found, Anchor* anchor, const double* poses, const double* twists) {
    const ContactPoint& p = found.point;
    const int a = set_.shapes[found.a].body, b = set_.shapes[found.b].body;
    const Vec3 velocity = point_velocity(poses, twists, a, p.position) - point_velocity(poses, twists, b, p.position);
    const Vec3 acting = p.normal + p.tilt;
    const TouchingPoint at = touching<double>(
        {{pose_of(poses, a), pose_of(poses, b)}, p.position, p.normal, acting, p.gap, velocity}, anchor);
    matched_.push_back(anchor);
    const ContactForce f = contact_force(law_of(found.group, p.feature), at);
    touching_.push_back(at);
    forces_.push_back(f);
    contacts_.push_back({found.group, found.a, found.b, p.feature, p.position, p.normal, p.gap,
                         f.normal * acting + f.friction, at.slip, at.approach, f.sticks});
}

const std::vector<Contact>& Contacts::evaluate(const double* poses, const double* twists) {
    if (rigid_) return contacts_;
    return evaluate_within(0.0, !leaves_new_alone_, poses, twists);
}

const std::vector<Contact>& Contacts::evaluate_within(double part, bool with_new, const double* poses,
                                                      const double* twists) {
    contacts_.clear();
    touching_.clear();
    matched_.clear();
    forces_.clear();
    for (const FoundContact& found : search_.find(poses)) {
        if (found.point.gap >= part * found.size) continue;
        Anchor* const anchor = find_anchor(found.group, found.a, found.b, found.point, poses);
        if (anchor != nullptr || with_new || of_tyre(found.group)) evaluate(found, anchor, poses, twists);
    }
    return contacts_;
}

void Contacts::add_forces(const double* poses, const double* twists, double* force) {
    const int ground = set_.ground;
    if (leaves_out_) return;
    for (const Contact& contact : evaluate(poses, twists))
        for (const auto& [shape, sign] : {std::pair(contact.a, 1.0), std::pair(contact.b, -1.0)}) {
            const int body = set_.shapes[shape].body;
            if (body == ground) continue;
            const Vec3 f = sign * contact.force;
            double* record = force + kTwist * body;
            add(record, f);
            const Vec3 moment = cross(contact.position - pose_position(poses, body), f) + sign * contact.moment;
            add(record + 4, transpose_times(rotation_matrix(pose_rotation(poses, body)), moment));
        }
    if (search_.lost() >= 0) lose(search_.lost(), force);
}

// Methods that choose their steps then try shorter ones, up to where it has a value; others end.
void Contacts::lose(int group, double* force) {
    lost_ = group;
    for (const int shape : set_.groups[group].shapes)
        if (const int body = set_.shapes[shape].body; body != set_.ground) {
            force[kTwist * body] = std::numeric_limits<double>::quiet_NaN();
            return;
        }
}

std::pair<Vec3, Vec3> Contacts::wrench(int group, int body, const Vec3& about) const {
    Vec3 force{0, 0, 0}, moment{0, 0, 0};
    for (const Contact& contact : contacts_) {
        if (contact.group != group) continue;
        for (const auto& [shape, sign] : {std::pair(contact.a, 1.0), std::pair(contact.b, -1.0)}) {
            if (set_.shapes[shape].body != body) continue;
            force += sign * contact.force;
            moment += sign * (cross(contact.position - about, contact.force) + contact.moment);
        }
    }
    return {force, moment};
}

double Contacts::power(int group, const double* poses, const double* twists) const {
    double sum = 0.0;
    for (const Contact& c : contacts_) {
        if (c.group != group) continue;
        const int a = set_.shapes[c.a].body, b = set_.shapes[c.b].body;
        sum +=
            dot(c.force, point_velocity(poses, twists, a, c.position) - point_velocity(poses, twists, b, c.position));
    }
    return sum;
}

double Contacts::stored_energy(int group) const {
    double sum = 0.0;
    for (size_t i = 0; i < contacts_.size(); ++i)
        if (contacts_[i].group == group) sum += forces_[i].stored_energy;
    return sum;
}

double Contacts::elastic_energy(const double* poses, const double* twists) {
    evaluate(poses, twists);
    double sum = 0.0;
    for (size_t group = 0; group < set_.groups.size(); ++group) sum += stored_energy(static_cast<int>(group));
    return sum;
}

Contacts::Anchor Contacts::anchor_at(const double* poses, int group, int a, int b, std::uint64_t feature,
                                     const Vec3& position, const Vec3& normal, const Vec3& shear, bool slips,
                                     double gap) const {
    const Pose bodies[2] = {pose_of(poses, set_.shapes[a].body), pose_of(poses, set_.shapes[b].body)};
    return {a, b, feature, shear, mark_contact(position, normal, bodies), slips, group, gap};
}

// The speed of slip back that ends slip.
double Contacts::stopped(const Contact& c, const double* poses, const double* twists) const {
    const Vec3 v[] = {point_velocity(poses, twists, set_.shapes[c.a].body, c.position),
                      point_velocity(poses, twists, set_.shapes[c.b].body, c.position)};
    return kStopped * set_.speed(c.a, c.b) + kUnknown * (norm(v[0]) + norm(v[1]));
}

void Contacts::margins(const double* poses, const double* twists, double* out) {
    for (int g = 0; g < events(); g += kEvents) {
        out[g] = out[g + 1] = out[g + 2] = kNearGap;
        out[g + 3] = kOpen;
    }
    evaluate_within(kNearGap, true, poses, twists);
    for (size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        const double size = set_.size(c.a, c.b), gap = c.gap / size;
        double* margin = out + kEvents * c.group;
        const Anchor* anchor = matched_[i];
        if (of_tyre(c.group)) {
            if (!in_touch(c.a, c.b)) margin[0] = std::min(margin[0], gap);
            continue;
        }
        if (anchor == nullptr) {
            margin[0] = std::min(margin[0], gap);
            continue;
        }
        margin[3] = std::min(margin[3], kOpen - gap);
        const ContactForce& f = forces_[i];
        const ContactLaw& law = set_.groups[c.group].law;  // of no tyre
        if (anchor->slips)
            margin[2] = std::min(margin[2], (f.sliding + stopped(c, poses, twists)) / set_.speed(c.a, c.b));
        else if (law.static_friction > 0.0 && gap < -kClosed)
            margin[1] = std::min(margin[1], kNearGap * (kReach - f.reach));
    }
}

void Contacts::forget() {
    ++revision_;
    anchors_.clear();
    in_touch_.clear();
    listed_ = false;
    if (rigid_) contacts_.clear(), forces_.clear();
}

// The slice of a tyre may have met another shape of the same body.
Contacts::Anchor* Contacts::find_bristle(int group, int a, int b, std::uint64_t feature) {
    const int wheel = set_.groups[group].shapes[0], ground = set_.shapes[a == wheel ? b : a].body;
    for (const int other : set_.groups[group].shapes) {
        if (other == wheel || set_.shapes[other].body != ground || (wheel < other) != (wheel == a)) continue;
        const auto key = std::tuple(std::min(other, wheel), std::max(other, wheel), feature);
        const auto at = std::lower_bound(anchors_.begin(), anchors_.end(), key,
                                         [](const Anchor& anchor, const auto& k) { return anchor.key() < k; });
        if (at != anchors_.end() && at->key() == key) return &*at;
    }
    return nullptr;
}

void Contacts::take(std::vector<Anchor>& anchors) {
    std::sort(anchors.begin(), anchors.end(), [](const Anchor& p, const Anchor& q) { return p.key() < q.key(); });
    anchors_.swap(anchors);
    ++revision_;
    in_touch_.clear();
    for (const Anchor& anchor : anchors_)
        if (anchor.touched()) in_touch_.emplace_back(anchor.a, anchor.b);
    in_touch_.insert(in_touch_.end(), search_.pressed().begin(), search_.pressed().end());
    std::sort(in_touch_.begin(), in_touch_.end());
}

bool Contacts::in_touch(int a, int b) const {
    return std::binary_search(in_touch_.begin(), in_touch_.end(), std::pair(a, b));
}

double Contacts::longest_step(double t, double h, const double* poses, const double* twists) {
    return sweep_.longest_step(t, std::min(h, calm_time_), poses, twists, in_touch_);
}

// Each anchor takes the elastic displacement that its point has now: at the limit where it slips, so the spring does
// not grow beyond it.
void Contacts::commit(const double* poses, const double* twists) {
    if (rigid_) return take_list(poses);
    next_.clear();
    lost_ = -1;
    begins_.assign(begins_.size(), false);
    calm_time_ = Bounds::kInfinity;
    evaluate_within(kClosed, true, poses, twists);
    const int changed = changed_by_event();
    ended_by_ = -1;
    for (size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        const ContactForce& f = forces_[i];
        const Anchor* before = matched_[i];
        const bool slips = static_cast<int>(i) == changed ? !before->slips : would_slip(before, c, f);
        if (of_tyre(c.group) ? !in_touch(c.a, c.b) : before == nullptr) begins_[c.group] = true;
        if (c.approach > 0.0) calm_time_ = std::min(calm_time_, stride(set_, c.a, c.b) / c.approach);
        next_.push_back(anchor_at(poses, c.group, c.a, c.b, c.feature, c.position, c.normal, f.shear, slips));
    }
    mark_ahead(poses, next_);
    take(next_);
}

// The point that begins to slip or sticks at the event that ends the step, or −1.
int Contacts::changed_by_event() const {
    const int group = ended_by_ / kEvents, kind = ended_by_ % kEvents;
    if (ended_by_ < 0 || (kind != kSlips && kind != kSticks)) return -1;
    int found = -1;
    double least = Bounds::kInfinity;
    for (size_t i = 0; i < contacts_.size(); ++i) {
        if (contacts_[i].group != group || matched_[i] == nullptr || matched_[i]->slips != (kind == kSticks)) continue;
        const double left = kind == kSticks ? forces_[i].sliding : -forces_[i].reach;
        if (left < least) least = left, found = static_cast<int>(i);
    }
    return found;
}

bool Contacts::would_slip(const Anchor* before, const Contact& c, const ContactForce& f) const {
    if (before == nullptr && !of_tyre(c.group)) return f.sliding > kMoving * set_.speed(c.a, c.b);
    if (before != nullptr && before->slips) return f.sliding > -0.5 * kStopped * set_.speed(c.a, c.b);
    return f.reach > kReach - kReached;
}

// Slices of tyres that do not touch yet.
void Contacts::mark_ahead(const double* poses, std::vector<Anchor>& anchors) {
    for (const FoundContact& found : search_.listed()) {
        const ContactPoint& p = found.point;
        if (of_tyre(found.group) && p.gap >= kClosed * found.size)
            anchors.push_back(anchor_at(poses, found.group, found.a, found.b, p.feature, p.position, p.normal,
                                        {0.0, 0.0, 0.0}, false, p.gap));
    }
}

}  // namespace bellcrank
