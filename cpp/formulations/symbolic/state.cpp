// Configurations of the symbolic formulation: charts, and the way to body states and back.
#include <algorithm>
#include <cmath>

#include "formulations/symbolic/runner.hpp"
#include "model/breaks.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

using symbolic::JointMap;
using symbolic::Turning;

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
    const Quat followed = q * conjugate(model.principal_rotation[b]) * map.free;
    return {pose_position(poses, b), followed, twist_linear(twists, b), rotation_matrix(q) * twist_angular(twists, b)};
}

void read_slides(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    for (int i = 0; i < 3; ++i) {
        if (map.slide[i] < 0) continue;
        x[map.slide[i]] = component(m.r, i);
        u[map.slide_speed[i]] = component(m.rdot, i);
    }
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
    double near[ParametricJoint::kMaxCoordinates];
    for (size_t k = 0; k < map.own.size(); ++k)
        near[k] = joint.coordinate[k] < 0 ? joint.start[k] : branches.reference(joint.coordinate[k]);
    const ParametricJoint::Values& found = joint.joint.evaluate(m, near);
    for (size_t k = 0; k < map.own.size(); ++k) {
        x[map.own[k]] = found.free[k].value;
        u[map.own_speed[k]] = dot(found.free[k].dr, m.rdot) + dot(found.free[k].domega, m.omega);
    }
}

void read_ball(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const bool back = map.joint.reversed;
    const Quat across = back ? conjugate(m.q) : m.q;  // the marker behind the joint → the one before it
    // Seen from marker 1 in its axes; in those of the marker behind: Rᵀ ω, or −ω if marker 1 itself lies behind.
    const Vec3 w = back ? -m.omega : transpose_times(rotation_matrix(m.q), m.omega);
    store(x + map.ball, normalized(conjugate(map.before) * across * map.after));
    store(u + map.ball_speed, transpose_times(rotation_matrix(map.after), w));
}

double twist_angle(const Quat& q, int axis) { return 2.0 * std::atan2(axis == 0 ? q.x : axis == 1 ? q.y : q.z, q.w); }

}  // namespace

void Symbolic::from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) {
    if (!continued) branches_ = AngleBranches(*model_, t);
    for (int b = 0; b < model_->bodies(); ++b) last_rotation_[b] = pose_rotation(poses, b);
    for (const JointMap& map : equations_.mechanism.joints) {
        const RelativeMotion m = motion_of(*model_, map, poses, twists);
        if (map.joint.formula >= 0) {
            read_formula(*model_, branches_, map, m, x, u);
            continue;
        }
        read_slides(map, m, x, u);
        switch (map.joint.turning) {
            case Turning::none:
                break;
            case Turning::about_x:
            case Turning::about_y:
            case Turning::about_z: {
                const int axis = static_cast<int>(map.joint.turning) - static_cast<int>(Turning::about_x);
                if (map.turn[0] < 0) break;
                x[map.turn[0]] = std::remainder(twist_angle(m.q, axis), 2.0 * M_PI);
                u[map.turn_speed[0]] = component(m.omega, axis);
                break;
            }
            case Turning::universal:
                read_universal(map, m, x, u);
                break;
            case Turning::ball:
                read_ball(map, m, x, u);
                break;
            default:
                read_swing(map, m, x, u);
        }
    }
    for (size_t i = 0; i < turn_coordinates_.size(); ++i)
        if (turn_coordinates_[i] >= 0) x[i] = branches_.nearest(turn_coordinates_[i], x[i]);
    followed_at_ = t;
    follow_angles(x);
    measure_rows(t, poses);
}

// |J M^(−1/2)|² of the closing rows in terms of free bodies.
void Symbolic::measure_rows(double t, const double* poses) {
    if (equations_.is_free()) return;
    rows_.evaluate_jacobians(t, poses);
    std::vector<double> size(rows_.rows(), 0.0);
    for (const BlockLayout& b : rows_.blocks())
        for (const BlockSide& side : rows_.sides(b))
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (const double entry : row) size[b.row + r] += entry * entry;
            }
    for (size_t i = 0; i < equations_.rows.size(); ++i)
        closure_.natural[static_cast<Eigen::Index>(i)] = size[rows_.storage_row(equations_.rows[i])];
}

