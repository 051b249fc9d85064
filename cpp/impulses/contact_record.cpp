// What is recorded of contacts in a step by impulses.
#include <algorithm>

#include "impulses/impulse_step.hpp"

namespace bellcrank {

namespace {

constexpr double kSticks = 1e-9;  // of the limit of friction

}  // namespace

// Points that push, or are closed.
bool ImpulseStep::is_listed(int i) const {
    const FoundContact& found = points_[i];
    return velocities_.impulses[velocities_.points()[i].row] > 0.0 || found.point.gap <= kTouches * found.size;
}

// Lists contacts with their forces at the end of the step; where something was hit, with the means over all of it.
void ImpulseStep::list_contacts(double h, const double* u1) {
    contacts_.begin_list();
    const double* twists = space_.twists(u1);
    const bool mean = hits_ > 0;
    const double by_time = 1.0 / (mean ? h : part_ * h);
    if (mean) add_up_pairs();
    for (size_t i = 0; i < points_.size(); ++i) {
        const ImpulsePoint& point = velocities_.points()[i];
        const FoundContact& f = points_[i];
        const double push = velocities_.impulses[point.row];
        if (!is_listed(static_cast<int>(i))) continue;
        const Vec3 P = velocities_.impulse_at(point), n = f.point.normal;
        const double scale = by_time * (mean ? whole_of(f) : 1.0);
        const Vec3 v = contacts_.velocity_between(f, space_.poses(), twists), slip = v - dot(v, n) * n;
        const bool sticks =
            norm(slip) <= kSlips * f.speed && norm(P - push * n) < point.friction * push * (1.0 - kSticks);
        contacts_.list({f.group, f.a, f.b, f.point.feature, f.point.position, n, f.point.gap, scale * P, slip,
                        -dot(v, n), sticks, scale * velocities_.moment_at(point)});
    }
}

// The kick came from points of the last step, which may be others, as where one facet of a tooth follows another. So
// what it did is shared by the points of the same two bodies, each along its own impulse, which keeps it in its cone.
void ImpulseStep::add_up_pairs() {
    pair_pushes_.clear();
    const auto& shapes = model_.contacts.shapes;
    for (const LastPoint& p : kicking_points_) {
        const int a = shapes[std::get<0>(p.key)].body, b = shapes[std::get<1>(p.key)].body;
        push_of(a, b).kick += (a < b ? 0.5 * reused_ : -0.5 * reused_) * p.impulse;
    }
    for (const ImpulsePoint& p : velocities_.points())
        push_of(p.bodies[0], p.bodies[1]).end += (p.bodies[0] < p.bodies[1] ? 1.0 : -1.0) * velocities_.impulse_at(p);
}

ImpulseStep::PairPush& ImpulseStep::push_of(int a, int b) {
    const std::pair<int, int> bodies = std::minmax(a, b);
    const auto at = std::ranges::lower_bound(pair_pushes_, bodies, {}, &PairPush::bodies);
    if (at != pair_pushes_.end() && at->bodies == bodies) return *at;
    return *pair_pushes_.insert(at, {bodies});
}

// The impulse of the whole step by that at its end.
double ImpulseStep::whole_of(const FoundContact& found) {
    const PairPush& push = push_of(model_.contacts.shapes[found.a].body, model_.contacts.shapes[found.b].body);
    const double end = dot(push.end, push.end);
    return end > 0.0 ? 1.0 + std::max(0.0, dot(push.kick, push.end)) / end : 1.0;
}

}  // namespace bellcrank
