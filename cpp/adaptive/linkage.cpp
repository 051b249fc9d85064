#include "adaptive/linkage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "model/branches.hpp"
#include "model/whole_turns.hpp"
#include "spatial/body_state.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kJoinRounding = 128.0 * std::numeric_limits<double>::epsilon();

// Rows of one coordinate of the tree's joints give its motion, the first of each coordinate; links are those of joints
// here. Others are left.
std::vector<GivenMotion> given_in(const Model& model, const JointTree& tree, std::vector<int>& left) {
    std::vector<GivenMotion> found;
    std::map<int, int> joint_of;  // by pair
    for (size_t j = 0; j < tree.joints.size(); ++j)
        if (tree.joints[j].pair >= 0) joint_of[tree.joints[j].pair] = static_cast<int>(j);
    std::set<std::pair<int, int>> taken;
    for (const int number : tree.closing_rows) {
        const Row& row = model.rows[number];
        const bool single = row.term_end == row.term_begin + 1 && model.terms[row.term_begin].coefficient != 0.0;
        const auto joint =
            single ? joint_of.find(model.coordinates[model.terms[row.term_begin].coordinate].pair) : joint_of.end();
        int own = -1;
        if (joint != joint_of.end() && !model.blocks[model.block_of(number)].of_velocity)
            own = JointMotion::own_coordinate(tree.joints[joint->second],
                                              model.coordinates[model.terms[row.term_begin].coordinate]);
        if (own < 0 || !taken.insert({joint->second, own}).second)
            left.push_back(number);
        else
            found.push_back(
                {number, joint->second, own, row.function, model.terms[row.term_begin].coefficient, row.constant});
    }
    return found;
}

std::vector<Obstacle> obstacles_in(const Model& model, const JointTree& tree, bool moves) {
    std::vector<Obstacle> found;
    std::vector<int> left;
    if (moves)
        given_in(model, tree, left);
    else
        left = tree.closing_rows;
    for (const int row : moves ? std::vector<int>() : left)
        found.push_back({"it takes trees of joints, and rows of loops, drives or constraints would be left",
                         Obstacle::Of::row, row});
    for (const int row : moves ? std::vector<int>() : tree.stops)
        found.push_back({"it takes no stops", Obstacle::Of::row, row});
    for (const int block : tree.inertances)
        found.push_back({"it takes no rotors of geared motors", Obstacle::Of::block, block});
    return found;
}

std::vector<int> parents_of(const JointTree& joints) {
    std::vector<int> parents;
    for (const TreeJoint& joint : joints.joints) parents.push_back(joint.above);
    return parents;
}

JointTree checked_tree(const Model& model, bool moves) {
    if (model.bodies() == 0) throw std::invalid_argument("there is no body");
    JointTree tree = joint_tree(model);
    const std::vector<Obstacle> obstacles = obstacles_in(model, tree, moves);
    if (!obstacles.empty()) throw std::invalid_argument(text_of(obstacles));
    return tree;
}

}  // namespace

std::string text_of(const std::vector<Obstacle>& obstacles) {
    std::string text;
    for (const Obstacle& obstacle : obstacles)
        if (text.find(obstacle.why) == std::string::npos) text += (text.empty() ? "" : "; ") + obstacle.why;
    return text;
}

std::vector<Obstacle> Linkage::obstacles(const Model& model, bool moves) {
    if (model.bodies() == 0) return {{"there is no body"}};
    return obstacles_in(model, joint_tree(model), moves);
}

FunctionValue GivenMotion::at(const Model& model, double t) const {
    FunctionValue value{0.0, 0.0, 0.0};
    if (function >= 0) value = model.functions[function](t);
    return {(value.f + constant) / factor, value.d1 / factor, value.d2 / factor};
}

Place Link::place(const double* q) const { return before * motion.place(q); }

Linkage::Linkage(const Model& model, TreeShape shape, bool moves) : Linkage(model, checked_tree(model, moves), shape) {}

