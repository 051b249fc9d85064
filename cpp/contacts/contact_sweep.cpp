#include "contacts/contact_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kFinest = 2e-4;     // the way to get on at least, in sizes (ContactSet),
constexpr double kFinestPart = 0.1;  // and at most in strides
constexpr double kAhead = 4.0;       // ways that are left of the step, as far as gaps are looked for
constexpr double kTouching = 1e-8;   // gap of shapes that do not hit each other any more, in sizes
constexpr double kWidened = 0.5;     // of the difference of speeds at the ends

}  // namespace

ContactSweep::ContactSweep(const ContactSet& set)
    : set_(set),
      shapes_(set.shapes.size()),
      near_(set),
      begin_(set.shapes.size()),
      end_(set.shapes.size()),
      swept_(set.shapes.size()) {
    for (const BodyShape& s : set.shapes) {
        const bool finite = s.shape->reach_out < Bounds::kInfinity;
        reach_.push_back(finite ? norm(s.on_body.p) + s.shape->reach_out : 0.0);
        const bool carried = !finite && s.body != set.ground;  // a plane, however fast it gets far away
        least_stride_ = carried ? 0.0 : std::min(least_stride_, kStride * thickness(*s.shape));
        if (finite) least_size_ = std::min(least_size_, 2.0 * s.shape->reach_out);
    }
}

void ContactSweep::forget() {
    for (Gap& gap : gaps_) gap.least = 0.0;
}

void ContactSweep::place(const double* poses, const double* twists, std::vector<Motion>& motions) {
    shapes_.place(set_, poses);
    for (size_t i = 0; i < set_.shapes.size(); ++i) {
        const int body = set_.shapes[i].body;
        const Vec3 omega = rotation_matrix(pose_rotation(poses, body)) * twist_angular(twists, body);
        const Vec3 arm = shapes_.poses[i].p - pose_position(poses, body);
        motions[i] = {shapes_.poses[i].p, twist_linear(twists, body) + cross(omega, arm), omega};
    }
}

void ContactSweep::to(double t, const double* poses, const double* twists) {
    finish_ = t;
    place(poses, twists, end_);
    swept_ = shapes_.bounds;
}

void ContactSweep::from(double t, const double* poses, const double* twists, Touching touching) {
    pass(std::abs(t - at_));
    at_ = t;
    place(poses, twists, begin_);
    sweep();
    pair_up(touching);
}

void ContactSweep::pair_up(Touching touching) {
    if (near_.update(swept_, 0.0)) gaps_.assign(near_.list().size(), {});
    for (size_t k = 0; k < gaps_.size(); ++k) {
        const ShapePair& pair = near_.list()[k];
        const double first = closing_speed(pair, begin_), last = closing_speed(pair, end_);
        gaps_[k].speed = std::max(first, last) + kWidened * std::abs(last - first);
        const bool touches = std::binary_search(touching.begin(), touching.end(), std::pair(pair.a, pair.b));
        if (touches) gaps_[k].least = 0.0;
        gaps_[k].looked_at = !touches && overlap(swept_[pair.a], swept_[pair.b]);
    }
}

double ContactSweep::fastest(const double* twists) const {
    double fastest = 0.0;
    for (size_t i = 0; i < reach_.size(); ++i) {
        const int body = set_.shapes[i].body;
        fastest = std::max(fastest, norm(twist_linear(twists, body)) + norm(twist_angular(twists, body)) * reach_[i]);
    }
    return fastest;
}

bool ContactSweep::is_short(double h, const double* twists) const {
    return 2.0 * fastest(twists) * h < std::min(kFinest * least_size_, kFinestPart * least_stride_);
}

double ContactSweep::longest_step(double t, double h, const double* poses, const double* twists, Touching touching) {
    if (2.0 * fastest(twists) * h < least_stride_) return h;
    place(poses, twists, begin_);
    at_ = t, finish_ = t + h;
    forget();
    for (size_t i = 0; i < begin_.size(); ++i) {
        const Vec3 way = h * begin_[i].velocity;
        end_[i] = {begin_[i].position + way, begin_[i].velocity, begin_[i].angular_velocity};
        swept_[i] = {shapes_.bounds[i].lo + way, shapes_.bounds[i].hi + way};
    }
    sweep();
    pair_up(touching);
    double longest = h;
    for (size_t k = 0; k < gaps_.size(); ++k) {
        const ShapePair& pair = near_.list()[k];
        const double way = gaps_[k].speed * h, far = stride(set_, pair.a, pair.b);
        if (!gaps_[k].looked_at || way <= far) continue;
        const double gap = measure(pair, way);
        if (gap > kTouching * set_.size(pair.a, pair.b) && gap < way) longest = std::min(longest, h * far / way);
    }
    return longest;
}

// Between the ends of a step the origin of a shape leaves the chord by a part of h |Δv|, and no point of it is farther
// than h |ω| R / 2 from where it would be without turning.
void ContactSweep::sweep() {
    const double h = finish_ - at_;
    for (size_t i = 0; i < swept_.size(); ++i) {
        const double spin = std::max(norm(begin_[i].angular_velocity), norm(end_[i].angular_velocity));
        const double turning = spin > 0.0 ? spin * set_.shapes[i].shape->reach_out : 0.0;
        swept_[i].add(shapes_.bounds[i]);
        swept_[i] = swept_[i].grown(0.5 * h * (kWidened * norm(end_[i].velocity - begin_[i].velocity) + turning));
    }
}

double ContactSweep::finest(const ShapePair& pair) const {
    return std::min(kFinest * set_.size(pair.a, pair.b), kFinestPart * stride(set_, pair.a, pair.b));
}

double ContactSweep::size(const ShapePair& pair) const {
    return std::min(set_.shapes[pair.a].shape->reach_out, set_.shapes[pair.b].shape->reach_out);
}

double ContactSweep::closing_speed(const ShapePair& pair, const std::vector<Motion>& motions) const {
    const bool smaller = set_.shapes[pair.a].shape->reach_out <= set_.shapes[pair.b].shape->reach_out;
    const Motion &a = motions[smaller ? pair.a : pair.b], &b = motions[smaller ? pair.b : pair.a];
    const Vec3 v = a.velocity - b.velocity - cross(b.angular_velocity, a.position - b.position);
    return norm(v) + norm(a.angular_velocity - b.angular_velocity) * size(pair);
}

void ContactSweep::pass(double time) {
    for (Gap& gap : gaps_) gap.least = std::max(0.0, gap.least - gap.speed * time);
}

double ContactSweep::measure(const ShapePair& pair, double reach) {
    collide(*set_.shapes[pair.a].shape, shapes_.poses[pair.a], *set_.shapes[pair.b].shape, shapes_.poses[pair.b], reach,
            manifold_);
    return std::clamp(least_gap(manifold_), 0.0, reach);
}

double ContactSweep::apart_until(double t, const double* poses) {
    pass(t - at_);
    at_ = t;
    double until = finish_;
    bool placed = false;
    for (size_t k = 0; k < gaps_.size(); ++k) {
        const ShapePair& pair = near_.list()[k];
        Gap& gap = gaps_[k];
        const double way = gap.speed * (finish_ - t), fine = finest(pair);
        if (!gap.looked_at || std::max(gap.least, fine) >= way) continue;
        if (!placed) shapes_.place(set_, poses), placed = true;
        gap.least = measure(pair, std::min(kAhead * way, size(pair)));
        until = std::min(until, t + std::max(gap.least, fine) / gap.speed);
    }
    return until;
}

}  // namespace bellcrank
