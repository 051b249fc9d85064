#include "assembly/carried_chart.hpp"

#include <algorithm>
#include <cmath>

#include "model/topology.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kStraight = 1e-4;  // rad, below which a screw motion is summed by its series

// Where a point goes that moves with velocity v in axes that turn by φ meanwhile, in the axes at the start:
//   V v = v + B φ×v + C φ×(φ×v),  B = (1 − cos|φ|)/|φ|²,  C = (|φ| − sin|φ|)/|φ|³.
Vec3 along_screw(const Vec3& phi, const Vec3& v) {
    const double square = dot(phi, phi), angle = std::sqrt(square);
    const double b = angle < kStraight ? 0.5 - square / 24.0 : (1.0 - std::cos(angle)) / square;
    const double c = angle < kStraight ? 1.0 / 6.0 - square / 120.0 : (angle - std::sin(angle)) / (square * angle);
    const Vec3 once = cross(phi, v);
    return v + b * once + c * cross(phi, once);
}

}  // namespace

CarriedChart::CarriedChart(const Model& model, const ConstraintRows& rows)
    : bodies_(model.bodies()), parent_(model.bodies(), -1) {
    std::vector<std::pair<int, Ends>> links;
    for (const BlockLayout& block : rows.blocks()) {
        const std::vector<int> bodies = model.bodies_of(block.block);
        if (bodies.size() == 2) links.push_back({block.size, {bodies[0], bodies[1]}});
    }
    std::stable_sort(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    DisjointSets joined(bodies_ + 1);
    std::vector<Ends> tree;
    for (const auto& [size, ends] : links)
        if (joined.join(ends.first, ends.second)) tree.push_back(ends);
    const Topology topology(bodies_ + 1, std::move(tree));
    for (const int node : topology.order) {
        if (node == bodies_) continue;
        order_.push_back(node);
        parent_[node] = topology.parent[node];
    }
}

// The displacement that a body takes from the one that carries it.
CarriedChart::Relative CarriedChart::taken_along(const double* x, const double* twist, int b) const {
    const int p = parent_[b];
    if (p < 0) return {};
    const Vec3 turn = rotation_matrix(pose_rotation(x, p)) * twist_angular(twist, p);
    const Vec3 arm = pose_position(x, b) - pose_position(x, p);
    return {twist_linear(twist, p) + cross(turn, arm), transpose_times(rotation_matrix(pose_rotation(x, b)), turn)};
}

void CarriedChart::carry(const double* x, double* twist) const {
    for (const int b : order_) {
        const Relative c = taken_along(x, twist, b);
        add(twist + kTwist * b, c.velocity);
        add(twist + kTwist * b + 4, c.spin);
    }
}

CarriedChart::Extent CarriedChart::extent(const double* x, const double* twist) const {
    Extent most;
    for (const int b : order_) {
        const Relative c = taken_along(x, twist, b);
        most.turn = std::max(most.turn, norm(twist_angular(twist, b) - c.spin));
        most.shift = std::max(most.shift, norm(twist_linear(twist, b) - c.velocity));
    }
    return most;
}

void CarriedChart::move(const double* x, const double* twist, double* out) const {
    std::copy_n(x + kPose * bodies_, kPose, out + kPose * bodies_);
    for (const int b : order_) {
        const Quat q = pose_rotation(x, b);
        Vec3 velocity = twist_linear(twist, b), spin = twist_angular(twist, b), place = pose_position(x, b);
        const Mat3 R = rotation_matrix(q);
        Quat carried = q;
        if (const int p = parent_[b]; p >= 0) {
            const Quat before = pose_rotation(x, p), after = pose_rotation(out, p);
            const Vec3 arm = place - pose_position(x, p);
            const Relative c = taken_along(x, twist, b);
            velocity = velocity - c.velocity;
            spin = spin - c.spin;
            const Quat moved = after * conjugate(before);
            carried = moved * q;
            place = pose_position(out, p) + rotation_matrix(moved) * arm;
        }
        place += rotation_matrix(carried) * along_screw(spin, transpose_times(R, velocity));
        double* o = out + kPose * b;
        store(o, place);
        o[3] = 0.0;
        store(o + 4, normalized(carried * quaternion_exp(spin)));
    }
}

}  // namespace bellcrank
