// Configurations of the recursive formulation: charts, and the way to body states and back.
#include <algorithm>
#include <cmath>

#include "formulations/recursive.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

using recursive::JointMap;

Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }
void store(double* p, const Vec3& v) {
    p[0] = v.x;
    p[1] = v.y;
    p[2] = v.z;
}
Quat quaternion(const double* p) { return {p[0], p[1], p[2], p[3]}; }
void store(double* p, const Quat& q) {
    p[0] = q.w;
    p[1] = q.x;
    p[2] = q.y;
    p[3] = q.z;
}
double component(const Vec3& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

// Motion of marker 2 seen from marker 1; of a body that hangs on nothing, its own.
RelativeMotion motion_of(const Model& model, const JointMap& map, const double* poses, const double* twists) {
    if (map.joint.pair >= 0) return relative_motion(model.pairs[map.joint.pair], poses, twists, nullptr);
    const int b = map.joint.child;
    const Quat q = pose_rotation(poses, b);
    return {pose_position(poses, b), q, twist_linear(twists, b), rotation_matrix(q) * twist_angular(twists, b)};
}

// R = Rot(x, a) Rot(y, b):  ω = ȧ x + ḃ (0, cos a, sin a).
void read_universal(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const Mat3 R = rotation_matrix(m.q);
    const double a = std::atan2(R.m[7], R.m[4]), b = std::atan2(R.m[2], R.m[0]);
    x[map.turn[0]] = a;
    x[map.turn[1]] = b;
    u[map.turn_speed[0]] = m.omega.x;
    u[map.turn_speed[1]] = std::cos(a) * m.omega.y + std::sin(a) * m.omega.z;
}

// s = 2 (e_i, e_j) with e0 > 0, and q̇ = ½ ω q.
void read_swing(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const int held = static_cast<int>(map.joint.turning) - static_cast<int>(Turning::swing_x);
    const Quat rate = Quat{0, m.omega.x, m.omega.y, m.omega.z} * m.q;
    const double sign = m.q.w < 0.0 ? -1.0 : 1.0;
    const Vec3 e{m.q.x, m.q.y, m.q.z}, edot{rate.x, rate.y, rate.z};
    for (int k = 0; k < 2; ++k) {
        x[map.turn[k]] = sign * 2.0 * component(e, (held + 1 + k) % 3);
        u[map.turn_speed[k]] = sign * component(edot, (held + 1 + k) % 3);
    }
}

// Those that are nearest to where the search starts, and their rates g · (ṙ; ω).
void read_formula(const Model& model, const AngleBranches& branches, const JointMap& map, const RelativeMotion& m,
                  double* x, double* u) {
    const FormulaJoint& joint = model.formula_joints[map.joint.formula];
    double near[ParametricJoint::kMaxCoordinates] = {};
    const int count = joint.joint.coordinates();
    for (int k = 0; k < count; ++k)
        near[k] = joint.coordinate[k] < 0 ? joint.start[k] : branches.reference(joint.coordinate[k]);
    const ParametricJoint::Values& found = joint.joint.evaluate(m, near);
    for (int k = 0; k < count; ++k) {
        x[map.own + k] = found.free[k].value;
        u[map.own_speed + k] = dot(found.free[k].dr, m.rdot) + dot(found.free[k].domega, m.omega);
    }
}

void read_ball(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const bool back = map.joint.reversed;
    store(x + map.ball, normalized(back ? conjugate(m.q) : m.q));
    store(u + map.ball_speed, back ? -m.omega : transpose_times(rotation_matrix(m.q), m.omega));
}

double twist_angle(const Quat& q, int axis) { return 2.0 * std::atan2(axis == 0 ? q.x : axis == 1 ? q.y : q.z, q.w); }

void read_turning(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    switch (map.joint.turning) {
        case Turning::none:
            return;
        case Turning::about_x:
        case Turning::about_y:
        case Turning::about_z: {
            const int axis = static_cast<int>(map.joint.turning) - static_cast<int>(Turning::about_x);
            x[map.turn[0]] = std::remainder(twist_angle(m.q, axis), 2.0 * M_PI);
            u[map.turn_speed[0]] = component(m.omega, axis);
            return;
        }
        case Turning::universal:
            return read_universal(map, m, x, u);
        case Turning::ball:
            return read_ball(map, m, x, u);
        default:
            return read_swing(map, m, x, u);
    }
}

}  // namespace

void Recursive::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                             double* u) {
    if (!continued) branches_ = AngleBranches(*model_, t);
    for (int b = 0; b < model_->bodies(); ++b) last_rotation_[b] = pose_rotation(poses, b);
    for (const JointMap& map : tree_.joints) {
        const RelativeMotion m = motion_of(*model_, map, poses, twists);
        if (map.joint.formula >= 0) {
            read_formula(*model_, branches_, map, m, x, u);
            continue;
        }
        for (int i = 0; i < 3; ++i) {
            if (map.slide[i] < 0) continue;
            x[map.slide[i]] = component(m.r, i);
            u[map.slide_speed[i]] = component(m.rdot, i);
        }
        read_turning(map, m, x, u);
    }
    for (size_t i = 0; i < turns_.size(); ++i)
        if (turns_[i] >= 0) x[i] = branches_.nearest(turns_[i], x[i]);
    followed_at_ = t;
    follow_angles(x);
}