Linkage::Linkage(const Model& model, const JointTree& joints, TreeShape shape)
    : link_of(model.bodies(), -1), tree(parents_of(joints), shape) {
    const std::vector<GivenMotion> motions = given_in(model, joints, closing_rows);
    std::vector<unsigned> is_given(joints.joints.size(), 0);
    for (const GivenMotion& motion : motions) is_given[motion.link] |= 1u << motion.coordinate;
    for (const int number : tree.given) {
        const TreeJoint& joint = joints.joints[number];
        const int body = joint.child;
        const Place principal = inverse(joint.behind);
        link_of[body] = static_cast<int>(links.size());
        const Vec3& moments = model.principal_inertia[body];
        links.push_back({body, -1, JointMotion(model, joint, is_given[number]), joint.before, principal,
                         matrix6(rigid_inertia(model.mass[body], moments, principal)), model.mass[body], moments,
                         joint.pair < 0, coordinates, freedoms});
        coordinates += links.back().motion.coordinates();
        freedoms += links.back().motion.freedoms();
    }
    for (Link& link : links) {
        const TreeJoint& joint = link.motion.joint();
        if (joint.above < 0) continue;
        link.parent = link_of[joint.parent];
        link.before = links[link.parent].principal * link.before;
    }
    for (GivenMotion motion : motions) {
        motion.link = link_of[joints.joints[motion.link].child];
        given.push_back(motion);
    }
    std::stable_sort(given.begin(), given.end(),
                     [](const GivenMotion& a, const GivenMotion& b) { return a.link < b.link; });
    measure(model);
}

// The largest values are those of points fixed to the bodies; a slide adds the way that it has gone to an arm.
void Linkage::measure(const Model& model) {
    const auto at = [&](const Link& link, const Vec3& point) {
        const Vec3 c = transpose_times(link.principal.rotation, point - link.principal.shift);
        const Vec3& J = model.principal_inertia[link.body];
        const double mass = model.mass[link.body], x = c.x * c.x, y = c.y * c.y, z = c.z * c.z;
        moving_ = std::max(moving_, 1.0 / mass + (y + z) / J.x + (x + z) / J.y + (x + y) / J.z);
        inertia_ = std::max(inertia_, std::max({J.x, J.y, J.z}) + mass * (x + y + z));
        turning_ = std::max(turning_, 1.0 / std::min({J.x, J.y, J.z}));
        mass_ = std::max(mass_, mass);
    };
    for (const Link& link : links) {
        at(link, {0, 0, 0});
        if (link.parent >= 0) at(links[link.parent], link.before.shift);
    }
}

Place Linkage::frame(int number, const double* poses) const {
    const Link& link = links[number];
    const Place principal{rotation_matrix(pose_rotation(poses, link.body)), pose_position(poses, link.body)};
    return principal * inverse(link.principal);
}

// Those of formulas are searched for from where the branches of the model have them.
void Linkage::read(const Model& model, const AngleBranches& branches, const double* poses, double* q) const {
    for (const Link& link : links) {
        if (!link.motion.is_formula()) continue;
        const auto near = search_start(model.formula_joints[link.motion.joint().formula], branches);
        std::copy_n(near.data(), link.motion.coordinates(), q + link.coordinate);
    }
    for (size_t i = 0; i < links.size(); ++i) {
        const Link& link = links[i];
        const Place before = link.parent < 0 ? link.before : frame(link.parent, poses) * link.before;
        link.motion.read(inverse(before) * frame(static_cast<int>(i), poses), q + link.coordinate);
    }
    // Angles were read without their whole turns, which springs and screws count.
    for (size_t number = 0; number < model.coordinates.size(); ++number) {
        int own = -1;
        if (!model.coordinates[number].kind->angular()) continue;
        const int link = link_along(model, static_cast<int>(number), &own);
        if (link < 0 || links[link].motion.is_formula()) continue;
        double& angle = q[links[link].coordinate + own];
        angle += kWholeTurn * std::round((branches.reference(static_cast<int>(number)) - angle) / kWholeTurn);
    }
}

int Linkage::link_along(const Model& model, int coordinate, int* own) const {
    const Coordinate& of = model.coordinates[coordinate];
    for (const int body : model.pairs[of.pair].body) {
        if (body == model.ground()) continue;
        const TreeJoint& joint = links[link_of[body]].motion.joint();
        if (joint.pair != of.pair) continue;
        *own = JointMotion::own_coordinate(joint, of);
        return *own < 0 ? -1 : link_of[body];
    }
    return -1;
}

Matrix6 Link::mobility() const {
    const Matrix6 X = motion_transform(inverse(principal));
    const double inverse_inertia[6] = {1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z,
                                       1.0 / mass,      1.0 / mass,      1.0 / mass};
    Matrix6 half, out;
    for (int j = 0; j < 6; ++j) half.set_column(j, inverse_inertia[j] * X.column(j));
    product(half, transpose(X), out);
    return out;
}

double Linkage::rounding(double reach) const {
    const double square = reach * reach;
    const double spread = std::max((moving_ + square * turning_) * mass_, turning_ * (inertia_ + square * mass_));
    return kJoinRounding * spread;
}

}  // namespace bellcrank
