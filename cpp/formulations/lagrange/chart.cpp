// The configuration manifold: charts about a configuration, and the branches of angles.
#include <algorithm>
#include <cmath>

#include "formulations/lagrange.hpp"
#include "model/breaks.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kLongestTurn = 3.0;  // of a body in a step [rad]; a chart reaches to half a turn
constexpr double kFollowed = 1.0;     // rad

void store_record(double* r, const Vec3& linear, const Vec3& angular) {
    r[0] = linear.x, r[1] = linear.y, r[2] = linear.z, r[3] = 0.0;
    r[4] = angular.x, r[5] = angular.y, r[6] = angular.z, r[7] = 0.0;
}

// A body's pose moved along a displacement; out may be the pose.
void advance_one(const double* pose, const double* displacement, double* out) {
    const Vec3 phi = twist_angular(displacement, 0);
    const Quat q = advanced(pose_rotation(pose, 0), phi);
    for (int k = 0; k < 3; ++k) out[k] = pose[k] + displacement[k];
    out[3] = 0.0;
    out[4] = q.w, out[5] = q.x, out[6] = q.y, out[7] = q.z;
}

// The same for several bodies that follow one another, side by side; false if one turns too far for it.
bool advance_several(const double* poses, const double* displacements, double* out) {
    const double *rotation[kLanes], *turn[kLanes];
    for (int l = 0; l < kLanes; ++l) rotation[l] = poses + kPose * l + 4, turn[l] = displacements + kTwist * l + 4;
    Lane q[4], phi[4];
    gather4(rotation, q);
    gather4(turn, phi);
    const Vec3T<Lane> vector{phi[0], phi[1], phi[2]};
    const Lane angle = dot(vector, vector);
    for (int l = 0; l < kLanes; ++l)
        if (!(lane_get(angle, l) < kSeriesReach)) return false;
    const QuatT<Lane> turned = advanced_by_series(QuatT<Lane>{q[0], q[1], q[2], q[3]}, vector);
    double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        for (int k = 0; k < 4; ++k) out[kPose * l + k] = poses[kPose * l + k] + displacements[kTwist * l + k];
        place[l] = out + kPose * l + 4;
    }
    const Lane components[4] = {turned.w, turned.x, turned.y, turned.z};
    scatter4(components, place);
    return true;
}

}  // namespace

void Lagrange::retract(const double* x0, const double* xi, double* out) const {
    const int bodies = model_->bodies();
    int b = 0;
    for (; b + kLanes <= bodies; b += kLanes)
        if (!advance_several(x0 + kPose * b, xi + kTwist * b, out + kPose * b))
            for (int l = b; l < b + kLanes; ++l) advance_one(x0 + kPose * l, xi + kTwist * l, out + kPose * l);
    for (; b < bodies; ++b) advance_one(x0 + kPose * b, xi + kTwist * b, out + kPose * b);
    if (out != x0) std::copy_n(x0 + kPose * model_->ground(), kPose, out + kPose * model_->ground());
}

void Lagrange::chart_rate(const double* xi, const double* u, double* rate) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(rate + kTwist * b, twist_linear(u, b),
                     rotation_vector_rate(twist_angular(xi, b), twist_angular(u, b)));
}

void Lagrange::chart_velocity(const double* xi, const double* rate, double* u) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(u + kTwist * b, twist_linear(rate, b),
                     angular_velocity(twist_angular(xi, b), twist_angular(rate, b)));
}

void Lagrange::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(
            out + kTwist * b, twist_linear(udot, b),
            rotation_vector_acceleration(twist_angular(xi, b), twist_angular(rate, b), twist_angular(udot, b)));
}

void Lagrange::break_times(double from, double to, std::vector<double>& out) const {
    append_break_times(*model_, from, to, out);
}

void Lagrange::reset_angles(double t) { branches_ = AngleBranches(*model_, t); }

void Lagrange::set_angles(const double* x, const double* values) {
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) branches_.set(i, values[i]);
    follow_angles(x);
}

void Lagrange::follow_angles(const double* x) {
    remembered_ = false;
    std::fill(step_.begin(), step_.end(), 0.0);
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (model_->coordinates[i].followed()) follow_angle(i, x);
}

void Lagrange::follow_angle(int coordinate, const double* x) {
    branches_.set(coordinate, coordinate_motion(*model_, branches_, coordinate, x, step_.data()).value);
}

// Angles between bodies need following only once a joint may have turned by about a radian, which a step may double;
// relative rotations are at most twice the fastest body's. Directions to a point that moves are followed always.
void Lagrange::commit(double t, const double* x, const double* u) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    traveled_ += 2.0 * std::sqrt(fastest) * std::abs(t - followed_at_);
    followed_at_ = t;
    if (!drifting_.empty()) std::fill(step_.begin(), step_.end(), 0.0);
    for (int i : drifting_) follow_angle(i, x);
    if (traveled_ >= kFollowed) {
        follow_angles(x);
        traveled_ = 0.0;
    }
    if (!stops_.empty()) remember_stops(t, x, u);
}

// One radian by the speeds at the start leaves room for what they grow by within the step. A direction to a point that
// passes close by may turn at any rate; there the step is not cut without end.
double Lagrange::longest_step(const double* x, const double* u, double h) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    h = std::min(h, kLongestTurn / std::max(std::sqrt(fastest), 1e-300));
    if (2.0 * std::sqrt(fastest) * h <= 1.0 && drifting_.empty()) return h;
    double rate = 0.0;
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) {
        if (!model_->coordinates[i].kind->angular) continue;
        rate = std::max(rate, std::abs(coordinate_motion(*model_, branches_, i, x, u).rate));
    }
    return rate * h > 1.0 ? std::max(1.0 / rate, 1e-3 * h) : h;
}

}  // namespace bellcrank
