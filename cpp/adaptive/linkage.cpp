#include "adaptive/linkage.hpp"

#include <stdexcept>

#include "spatial/inertia.hpp"

namespace bellcrank {

namespace {

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

std::string text_of(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return text;
}

std::vector<std::string> reasons_against(const JointTree& tree) {
    std::vector<std::string> reasons;
    if (!tree.closing_rows.empty())
        reasons.push_back("it takes trees of joints, and " + std::to_string(tree.closing_rows.size()) +
                          " rows of loops, drives or constraints would be left");
    if (!tree.stops.empty()) reasons.push_back("it takes no stops");
    if (!tree.inertances.empty()) reasons.push_back("it takes no rotors of geared motors");
    for (const TreeJoint& joint : tree.joints) {
        const std::string why = JointMotion::refusal(joint);
        if (!why.empty()) reasons.push_back("the joint of body " + std::to_string(joint.child) + ": " + why);
    }
    return reasons;
}

JointTree checked_tree(const Model& model) {
    if (model.bodies() == 0) throw std::invalid_argument("there is no body");
    JointTree tree = joint_tree(model);
    const std::vector<std::string> reasons = reasons_against(tree);
    if (!reasons.empty()) throw std::invalid_argument(text_of(reasons));
    return tree;
}

}  // namespace

std::vector<std::string> Linkage::refusals(const Model& model) {
    if (model.bodies() == 0) return {"there is no body"};
    return reasons_against(joint_tree(model));
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

Linkage::Linkage(const Model& model) : Linkage(model, checked_tree(model)) {}

Linkage::Linkage(const Model& model, const JointTree& joints)
    : link_of(model.bodies(), -1), tree(parents_of(model, joints)) {
    for (const int number : tree.given) {
        const TreeJoint& joint = joints.joints[number];
        link_of[joint.child] = static_cast<int>(links.size());
        links.push_back(
            {joint.child, -1, JointMotion(joint), joint, {}, {}, {}, joint.pair < 0, coordinates, freedoms});
        Link& link = links.back();
        coordinates += link.motion.coordinates();
        freedoms += link.motion.freedoms();
        if (joint.pair >= 0) {
            Place own = marker_place(model, joint.pair, joint.reversed ? 0 : 1);
            if (joint.reversed) own = own * shifted_by(joint);
            link.principal = inverse(own);
        }
        link.inertia = spatial_inertia(model.mass[link.body], model.principal_inertia[link.body], link.principal);
    }
    for (Link& link : links) {
        const TreeJoint& joint = link.joint;
        if (joint.parent != model.ground()) link.parent = link_of[joint.parent];
        if (joint.pair < 0) continue;
        link.before = marker_place(model, joint.pair, joint.reversed ? 1 : 0);
        if (!joint.reversed) link.before = link.before * shifted_by(joint);
        if (link.parent >= 0) link.before = links[link.parent].principal * link.before;
    }
}

}  // namespace bellcrank
