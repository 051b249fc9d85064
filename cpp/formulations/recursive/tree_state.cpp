#include "formulations/recursive/tree_state.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "spatial/swing.hpp"

namespace bellcrank::recursive {

namespace {

constexpr Vec3 kAxis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr Vec3 kZero{0, 0, 0};

void swing_frame(const Link& link, const double* x, JointFrame& out) {
    const Quat shaft{x[link.x], x[link.x + 1], x[link.x + 2], x[link.x + 3]};
    out.q = rotation_of_shaft(shaft, link.held, 0.0);
    const Mat3 F = rotation_matrix(shaft);
    for (int i = 0; i < 2; ++i) out.S[i] = {shaft_column(F, link.held, i), kZero};
}

}  // namespace

TreeState::TreeState(const Model& model, const LinkTree& t)
    : tree(t),
      rotation(t.links.size()),
      shift(t.links.size()),
      world(t.links.size()),
      position(t.links.size()),
      attitude(t.links.size()),
      velocity(t.links.size()),
      bias(t.links.size()),
      S(t.speeds),
      model_(model) {
    for (const Link& link : t.links) at_.push_back(quaternion_from_matrix(link.at.rotation));
    size_t inputs = 0, outputs = 0, work = 0;
    const Formulas& formulas = model.data().formulas;
    for (const JointFormula& joint : formulas.joints) {
        programs_.push_back(std::make_shared<CompiledProgram>(joint_program(formulas, joint)));
        inputs = std::max(inputs, static_cast<size_t>(programs_.back()->inputs()));
        outputs = std::max(outputs, static_cast<size_t>(programs_.back()->outputs()));
        work = std::max(work, programs_.back()->work_size());
    }
    in_.assign(inputs, 0.0);
    out_.assign(outputs, 0.0);
    work_.assign(work, 0.0);
}

void TreeState::frame_of(const Link& link, const double* x, const double* u, JointFrame& out) {
    out.q = {1, 0, 0, 0};
    out.shift = kZero;
    out.bias = {kZero, kZero};
    const double* q = x + link.x;
    switch (link.motion) {
        case Motion::turn:
        case Motion::screw: {
            const double half = 0.5 * (q[0] + link.offset);
            out.q = {std::cos(half), 0, 0, std::sin(half)};
            out.S[0] = {kAxis[2], link.lead * kAxis[2]};
            out.shift = link.lead * q[0] * kAxis[2];
            break;
        }
        case Motion::slide:
            out.shift = (q[0] + link.offset) * kAxis[2];
            out.S[0] = {kZero, kAxis[2]};
            break;
        case Motion::ball:
            out.q = {q[0], q[1], q[2], q[3]};
            for (int k = 0; k < 3; ++k) out.S[k] = {kAxis[k], kZero};
            break;
        case Motion::free: {
            out.shift = load(q);
            out.q = {q[3], q[4], q[5], q[6]};
            const Mat3 R = rotation_matrix(out.q);
            for (int k = 0; k < 3; ++k) {
                out.S[k] = {kZero, row(R, k)};
                out.S[3 + k] = {kAxis[k], kZero};
            }
            out.bias.v = -cross(load(u + link.u + 3), transpose_times(R, load(u + link.u)));
            break;
        }
        case Motion::swing:
            swing_frame(link, x, out);
            break;
        case Motion::general:
            formula_frame(link, x, u, out);
    }
}

void TreeState::formula_frame(const Link& link, const double* x, const double* u, JointFrame& out) {
    const int n = link.speeds;
    std::copy_n(x + link.x, n, in_.begin());
    std::copy_n(u + link.u, n, in_.begin() + n);
    const std::vector<double>& parameters = model_.data().formulas.values;
    std::copy(parameters.begin(), parameters.end(), in_.begin() + 2 * n);
    program(link).evaluate(in_.data(), out_.data(), work_.data());
    const FormulaFrameT<double> frame(out_.data(), u + link.u, n, link.reversed);
    out.q = quaternion_from_matrix(frame.rotation);
    out.shift = frame.shift;
    std::copy_n(frame.S, n, out.S);
    out.bias = frame.bias;
}

void TreeState::place(const double* x, const double* u) {
    JointFrame frame;
    for (size_t i = 0; i < tree.links.size(); ++i) {
        const Link& link = tree.links[i];
        frame_of(link, x, u, frame);
        const Quat q = at_[i] * frame.q;
        rotation[i] = link.at.rotation * rotation_matrix(frame.q);
        shift[i] = link.at.shift + link.at.rotation * frame.shift;
        bias[i] = frame.bias;
        for (int k = 0; k < link.speeds; ++k) S[link.u + k] = frame.S[k];
        if (link.parent < 0) {
            attitude[i] = renormalized(q);
            position[i] = shift[i];
        } else {
            attitude[i] = renormalized(attitude[link.parent] * q);
            position[i] = position[link.parent] + world[link.parent] * shift[i];
        }
        world[i] = rotation_matrix(attitude[i]);
    }
}

void TreeState::move(const double* u) {
    for (size_t i = 0; i < tree.links.size(); ++i) {
        const Link& link = tree.links[i];
        Twist own{kZero, kZero};
        for (int k = 0; k < link.speeds; ++k) own += u[link.u + k] * S[link.u + k];
        velocity[i] = own;
        if (link.parent >= 0) velocity[i] += inward(rotation[i], shift[i], velocity[link.parent]);
        bias[i] += cross(velocity[i], own);
    }
}

void TreeState::write_poses(double* poses) const {
    for (size_t b = 0; b < tree.bodies.size(); ++b) {
        const BodyPlace& place = tree.bodies[b];
        double* p = poses + kPose * b;
        const bool moves = place.link >= 0;
        store(p, moves ? position[place.link] + world[place.link] * place.at.shift : place.at.shift);
        p[3] = 0.0;
        store(p + 4, moves ? renormalized(attitude[place.link] * place.turn) : place.turn);
    }
}

void TreeState::write_motions(const Twist* links, double* records) const {
    for (size_t b = 0; b < tree.bodies.size(); ++b) {
        const BodyPlace& place = tree.bodies[b];
        const int body = static_cast<int>(b);
        if (place.link < 0) {
            store_twist(records, body, kZero, kZero);
            continue;
        }
        const Twist& v = links[place.link];
        store_twist(records, body, world[place.link] * (v.v + cross(v.w, place.at.shift)),
                    transpose_times(place.at.rotation, v.w));
    }
}

Vec3 TreeState::centripetal(int body) const {
    const BodyPlace& place = tree.bodies[body];
    if (place.link < 0) return kZero;
    const Twist& v = velocity[place.link];
    return world[place.link] * cross(v.w, v.v + cross(v.w, place.at.shift));
}

void TreeState::write_accelerations(const Twist* links, double* records) const {
    write_motions(links, records);
    for (size_t b = 0; b < tree.bodies.size(); ++b)
        if (tree.bodies[b].link >= 0) bellcrank::add(records + kTwist * b, centripetal(static_cast<int>(b)));
}

void TreeState::add_loads(const double* records, double sign, Load* links) const {
    for (size_t b = 0; b < tree.bodies.size(); ++b) {
        const BodyPlace& place = tree.bodies[b];
        if (place.link < 0) continue;
        const double* p = records + kTwist * b;
        const Vec3 f = transpose_times(world[place.link], load(p));
        links[place.link] += sign * Load{place.at.rotation * load(p + 4) + cross(place.at.shift, f), f};
    }
}

}  // namespace bellcrank::recursive