// Of q and −q the one that goes on from where the body was seen last.
Quat Symbolic::nearest_sign(int body, const Quat& q) {
    Quat& last = last_rotation_[body];
    const bool flip = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0.0;
    return last = flip ? Quat{-q.w, -q.x, -q.y, -q.z} : q;
}

void Symbolic::to_records(double t, const double* x, const double* u, double* poses, double* twists) {
    for (const auto& [own, coordinate] : formula_coordinates_) branches_.set(coordinate, x[own]);
    const double* out = run("bodies", t, x, u);
    for (int b = 0; b < model_->bodies(); ++b, out += 18) {
        double *p = poses + kPose * b, *v = twists + kTwist * b;
        Mat3 R;
        std::copy_n(out, 9, R.m);
        store(p, load(out + 9));
        p[3] = v[3] = v[7] = 0.0;
        const Quat& principal = model_->principal_rotation[b];
        store(p + 4, nearest_sign(b, normalized(quaternion_from_matrix(R) * principal)));
        store(v, load(out + 15));
        store(v + 4, transpose_times(rotation_matrix(principal), load(out + 12)));
    }
    double *p = poses + kPose * model_->ground(), *v = twists + kTwist * model_->ground();
    for (int k = 0; k < kPose; ++k) p[k] = k == 4 ? 1.0 : 0.0;
    std::fill_n(v, kTwist, 0.0);
}

void Symbolic::body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) {
    const double* out = run("body_rates", t, x, u, udot);
    for (int b = 0; b < model_->bodies(); ++b, out += 6) {
        double* r = records + kTwist * b;
        store(r, load(out + 3));
        store(r + 4, transpose_times(rotation_matrix(model_->principal_rotation[b]), load(out)));
        r[3] = r[7] = 0.0;
    }
    std::fill_n(records + kTwist * model_->ground(), kTwist, 0.0);
}

void Symbolic::retract(const double* x0, const double* xi, double* out) const {
    const auto& speed_of = equations_.symbols().speed_of;
    for (size_t i = 0; i < speed_of.size(); ++i)
        if (speed_of[i] >= 0) out[i] = x0[i] + xi[speed_of[i]];
    for (size_t k = 0; k < quaternions_.size(); ++k)
        store(out + quaternions_[k], advanced(quaternion(x0 + quaternions_[k]), load(xi + ball_speeds_[k])));
}

void Symbolic::chart_rate(const double* xi, const double* u, double* rate) const {
    std::copy_n(u, tangent_size(), rate);
    for (const int k : ball_speeds_) store(rate + k, rotation_vector_rate(load(xi + k), load(u + k)));
}

void Symbolic::chart_velocity(const double* xi, const double* rate, double* u) const {
    std::copy_n(rate, tangent_size(), u);
    for (const int k : ball_speeds_) store(u + k, angular_velocity(load(xi + k), load(rate + k)));
}

void Symbolic::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    std::copy_n(udot, tangent_size(), out);
    for (const int k : ball_speeds_)
        store(out + k, rotation_vector_acceleration(load(xi + k), load(rate + k), load(udot + k)));
}

bool Symbolic::turns(int component) const {
    for (const JointMap& map : equations_.mechanism.joints) {
        for (const int speed : map.turn_speed)
            if (speed == component) return true;
        if (map.ball >= 0 && component >= map.ball_speed && component < map.ball_speed + 3) return true;
    }
    return false;
}

void Symbolic::break_times(double from, double to, std::vector<double>& out) const {
    append_break_times(*model_, from, to, out);
}

