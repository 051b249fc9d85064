#include "formulations/recursive/links.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank::recursive {

namespace {

// A rotation whose z axis is the coordinate axis, or its opposite.
Mat3 z_to_axis(int axis, bool opposite) {
    const Mat3 turned[3] = {
        {{0, 0, 1, 1, 0, 0, 0, 1, 0}}, {{0, 1, 0, 0, 0, 1, 1, 0, 0}}, {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    return opposite ? turned[axis] * Mat3{{1, 0, 0, 0, -1, 0, 0, 0, -1}} : turned[axis];
}

bool is_single_turn(Turning turning) {
    return turning == Turning::about_x || turning == Turning::about_y || turning == Turning::about_z;
}
int axis_of(Turning turning) { return static_cast<int>(turning) - static_cast<int>(Turning::about_x); }

// Walks along the joints: `at` is the frame reached, in the frame of link `link`.
class Builder {
  public:
    Builder(const Model& model, LinkTree& tree) : model_(model), tree_(tree) {
        tree_.bodies.resize(model.bodies() + 1);
    }

    void add(const TreeJoint& joint) {
        tree_.joints.push_back({});
        map().joint = joint;
        map().rows = joint.rows;
        const BodyPlace& parent = tree_.bodies[joint.parent];
        link_ = parent.link;
        at_ = parent.at * marker(joint, joint.reversed ? 1 : 0);
        if (joint.pair < 0)
            free(joint);
        else if (joint.formula >= 0)
            formula(joint);
        else if (joint.reversed) {
            rotate(joint);
            translate(joint);
        } else {
            translate(joint);
            rotate(joint);
        }
        const Place behind = at_ * inverse(marker(joint, joint.reversed ? 0 : 1));
        tree_.bodies[joint.child] = {link_, behind, quaternion_from_matrix(behind.rotation)};
        add_mass(joint.child);
    }

  private:
    JointMap& map() { return tree_.joints.back(); }

    Place marker(const TreeJoint& joint, int side) const {
        if (joint.pair < 0) return {};
        const MarkerPair& pair = model_.pairs[joint.pair];
        return {rotation_matrix(pair.rotation[side]), pair.offset[side]};
    }

    Link& push(Motion motion, int coordinates, int speeds) {
        Link made;
        made.parent = link_;
        made.motion = motion;
        made.at = at_;
        made.x = tree_.coordinates;
        made.u = tree_.speeds;
        made.speeds = speeds;
        link_ = static_cast<int>(tree_.links.size());
        at_ = {};
        tree_.coordinates += coordinates;
        tree_.speeds += speeds;
        for (int i = 0; i < coordinates; ++i) tree_.speed_of.push_back(coordinates == speeds ? made.u + i : -1);
        tree_.links.push_back(made);
        return tree_.links.back();
    }

    Link& elementary(Motion motion, const TreeJoint& joint, int axis) {
        const Mat3 A = z_to_axis(axis, joint.reversed);
        at_.rotation = at_.rotation * A;
        Link& made = push(motion, 1, 1);
        at_.rotation = transpose(A);
        return made;
    }

    void translate(const TreeJoint& joint) {
        const double sign = joint.reversed ? -1.0 : 1.0;
        Vec3 held{joint.held[0], joint.held[1], joint.held[2]};
        at_.shift += at_.rotation * (sign * held);
        for (int i = 0; i < 3; ++i) {
            if (!joint.slides[i] || joint.screw_axis == i) continue;
            const Link& made = elementary(Motion::slide, joint, i);
            map().slide[i] = made.x;
            map().slide_speed[i] = made.u;
        }
    }

    void rotate(const TreeJoint& joint) {
        if (joint.turning == Turning::none) return;
        if (joint.turning == Turning::universal) {
            for (int k = 0; k < 2; ++k) {
                const int axis = joint.reversed ? 1 - k : k;
                note_turn(axis, elementary(Motion::turn, joint, axis));
            }
        } else if (is_single_turn(joint.turning)) {
            const int axis = axis_of(joint.turning);
            Link& made = elementary(joint.screw_axis >= 0 ? Motion::screw : Motion::turn, joint, axis);
            note_turn(0, made);
            if (joint.screw_axis < 0) return;
            made.lead = joint.advance;
            made.at.shift += made.at.rotation * Vec3{0, 0, joint.start};
        } else if (joint.turning == Turning::ball) {
            const Link& made = push(Motion::ball, 4, 3);
            map().ball = made.x;
            map().ball_speed = made.u;
        } else {
            Link& made = push(Motion::swing, 4, 2);
            made.held = static_cast<int>(joint.turning) - static_cast<int>(Turning::swing_x);
            map().swing = made.x;
            map().swing_speed = made.u;
        }
    }

    void note_turn(int which, const Link& made) {
        map().turn[which] = made.x;
        map().turn_speed[which] = made.u;
    }

    void free(const TreeJoint&) {
        const Link& made = push(Motion::free, 7, 6);
        for (int i = 0; i < 3; ++i) {
            map().slide[i] = made.x + i;
            map().slide_speed[i] = made.u + i;
            tree_.speed_of[made.x + i] = made.u + i;
        }
        map().ball = made.x + 3;
        map().ball_speed = made.u + 3;
    }

    void formula(const TreeJoint& joint) {
        const int count = model_.formula_joints[joint.formula].joint.coordinates();
        Link& made = push(Motion::formula, count, count);
        made.formula = joint.formula;
        made.reversed = joint.reversed;
        for (int i = 0; i < count; ++i) {
            map().own.push_back(made.x + i);
            map().own_speed.push_back(made.u + i);
        }
    }

    void add_mass(int body) {
        const BodyPlace& place = tree_.bodies[body];
        if (place.link < 0) return;
        Link& link = tree_.links[place.link];
        const Vec3& I = model_.principal_inertia[body];
        const Mat3& R = place.at.rotation;
        const Mat3 principal{{I.x, 0, 0, 0, I.y, 0, 0, 0, I.z}};
        const Mat3 J = inertia_about_point(R * principal * transpose(R), model_.mass[body], place.at.shift);
        link.mass += model_.mass[body];
        link.moment += model_.mass[body] * place.at.shift;
        const int entries[6] = {0, 4, 8, 1, 2, 5};
        for (int k = 0; k < 6; ++k) link.second[k] += J.m[entries[k]];
    }

    const Model& model_;
    LinkTree& tree_;
    int link_ = -1;
    Place at_;
};

// Rows that say of one turn or slide how it moves, and rotors that turn with one, need no multiplier.
void take_drives_and_rotors(const Model& model, const JointTree& joints, LinkTree& tree) {
    std::vector<int> own(model.coordinates.size(), -1), link_of(tree.coordinates, -1), joint_of(tree.coordinates, -1);
    for (size_t i = 0; i < tree.coordinate_of.size(); ++i)
        if (tree.coordinate_of[i] >= 0) own[tree.coordinate_of[i]] = static_cast<int>(i);
    for (size_t i = 0; i < tree.links.size(); ++i) {
        const Motion motion = tree.links[i].motion;
        if (motion == Motion::turn || motion == Motion::slide) link_of[tree.links[i].x] = static_cast<int>(i);
    }
    for (size_t j = 0; j < tree.joints.size(); ++j) {
        for (const int x : tree.joints[j].slide)
            if (x >= 0) joint_of[x] = static_cast<int>(j);
        for (const int x : tree.joints[j].turn)
            if (x >= 0) joint_of[x] = static_cast<int>(j);
    }
    const auto coordinate = [&](int row) {
        const Row& r = model.rows[row];
        return r.term_end == r.term_begin + 1 ? own[model.terms[r.term_begin].coordinate] : -1;
    };
    for (const int row : joints.closing_rows) {
        const int x = coordinate(row);
        const Row& r = model.rows[row];
        if (x < 0 || link_of[x] < 0 || tree.links[link_of[x]].given >= 0 ||
            model.terms[r.term_begin].coefficient == 0.0) {
            tree.closing_rows.push_back(row);
            continue;
        }
        tree.links[link_of[x]].given = static_cast<int>(tree.drives.size());
        tree.drives.push_back({row, link_of[x], r.function, model.terms[r.term_begin].coefficient, r.constant});
        tree.joints[joint_of[x]].rows.push_back(row);
    }
    for (const int b : joints.inertances)
        for (int row = model.blocks[b].row_begin; row < model.blocks[b].row_end; ++row) {
            const int x = coordinate(row);
            if (x < 0 || link_of[x] < 0) {
                tree.closing_rows.push_back(row);
                continue;
            }
            const double factor = model.terms[model.rows[row].term_begin].coefficient;
            tree.links[link_of[x]].rotor += factor * factor / model.blocks[b].compliance;
            tree.rotors.push_back({row, link_of[x], factor, model.blocks[b].compliance});
        }
    tree.stops = joints.stops.size();
    tree.closing_rows.insert(tree.closing_rows.end(), joints.stops.begin(), joints.stops.end());
}

}  // namespace

std::vector<std::string> refusals(const Model& model) {
    std::set<std::string> reasons;
    if (model.bodies() == 0) reasons.insert("there is no body");
    return {reasons.begin(), reasons.end()};
}

LinkTree make_links(const Model& model, const JointTree& joints) {
    LinkTree tree;
    Builder builder(model, tree);
    for (const TreeJoint& joint : joints.joints) builder.add(joint);
    tree.coordinate_of = model_coordinates(model, tree.joints, tree.coordinates);
    take_drives_and_rotors(model, joints, tree);
    return tree;
}

}  // namespace bellcrank::recursive
