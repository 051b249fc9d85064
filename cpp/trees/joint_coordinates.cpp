#include "trees/joint_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/topology.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "spatial/swing.hpp"

namespace bellcrank {

namespace {

int number_of(const JointMap& map, const JointPart& part) {
    switch (part.kind) {
        case JointPart::Kind::slide:
            return map.slide[part.number];
        case JointPart::Kind::turn:
            return map.turn[part.number];
        case JointPart::Kind::own:
            return map.own[part.number];
        default:
            return -1;
    }
}

// Motion of marker 2 seen from marker 1; of a body that hangs on nothing, its own.
RelativeMotion motion_of(const Model& model, const JointMap& map, const double* poses, const double* twists) {
    if (map.joint.pair >= 0) return relative_motion(model.pairs[map.joint.pair], poses, twists, nullptr);
    const int b = map.joint.child;
    const Quat q = pose_rotation(poses, b);
    return {pose_position(poses, b), q * map.followed, twist_linear(twists, b),
            rotation_matrix(q) * twist_angular(twists, b)};
}

void read_slides(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    for (int i = 0; i < 3; ++i) {
        if (map.slide[i] < 0) continue;
        x[map.slide[i]] = component(m.r, i);
        u[map.slide_speed[i]] = component(m.rdot, i);
    }
}

void read_turn(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    if (map.turn[0] < 0) return;
    const int axis = axis_of(map.joint.turning);
    const double angle = 2.0 * std::atan2(component({m.q.x, m.q.y, m.q.z}, axis), m.q.w);
    x[map.turn[0]] = std::remainder(angle, 2.0 * M_PI);
    u[map.turn_speed[0]] = component(m.omega, axis);
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

// Seen from the link before the joint, in the axes of its marker.
void read_swing(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const bool back = map.joint.reversed;
    const Quat across = back ? conjugate(m.q) : m.q;
    const Vec3 w = back ? -(rotation_matrix(across) * m.omega) : m.omega;
    const Quat shaft = shaft_of(across, axis_of(map.joint.turning));
    store(x + map.swing, shaft);
    shaft_speeds(shaft, axis_of(map.joint.turning), w, u + map.swing_speed);
}

void read_ball(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    const bool back = map.joint.reversed;
    const Quat across = back ? conjugate(m.q) : m.q;  // the marker behind the joint → the one before it
    // Seen from marker 1 in its axes; in those of the marker behind: Rᵀ ω, or −ω if marker 1 itself lies behind.
    const Vec3 w = back ? -m.omega : transpose_times(rotation_matrix(m.q), m.omega);
    store(x + map.ball, normalized(conjugate(map.before) * across * map.after));
    store(u + map.ball_speed, transpose_times(rotation_matrix(map.after), w));
}

void read_turning(const JointMap& map, const RelativeMotion& m, double* x, double* u) {
    switch (map.joint.turning) {
        case Turning::none:
            return;
        case Turning::about_x:
        case Turning::about_y:
        case Turning::about_z:
            return read_turn(map, m, x, u);
        case Turning::universal:
            return read_universal(map, m, x, u);
        case Turning::ball:
            return read_ball(map, m, x, u);
        default:
            return read_swing(map, m, x, u);
    }
}

}  // namespace

void enter(const JointStep& step, int coordinate, int speed, JointMap& map) {
    switch (step.motion) {
        case Motion::slide:
            map.slide[step.axis] = coordinate;
            map.slide_speed[step.axis] = speed;
            break;
        case Motion::turn:
        case Motion::screw:
            map.turn[step.number] = coordinate;
            map.turn_speed[step.number] = speed;
            break;
        case Motion::ball:
            map.ball = coordinate;
            map.ball_speed = speed;
            break;
        case Motion::free:
            for (int i = 0; i < 3; ++i) enter({Motion::slide, i}, coordinate + i, speed + i, map);
            enter({Motion::ball}, coordinate + 3, speed + 3, map);
            break;
        case Motion::swing:
            map.swing = coordinate;
            map.swing_speed = speed;
            break;
        case Motion::general:
            map.own.push_back(coordinate);
            map.own_speed.push_back(speed);
            break;
    }
}

JointPart part_of(const TreeJoint& joint, const Coordinate& coordinate) {
    using enum JointPart::Kind;
    if (joint.formula >= 0) {
        const bool is_own = coordinate.kind == &kFormulaCoordinate && coordinate.formula() == joint.formula;
        return is_own ? JointPart{own, coordinate.component()} : JointPart{};
    }
    if (joint.pair < 0 || joint.pair != coordinate.pair) return {};
    const std::string& kind = coordinate.kind->name;
    for (int i = 0; i < 3; ++i) {
        const std::string axis(1, "xyz"[i]);
        if (kind == axis) return {slide, i};
        const auto about = static_cast<Turning>(static_cast<int>(Turning::about_x) + i);
        if (joint.turning == about && kind == "theta_" + axis) return {turn, 0};
    }
    if (joint.turning == Turning::universal && kind == "universal_1") return {turn, 0};
    if (joint.turning == Turning::universal && kind == "universal_2") return {turn, 1};
    return {};
}

std::vector<int> model_coordinates(const Model& model, const std::vector<JointMap>& joints, int coordinates) {
    std::vector<int> out(coordinates, -1);
    const Lists joints_of(static_cast<int>(model.pairs.size()), [&](const auto& put) {
        for (size_t j = 0; j < joints.size(); ++j)
            if (joints[j].joint.pair >= 0) put(joints[j].joint.pair, static_cast<int>(j));
    });
    for (size_t c = 0; c < model.coordinates.size(); ++c)
        for (const int j : joints_of[model.coordinates[c].pair])
            if (const int own = number_of(joints[j], part_of(joints[j].joint, model.coordinates[c])); own >= 0)
                out[own] = static_cast<int>(c);
    return out;
}

JointCoordinates::JointCoordinates(const Model& model, std::vector<JointMap> joints, int coordinates, int speeds)
    : model_(model), joints_(std::move(joints)), speeds_(speeds), speed_of_(coordinates, -1) {
    const auto pair = [&](int coordinate, int speed) {
        if (coordinate >= 0) speed_of_[coordinate] = speed;
    };
    for (const JointMap& map : joints_) {
        for (int i = 0; i < 3; ++i) pair(map.slide[i], map.slide_speed[i]);
        for (int i = 0; i < 2; ++i) pair(map.turn[i], map.turn_speed[i]);
        for (size_t i = 0; i < map.own.size(); ++i) pair(map.own[i], map.own_speed[i]);
        if (map.swing >= 0) swings_.push_back({map.swing, map.swing_speed, axis_of(map.joint.turning)});
        if (map.ball < 0) continue;
        balls_.push_back(map.ball);
        ball_speeds_.push_back(map.ball_speed);
    }
    std::vector<bool> is_own(model.coordinates.size(), false);
    const std::vector<int> same = model_coordinates(model, joints_, coordinates);
    for (int i = 0; i < coordinates; ++i) {
        if (same[i] < 0) continue;
        is_own[same[i]] = true;
        if (model.coordinates[same[i]].kind->angular()) angles_.push_back({i, same[i]});
        if (model.coordinates[same[i]].of_formula()) formulas_.push_back({i, same[i]});
    }
    for (size_t c = 0; c < is_own.size(); ++c) {
        if (is_own[c] || !model.coordinates[c].followed()) continue;
        has_other_angles_ = true;
        if (model.coordinates[c].kind->angular()) other_angles_.push_back(static_cast<int>(c));
    }
}

bool JointCoordinates::turns(int speed) const {
    return std::any_of(joints_.begin(), joints_.end(), [&](const JointMap& map) {
        return map.turn_speed[0] == speed || map.turn_speed[1] == speed ||
               (map.swing >= 0 && speed >= map.swing_speed && speed < map.swing_speed + 2) ||
               (map.ball >= 0 && speed >= map.ball_speed && speed < map.ball_speed + 3);
    });
}

void JointCoordinates::read(const AngleBranches& branches, const double* poses, const double* twists, double* x,
                            double* u) const {
    for (const JointMap& map : joints_) {
        const RelativeMotion m = motion_of(model_, map, poses, twists);
        if (map.joint.formula >= 0) {
            read_formula(branches, map, m, x, u);
            continue;
        }
        read_slides(map, m, x, u);
        read_turning(map, m, x, u);
    }
}

void JointCoordinates::take_formula_angles(const AngleBranches& branches, double* x) const {
    for (const Same& value : formulas_)
        if (model_.coordinates[value.coordinate].followed()) x[value.own] = branches.reference(value.coordinate);
}

// Those that are nearest to where the search starts, and their rates g · (ṙ; ω).
void JointCoordinates::read_formula(const AngleBranches& branches, const JointMap& map, const RelativeMotion& m,
                                    double* x, double* u) const {
    const FormulaJoint& joint = model_.formula_joints[map.joint.formula];
    const ParametricJoint::Values& found = joint.joint.evaluate(m, search_start(joint, branches).data());
    for (size_t k = 0; k < map.own.size(); ++k) {
        x[map.own[k]] = found.free[k].value;
        u[map.own_speed[k]] = dot(found.free[k].dr, m.rdot) + dot(found.free[k].domega, m.omega);
    }
}

void JointCoordinates::continue_angles(const AngleBranches& branches, double* x) const {
    for (const Same& angle : angles_) x[angle.own] = branches.nearest(angle.coordinate, x[angle.own]);
}

void JointCoordinates::follow_angles(const double* x, AngleBranches& branches) const {
    for (const Same& angle : angles_) branches.set(angle.coordinate, x[angle.own]);
}

void JointCoordinates::follow_formulas(const double* x, AngleBranches& branches) const {
    for (const Same& value : formulas_) branches.set(value.coordinate, x[value.own]);
}

void JointCoordinates::retract(const double* x0, const double* xi, double* out) const {
    for (size_t i = 0; i < speed_of_.size(); ++i)
        if (speed_of_[i] >= 0) out[i] = x0[i] + xi[speed_of_[i]];
    for (size_t k = 0; k < balls_.size(); ++k)
        store(out + balls_[k], advanced(load_quaternion(x0 + balls_[k]), load(xi + ball_speeds_[k])));
    for (const Swing& s : swings_)
        store(out + s.coordinate, shaft_advanced(load_quaternion(x0 + s.coordinate), s.held, xi + s.speed));
}

void JointCoordinates::displacement(const double* x0, const double* x1, double* xi) const {
    for (size_t i = 0; i < speed_of_.size(); ++i)
        if (speed_of_[i] >= 0) xi[speed_of_[i]] = x1[i] - x0[i];
    for (size_t k = 0; k < balls_.size(); ++k)
        store(xi + ball_speeds_[k],
              quaternion_log(conjugate(load_quaternion(x0 + balls_[k])) * load_quaternion(x1 + balls_[k])));
    for (const Swing& s : swings_)
        shaft_displacement(load_quaternion(x0 + s.coordinate), s.held, load_quaternion(x1 + s.coordinate),
                           xi + s.speed);
}

void JointCoordinates::chart_rate(const double* xi, const double* u, double* rate) const {
    std::copy_n(u, speeds_, rate);
    for (const int k : ball_speeds_) store(rate + k, rotation_vector_rate(load(xi + k), load(u + k)));
    for (const Swing& s : swings_) shaft_chart_rate(xi + s.speed, u + s.speed, rate + s.speed);
}

void JointCoordinates::chart_velocity(const double* xi, const double* rate, double* u) const {
    std::copy_n(rate, speeds_, u);
    for (const int k : ball_speeds_) store(u + k, angular_velocity(load(xi + k), load(rate + k)));
    for (const Swing& s : swings_) shaft_chart_velocity(xi + s.speed, rate + s.speed, u + s.speed);
}

void JointCoordinates::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    std::copy_n(udot, speeds_, out);
    for (const int k : ball_speeds_)
        store(out + k, rotation_vector_acceleration(load(xi + k), load(rate + k), load(udot + k)));
    for (const Swing& s : swings_)
        shaft_chart_acceleration(xi + s.speed, rate + s.speed, udot + s.speed, out + s.speed);
}

void JointCoordinates::add_frame_rates(const double* xi, const double* u, double* udot) const {
    for (const Swing& s : swings_) add_chart_spin(xi + s.speed, u + s.speed, udot + s.speed);
}

void JointCoordinates::change_frames(const double* x0, const double* x1, int lanes, double* v) const {
    for (const Swing& s : swings_) {
        const double angle =
            spin_between(load_quaternion(x0 + s.coordinate), s.held, load_quaternion(x1 + s.coordinate));
        const double cosine = std::cos(angle), sine = std::sin(angle);
        double *first = v + lanes * s.speed, *second = first + lanes;
        for (int k = 0; k < lanes; ++k) {
            const double a = first[k], b = second[k];
            first[k] = cosine * a + sine * b;
            second[k] = cosine * b - sine * a;
        }
    }
}

// The axes of a ball are those of its link; a shaft spins in the chart, and with it all components.
void JointCoordinates::add_turning(const double* xi, const double* u, double sign, const double* dx, const double* du,
                                   int lanes, double* of_dx, double* of_du) const {
    for (const int ball : ball_speeds_) {
        const Vec3 w = sign * load(u + ball);
        const double* at = dx + lanes * ball;
        double* to = of_dx + lanes * ball;
        for (int k = 0; k < lanes; ++k) {
            const Vec3 turned = cross(w, Vec3{at[k], at[lanes + k], at[2 * lanes + k]});
            to[k] -= turned.x, to[lanes + k] -= turned.y, to[2 * lanes + k] -= turned.z;
        }
    }
    for (const Swing& s : swings_) {
        const double spin = sign * chart_spin(xi + s.speed, u + s.speed);
        for (int k = lanes * s.speed; k < lanes * (s.speed + 1); ++k) {
            of_dx[k] += spin * dx[lanes + k], of_dx[lanes + k] -= spin * dx[k];
            of_du[k] += spin * du[lanes + k], of_du[lanes + k] -= spin * du[k];
        }
    }
}

// Beside a shaft that turns with ½ σ, one that is displaced by ½ ξ without spin spins with ¼ σ × ξ.
void JointCoordinates::add_bending(const double* u, const double* dx, int lanes, double* of_du) const {
    for (const Swing& s : swings_) {
        const double first = u[s.speed], second = u[s.speed + 1];
        for (int k = lanes * s.speed; k < lanes * (s.speed + 1); ++k) {
            const double spin = 0.25 * (first * dx[lanes + k] - second * dx[k]);
            of_du[k] += spin * second, of_du[lanes + k] -= spin * first;
        }
    }
}

// Flat coordinates are integrals of polynomials.
void JointCoordinates::retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                                     double* out) const {
    const auto rate = [&](int j, int speed) { return h * velocity[static_cast<size_t>(j) * stride + speed]; };
    for (size_t i = 0; i < speed_of_.size(); ++i) {
        if (speed_of_[i] < 0) continue;
        double sum = 0.0;
        for (int j = degree; j >= 0; --j) sum += rate(j, speed_of_[i]) / (j + 1);
        out[i] = x0[i] + sum;
    }
    Vec3 omega[kMostRates];
    for (size_t k = 0; k < balls_.size(); ++k) {
        for (int j = 0; j <= degree; ++j) {
            const int speed = ball_speeds_[k];
            omega[j] = {rate(j, speed), rate(j, speed + 1), rate(j, speed + 2)};
        }
        store(out + balls_[k], advanced_along(load_quaternion(x0 + balls_[k]), omega, degree));
    }
    for (const Swing& s : swings_) {
        for (int j = 0; j <= degree; ++j) {
            double half[3] = {0, 0, 0};
            for (int i = 0; i < 2; ++i) half[axis_across(s.held, i)] = 0.5 * rate(j, s.speed + i);
            omega[j] = load(half);
        }
        store(out + s.coordinate, advanced_along(load_quaternion(x0 + s.coordinate), omega, degree));
    }
}

int JointCoordinates::first_non_finite_body(const double* x, const double* u) const {
    for (const JointMap& map : joints_) {
        double sum = 0.0;
        const auto add = [&](int coordinate, int speed) {
            if (coordinate >= 0) sum += x[coordinate] + u[speed];
        };
        for (int i = 0; i < 3; ++i) add(map.slide[i], map.slide_speed[i]);
        for (int i = 0; i < 2; ++i) add(map.turn[i], map.turn_speed[i]);
        for (size_t i = 0; i < map.own.size(); ++i) add(map.own[i], map.own_speed[i]);
        for (int k = 0; k < 4 && map.swing >= 0; ++k) sum += x[map.swing + k] + u[map.swing_speed + k / 2];
        for (int k = 0; k < 4 && map.ball >= 0; ++k) sum += x[map.ball + k];
        for (int k = 0; k < 3 && map.ball >= 0; ++k) sum += u[map.ball_speed + k];
        if (!std::isfinite(sum)) return map.joint.child;
    }
    return -1;
}

}  // namespace bellcrank
