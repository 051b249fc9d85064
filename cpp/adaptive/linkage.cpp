#include "adaptive/linkage.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "spatial/inertia.hpp"

namespace bellcrank {

namespace {

constexpr double kJoinRounding = 128.0 * std::numeric_limits<double>::epsilon();

Place marker_place(const Model& model, int pair, int side) {
    return {rotation_matrix(model.pairs[pair].rotation[side]), model.pairs[pair].offset[side]};
}

Place shifted_by(const TreeJoint& joint) {
    Place place;
    place.shift = {joint.held[0], joint.held[1], joint.held[2]};
    return place;
}

// About the origin of a frame in which the principal one lies at `place`, motions (ω; v): [J m[c]×; m[c]×ᵀ m 1].
Matrix6 spatial_inertia(double mass, const Vec3& moments, const Place& place) {
    const Mat3& R = place.rotation;
    const Mat3 principal{{moments.x, 0, 0, 0, moments.y, 0, 0, 0, moments.z}};
    const Mat3 J = inertia_about_point(R * principal * transpose(R), mass, place.shift);
    const Vec3 h = mass * place.shift;
    const double cross[9] = {0, -h.z, h.y, h.z, 0, -h.x, -h.y, h.x, 0};
    Matrix6 out{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            out.m[6 * j + i] = J.m[3 * i + j];
            out.m[6 * (j + 3) + i] = cross[3 * i + j];
            out.m[6 * i + j + 3] = cross[3 * i + j];
            out.m[6 * (j + 3) + i + 3] = i == j ? mass : 0.0;
        }
    return out;
}

std::vector<Obstacle> obstacles_in(const JointTree& tree) {
    std::vector<Obstacle> found;
    for (const int row : tree.closing_rows)
        found.push_back({"it takes trees of joints, and rows of loops, drives or constraints would be left",
                         Obstacle::Of::row, row});
    for (const int row : tree.stops) found.push_back({"it takes no stops", Obstacle::Of::row, row});
    for (const int block : tree.inertances)
        found.push_back({"it takes no rotors of geared motors", Obstacle::Of::block, block});
    for (const TreeJoint& joint : tree.joints) {
        const std::string why = JointMotion::refusal(joint);
        if (!why.empty()) found.push_back({"it takes no joint that " + why, Obstacle::Of::block, joint.block});
    }
    return found;
}

JointTree checked_tree(const Model& model) {
    if (model.bodies() == 0) throw std::invalid_argument("there is no body");
    JointTree tree = joint_tree(model);
    const std::vector<Obstacle> obstacles = obstacles_in(tree);
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

std::vector<Obstacle> Linkage::obstacles(const Model& model) {
    if (model.bodies() == 0) return {{"there is no body"}};
    return obstacles_in(joint_tree(model));
}

std::vector<int> Linkage::parents_of(const Model& model, const JointTree& joints) {
    std::vector<int> number(model.bodies() + 1, -1), parents;
    for (const TreeJoint& joint : joints.joints) {
        number[joint.child] = static_cast<int>(parents.size());
        parents.push_back(number[joint.parent]);
    }
    return parents;
}

Place Link::place(const double* q) const { return before * motion.place(q); }

Linkage::Linkage(const Model& model, TreeShape shape) : Linkage(model, checked_tree(model), shape) {}

Linkage::Linkage(const Model& model, const JointTree& joints, TreeShape shape)
    : link_of(model.bodies(), -1), tree(parents_of(model, joints), shape) {
    for (const int number : tree.given) {
        const TreeJoint& joint = joints.joints[number];
        link_of[joint.child] = static_cast<int>(links.size());
        links.push_back({joint.child,
                         -1,
                         JointMotion(joint),
                         joint,
                         {},
                         {},
                         {},
                         model.mass[joint.child],
                         model.principal_inertia[joint.child],
                         joint.pair < 0,
                         coordinates,
                         freedoms});
        Link& link = links.back();
        coordinates += link.motion.coordinates();
        freedoms += link.motion.freedoms();
        if (joint.pair >= 0) {
            Place own = marker_place(model, joint.pair, joint.reversed ? 0 : 1);
            if (joint.reversed) own = own * shifted_by(joint);
            link.principal = inverse(own);
        }
        link.inertia = spatial_inertia(link.mass, link.moments, link.principal);
    }
    for (Link& link : links) {
        const TreeJoint& joint = link.joint;
        if (joint.parent != model.ground()) link.parent = link_of[joint.parent];
        if (joint.pair < 0) continue;
        link.before = marker_place(model, joint.pair, joint.reversed ? 1 : 0);
        if (!joint.reversed) link.before = link.before * shifted_by(joint);
        if (link.parent >= 0) link.before = links[link.parent].principal * link.before;
    }
    measure(model);
}

// Of points fixed to the bodies; a slide adds the way that it has gone to an arm.
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
