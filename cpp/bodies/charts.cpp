// The configuration manifold: charts about a configuration, and the branches of angles.
#include <algorithm>
#include <cmath>

#include "bodies/bodies.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kLongestTurn = 3.0;      // of a body in a step [rad]; a chart reaches to half a turn
constexpr double kFollowed = 1.0;         // rad
constexpr double kLongSeriesReach = 4.0;  // rad², where the series of a rotation still lose no digit

// A body's pose moved along a displacement; out may be the pose.
void advance_one(const double* pose, const double* displacement, double* out) {
    const Vec3 phi = twist_angular(displacement, 0);
    const Quat q = advanced(pose_rotation(pose, 0), phi);
    for (int k = 0; k < 3; ++k) out[k] = pose[k] + displacement[k];
    out[3] = 0.0;
    out[4] = q.w, out[5] = q.x, out[6] = q.y, out[7] = q.z;
}

// The same for bodies side by side, as many as lanes and no more than there are: spare lanes repeat the last one. False
// if one turns too far for it.
bool advance_several(const double* poses, const double* displacements, int bodies, double* out) {
    const double *rotation[kLanes], *turn[kLanes];
    double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        const int body = std::min(l, bodies - 1);
        rotation[l] = poses + kPose * body + 4;
        turn[l] = displacements + kTwist * body + 4;
        place[l] = out + kPose * body + 4;
    }
    Lane q[4], phi[4];
    gather4(rotation, q);
    gather4(turn, phi);
    const Vec3T<Lane> vector{phi[0], phi[1], phi[2]};
    const QuatT<Lane> from{q[0], q[1], q[2], q[3]};
    const double square = largest(dot(vector, vector));
    if (!(square < kLongSeriesReach)) return false;
    const QuatT<Lane> to = square < kSeriesReach ? advanced_by_series(from, vector)
                                                 : renormalized(from * exp_of_half(broadcast(0.5) * vector));
    for (int l = 0; l < std::min(kLanes, bodies); ++l) {
        Quad moved = Quad::load(poses + kPose * l);
        moved.add_scaled(1.0, Quad::load(displacements + kTwist * l));
        moved.store(out + kPose * l);
    }
    const Lane components[4] = {to.w, to.x, to.y, to.z};
    scatter4(components, place);
    return true;
}

}  // namespace

void Bodies::retract(const double* x0, const double* xi, double* out) const {
    const int bodies = model_->bodies();
    for (int first = 0; first < bodies; first += kLanes) {
        const double *poses = x0 + kPose * first, *displacements = xi + kTwist * first;
        double* to = out + kPose * first;
        if (advance_several(poses, displacements, bodies - first, to)) continue;
        for (int l = 0; l < std::min(kLanes, bodies - first); ++l)
            advance_one(poses + kPose * l, displacements + kTwist * l, to + kPose * l);
    }
    if (out != x0) std::copy_n(x0 + kPose * model_->ground(), kPose, out + kPose * model_->ground());
}

void Bodies::chart_rate(const double* xi, const double* u, double* rate) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(rate, b, twist_linear(u, b), rotation_vector_rate(twist_angular(xi, b), twist_angular(u, b)));
}

void Bodies::chart_velocity(const double* xi, const double* rate, double* u) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(u, b, twist_linear(rate, b), angular_velocity(twist_angular(xi, b), twist_angular(rate, b)));
}

void Bodies::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_twist(out, b, twist_linear(udot, b),
                    rotation_vector_acceleration(twist_angular(xi, b), twist_angular(rate, b), twist_angular(udot, b)));
}

void Bodies::set_angles(double* x, const double* values) {
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) branches_.set(i, values[i]);
    branches_.recognize(*model_, x);
    follow_angles(x);
}

void Bodies::follow_angles(const double* x) {
    last_fastest_ = -1.0;
    branches_.follow(*model_, x);
}

// Angles between bodies need following only once a joint may have turned by about a radian, which a step may double;
// relative rotations are at most twice the fastest body's. Directions to a point that moves are followed always.
void Bodies::commit(double t, const double* x, const double* u) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    traveled_ += 2.0 * std::sqrt(fastest) * std::abs(t - followed_at_);
    followed_at_ = t;
    for (int i : drifting_) branches_.follow(*model_, i, x);
    if (traveled_ >= kFollowed) {
        follow_angles(x);
        traveled_ = 0.0;
    }
    if (!contacts_.empty()) contacts_.commit(x, u);
    last_fastest_ = std::sqrt(fastest);
}

// One radian by the speeds at the start leaves room for what they grow by within the step. A direction to a point that
// passes close by may turn at any rate; there the step is not cut without end.
double Bodies::longest_step(const double* x, const double* u, double h) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    h = std::min(h, kLongestTurn / std::max(std::sqrt(fastest), 1e-300));
    if (2.0 * std::sqrt(fastest) * h <= 1.0 && drifting_.empty()) return h;
    double rate = 0.0;
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) {
        if (!model_->coordinates[i].kind->angular()) continue;
        rate = std::max(rate, std::abs(coordinate_motion(*model_, branches_, i, x, u).rate));
    }
    return rate * h > 1.0 ? std::max(1.0 / rate, 1e-3 * h) : h;
}

}  // namespace bellcrank