void Recursive::set_angles(double* x, const double* values) {
    std::fill(step_.begin(), step_.end(), 0.0);
    to_records(followed_at_, x, step_.data(), poses_.data(), twists_.data());
    for (size_t i = 0; i < model_->coordinates.size(); ++i)
        if (model_->coordinates[i].followed()) branches_.set(static_cast<int>(i), values[i]);
    for (const JointMap& map : tree_.joints) {
        if (map.joint.formula < 0) continue;
        const RelativeMotion m = motion_of(*model_, map, poses_.data(), twists_.data());
        read_formula(*model_, branches_, map, m, x, step_.data());
    }
    for (size_t i = 0; i < turns_.size(); ++i)
        if (turns_[i] >= 0) x[i] = branches_.nearest(turns_[i], x[i]);
    follow_angles(x);
}

// Of q and −q the one that goes on from where the body was seen last.
Quat Recursive::nearest_sign(int body, const Quat& q) {
    Quat& last = last_rotation_[body];
    const bool flip = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0.0;
    return last = flip ? Quat{-q.w, -q.x, -q.y, -q.z} : q;
}

// Leaves frames and velocities in kinematics_.
void Recursive::go(double, const double* x, const double* u) {
    for (const auto& [own, coordinate] : formula_coordinates_) branches_.set(coordinate, x[own]);
    kinematics_.place(x, u);
    kinematics_.move(u);
}

void Recursive::to_records(double t, const double* x, const double* u, double* poses, double* twists) {
    go(t, x, u);
    kinematics_.write_poses(poses);
    kinematics_.write_twists(twists);
    for (int b = 0; b < model_->bodies(); ++b) store(poses + kPose * b + 4, nearest_sign(b, pose_rotation(poses, b)));
}

void Recursive::body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) {
    go(t, x, u);
    recursion_.accelerations(kinematics_, kinematics_.bias.data(), udot, link_accelerations_);
    kinematics_.write_accelerations(link_accelerations_.data(), records);
}

void Recursive::retract(const double* x0, const double* xi, double* out) const {
    for (size_t i = 0; i < tree_.speed_of.size(); ++i)
        if (tree_.speed_of[i] >= 0) out[i] = x0[i] + xi[tree_.speed_of[i]];
    for (size_t k = 0; k < balls_.size(); ++k)
        store(out + balls_[k], advanced(quaternion(x0 + balls_[k]), load(xi + ball_speeds_[k])));
}

void Recursive::chart_rate(const double* xi, const double* u, double* rate) const {
    std::copy_n(u, tangent_size(), rate);
    for (const int k : ball_speeds_) store(rate + k, rotation_vector_rate(load(xi + k), load(u + k)));
}

void Recursive::chart_velocity(const double* xi, const double* rate, double* u) const {
    std::copy_n(rate, tangent_size(), u);
    for (const int k : ball_speeds_) store(u + k, angular_velocity(load(xi + k), load(rate + k)));
}

void Recursive::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    std::copy_n(udot, tangent_size(), out);
    for (const int k : ball_speeds_)
        store(out + k, rotation_vector_acceleration(load(xi + k), load(rate + k), load(udot + k)));
}

// Angles that are coordinates of the tree count their turns themselves.
void Recursive::follow_angles(const double* x) {
    std::fill(step_.begin(), step_.end(), 0.0);
    to_records(followed_at_, x, step_.data(), poses_.data(), twists_.data());
    BodyCoordinate c;
    for (size_t i = 0; i < model_->coordinates.size(); ++i) {
        if (!model_->coordinates[i].followed()) continue;
        evaluate_coordinate(*model_, branches_, static_cast<int>(i), poses_.data(), twists_.data(), c);
        branches_.set(static_cast<int>(i), c.value);
    }
    for (size_t i = 0; i < turns_.size(); ++i)
        if (turns_[i] >= 0) branches_.set(turns_[i], x[i]);
}

void Recursive::commit(double t, const double* x, const double*) {
    followed_at_ = t;
    for (size_t i = 0; i < turns_.size(); ++i)
        if (turns_[i] >= 0) branches_.set(turns_[i], x[i]);
    if (has_other_angles_) follow_angles(x);
}

// As far as one radian of the fastest angle that is followed from step to step.
double Recursive::longest_step(const double* x, const double* u, double h) {
    if (!has_other_angles_) return h;
    to_records(followed_at_, x, u, poses_.data(), twists_.data());
    double rate = 0.0;
    BodyCoordinate c;
    for (size_t i = 0; i < model_->coordinates.size(); ++i) {
        if (!model_->coordinates[i].kind->angular) continue;
        evaluate_coordinate(*model_, branches_, static_cast<int>(i), poses_.data(), twists_.data(), c);
        rate = std::max(rate, std::abs(c.rate));
    }
    return rate * h > 1.0 ? std::max(1.0 / rate, 1e-3 * h) : h;
}

void Recursive::coordinates(double t, const double* x, const double* u, double* value, double* rate) {
    to_records(t, x, u, poses_.data(), twists_.data());
    BodyCoordinate c;
    for (size_t i = 0; i < model_->coordinates.size(); ++i) {
        evaluate_coordinate(*model_, branches_, static_cast<int>(i), poses_.data(), twists_.data(), c);
        value[i] = c.value;
        rate[i] = c.rate;
    }
}

Energy Recursive::energy_at(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    return energy(*model_, branches_, t, poses_.data(), twists_.data());
}

int Recursive::first_non_finite_body(const double* x, const double* u) const {
    for (const recursive::BodyPlace& place : tree_.bodies) {
        if (place.link < 0) continue;
        const recursive::Link& link = tree_.links[place.link];
        double sum = 0.0;
        for (int k = 0; k < link.speeds; ++k) sum += x[link.x + k] + u[link.u + k];
        if (!std::isfinite(sum)) return static_cast<int>(&place - tree_.bodies.data());
    }
    for (int i = 0; i < tree_.coordinates; ++i)
        if (!std::isfinite(x[i])) return 0;
    return -1;
}

}  // namespace bellcrank