void Symbolic::set_angles(double* x, const double* values) {
    to_records(followed_at_, x, speeds_.data(), poses_.data(), twists_.data());
    for (size_t i = 0; i < model_->coordinates.size(); ++i)
        if (model_->coordinates[i].followed()) branches_.set(static_cast<int>(i), values[i]);
    std::vector<double> rates(tangent_size());
    for (const JointMap& map : equations_.mechanism.joints) {
        if (map.joint.formula < 0) continue;
        const RelativeMotion m = motion_of(*model_, map, poses_.data(), twists_.data());
        read_formula(*model_, branches_, map, m, x, rates.data());
    }
    for (size_t i = 0; i < turn_coordinates_.size(); ++i)
        if (turn_coordinates_[i] >= 0) x[i] = branches_.nearest(turn_coordinates_[i], x[i]);
    follow_angles(x);
}

// Angles that are coordinates of the tree count their turns themselves.
void Symbolic::follow_angles(const double* x) {
    to_records(followed_at_, x, speeds_.data(), poses_.data(), twists_.data());
    BodyCoordinate c;
    for (size_t i = 0; i < model_->coordinates.size(); ++i) {
        if (!model_->coordinates[i].kind->angular) continue;
        evaluate_coordinate(*model_, branches_, static_cast<int>(i), poses_.data(), twists_.data(), c);
        branches_.set(static_cast<int>(i), c.value);
    }
    for (size_t i = 0; i < turn_coordinates_.size(); ++i)
        if (turn_coordinates_[i] >= 0) branches_.set(turn_coordinates_[i], x[i]);
}

void Symbolic::commit(double t, const double* x, const double*) {
    followed_at_ = t;
    for (size_t i = 0; i < turn_coordinates_.size(); ++i)
        if (turn_coordinates_[i] >= 0) branches_.set(turn_coordinates_[i], x[i]);
    if (has_other_angles_) follow_angles(x);
}

namespace {

constexpr double kLongestTurn = 2.0;  // of a joint in a step [rad], so that its turns are told apart within it

}  // namespace

// As far as one radian of the fastest angle that is followed from step to step.
double Symbolic::longest_step(const double* x, const double* u, double h) {
    for (size_t i = 0; i < turn_coordinates_.size(); ++i) {
        const int speed = turn_coordinates_[i] < 0 ? -1 : equations_.symbols().speed_of[i];
        if (speed >= 0 && std::abs(u[speed]) * h > kLongestTurn) h = kLongestTurn / std::abs(u[speed]);
    }
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

void Symbolic::coordinates(double t, const double* x, const double* u, double* value, double* rate) {
    to_records(t, x, u, poses_.data(), twists_.data());
    BodyCoordinate c;
    for (size_t i = 0; i < model_->coordinates.size(); ++i) {
        evaluate_coordinate(*model_, branches_, static_cast<int>(i), poses_.data(), twists_.data(), c);
        value[i] = c.value;
        rate[i] = c.rate;
    }
}

Energy Symbolic::energy_at(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    return energy(*model_, branches_, t, poses_.data(), twists_.data());
}

int Symbolic::first_non_finite_body(const double* x, const double* u) const {
    for (const JointMap& map : equations_.mechanism.joints) {
        double sum = 0.0;
        for (const int i : map.slide) sum += i < 0 ? 0.0 : x[i];
        for (const int i : map.turn) sum += i < 0 ? 0.0 : x[i];
        for (const int i : map.own) sum += x[i];
        for (const int i : map.own_speed) sum += u[i];
        for (const int i : map.slide_speed) sum += i < 0 ? 0.0 : u[i];
        for (const int i : map.turn_speed) sum += i < 0 ? 0.0 : u[i];
        for (int k = 0; k < 4 && map.ball >= 0; ++k) sum += x[map.ball + k];
        for (int k = 0; k < 3 && map.ball >= 0; ++k) sum += u[map.ball_speed + k];
        if (!std::isfinite(sum)) return map.joint.child;
    }
    return -1;
}

}  // namespace bellcrank
