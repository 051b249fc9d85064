// From the joints of a plan to links: each a product of elementary transforms.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "formulations/symbolic/factors.hpp"
#include "formulations/symbolic/mechanism.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank::symbolic {

// A rotation whose z axis is the coordinate axis: (x, y, z) → (z, x, y), or twice.
inline Mat3 z_to_axis(int axis) {
    if (axis == 0) return {{0, 0, 1, 1, 0, 0, 0, 1, 0}};
    if (axis == 1) return {{0, 1, 0, 0, 0, 1, 1, 0, 0}};
    return kSame;
}

// Walks along a joint: `at` is the frame reached, in the described frame of link `link`.
struct MechanismTree::Builder {
    MechanismTree& own;
    TreeDescription& description;
    std::vector<BodyPlace> described;  // per body, the ground last: its frame in its link's described frame
    bool whole;
    struct BallEnds {
        int joint, parent_link, link;
        Quat before, after;  // described frames
    };
    std::vector<BallEnds> balls;
    std::map<int, BodyPlace> turned_markers, turned_formula_markers;  // in described frames, by number

    int link = -1;
    Place at;

    void run() {
        described.assign(own.model.bodies() + 1, {-1, none()});
        for (const TreeJoint& joint : own.plan.joints) add(joint);
        add_turned_markers();
    }

    Place none() const { return {kSame, zero_vector(own.graph)}; }
    Place turned(const Mat3& rotation) const { return {rotation, zero_vector(own.graph)}; }
    Place moved(const Vector& shift) const { return {kSame, shift}; }
    Place moved(const Vec3& shift) const { return {kSame, vector(own.graph, shift)}; }

    // From a body's frame to a joint's marker on it. A body that hangs on nothing is followed at its com.
    void to_marker(const TreeJoint& joint, int side) {
        if (joint.pair < 0) {
            if (side == 1) at = at * Place{clean_matrix(own.joints.back().free), own.com(joint.child)};
        } else if (own.follows_turn(joint.pair, side)) {
            at = at * moved(own.marker_shift(joint.pair, side));
            general({own.marker_turn(joint.pair, side), zero_vector(own.graph)});
        } else {
            at = at * own.marker_on_body(joint.pair, side);
        }
    }
    void from_marker(const TreeJoint& joint, int side) {
        if (joint.pair < 0) {
            if (side == 1) at = at * inverse(Place{clean_matrix(own.joints.back().free), own.com(joint.child)});
        } else if (own.follows_turn(joint.pair, side)) {
            general({transpose(own.marker_turn(joint.pair, side)), zero_vector(own.graph)});
            at = at * moved(-own.marker_shift(joint.pair, side));
        } else {
            at = at * inverse(own.marker_on_body(joint.pair, side));
        }
    }

    // Markers whose rotations follow parameters are links of their own that do not move.
    void add_turned_markers();

    Expression held(const TreeJoint& joint, int i) const {
        const int row = joint.held_row[i];
        if (row < 0) return constant(own.graph, joint.held[i]);
        return quotient(row, own.model.rows[row].term_begin, joint.held[i]);
    }
    // Constant of a row by coefficient of a term, which is that number unless one of them follows parameters.
    Expression quotient(int row, int term, double known) const {
        if (!own.numbers.follows("row_constant", row) && !own.numbers.follows("term_coefficient", term))
            return constant(own.graph, known);
        return own.numbers.number("row_constant", row, own.model.rows[row].constant) / coefficient(term);
    }
    Expression coefficient(int term) const {
        return own.numbers.number("term_coefficient", term, own.model.terms[term].coefficient);
    }
    Expression advance(const TreeJoint& joint) const {
        if (!own.numbers.follows("term_coefficient", joint.slide_term) &&
            !own.numbers.follows("term_coefficient", joint.turn_term))
            return constant(own.graph, joint.advance);
        return -(coefficient(joint.turn_term) / coefficient(joint.slide_term));
    }

    void add(const TreeJoint& joint) {
        own.joints.push_back({});
        own.joints.back().joint = joint;
        own.joints.back().rows = joint.rows;
        // Principal axes cost the least, but turn with inertias that follow parameters.
        if (joint.pair < 0 && !own.numbers.follows("body_inertia", 9 * joint.child, 9))
            own.joints.back().free = own.model.principal_rotation[joint.child];
        if (joint.pair < 0)
            own.joints.back().followed = conjugate(own.model.principal_rotation[joint.child]) * own.joints.back().free;
        const BodyPlace& parent = described[joint.parent];
        link = parent.link;
        at = parent.at;
        to_marker(joint, joint.reversed ? 1 : 0);
        if (joint.formula >= 0) {
            formula(joint);
        } else if (joint.reversed) {
            rotate(joint);
            translate(joint);
        } else {
            translate(joint);
            rotate(joint);
        }
        from_marker(joint, joint.reversed ? 0 : 1);
        described[joint.child] = {link, at};
    }

    std::string name(const TreeJoint& joint, const char* what) const { return what + std::to_string(joint.child); }

    // A link that turns about or slides along the z axis of A, in the frame reached.
    void elementary(Motion motion, const Mat3& A, Expression position) {
        DescribedLink& made = description.add_link(link, motion, at.rotation * A, at.shift);
        made.position = position;
        link = static_cast<int>(description.links.size()) - 1;
        at = turned(transpose(A));
    }

    void translate(const TreeJoint& joint) {
        JointMap& map = own.joints.back();
        const double sign = joint.reversed ? -1.0 : 1.0;
        for (int i = 0; i < 3; ++i) {
            if (!joint.slides[i]) {
                Vector shift = zero_vector(own.graph);
                (i == 0 ? shift.x : i == 1 ? shift.y : shift.z) = sign * held(joint, i);
                at = at * moved(shift);
                continue;
            }
            Expression position;
            if (joint.screw_axis == i) {
                position = advance(joint) * angle(joint) + quotient(joint.screw_row, joint.slide_term, joint.start);
            } else {
                position = map.slide_value[i] = followed(joint, std::string(1, "xyz"[i]));
                if (position.graph == nullptr) {
                    map.slide_speed[i] = static_cast<int>(description.symbols.speeds.size());
                    map.slide[i] = description.add_coordinate(name(joint, i == 0 ? "x" : i == 1 ? "y" : "z"));
                    position = map.slide_value[i] = description.symbols.coordinates[map.slide[i]];
                }
            }
            elementary(Motion::slide, z_to_axis(i), sign * position);
        }
    }

    Expression turn_coordinate(const TreeJoint& joint, int i) {
        JointMap& map = own.joints.back();
        if (map.turn_value[i].graph != nullptr) return map.turn_value[i];
        const int axis = static_cast<int>(joint.turning) - static_cast<int>(Turning::about_x);
        if (axis >= 0 && axis < 3) map.turn_value[i] = followed(joint, std::string("theta_") + "xyz"[axis]);
        if (map.turn_value[i].graph == nullptr) {
            map.turn_speed[i] = static_cast<int>(description.symbols.speeds.size());
            map.turn[i] = description.add_coordinate(name(joint, i == 0 ? "a" : "b"));
            map.turn_value[i] = description.symbols.coordinates[map.turn[i]];
        }
        return map.turn_value[i];
    }

    // The joint's coordinate of a kind, if it follows others.
    Expression followed(const TreeJoint& joint, const std::string& kind) const {
        for (size_t c = 0; c < own.model.coordinates.size(); ++c)
            if (own.model.coordinates[c].pair == joint.pair && own.model.coordinates[c].kind->name == kind)
                if (const Expression value = own.followed(static_cast<int>(c)); value.graph != nullptr) return value;
        return {};
    }
    Expression angle(const TreeJoint& joint) { return turn_coordinate(joint, 0); }

    void rotate(const TreeJoint& joint) {
        const double sign = joint.reversed ? -1.0 : 1.0;
        switch (joint.turning) {
            case Turning::none:
                break;
            case Turning::about_x:
            case Turning::about_y:
            case Turning::about_z:
                elementary(Motion::turn,
                           z_to_axis(static_cast<int>(joint.turning) - static_cast<int>(Turning::about_x)),
                           sign * angle(joint));
                break;
            case Turning::universal: {
                const Expression a = turn_coordinate(joint, 0), b = turn_coordinate(joint, 1);
                elementary(Motion::turn, z_to_axis(joint.reversed ? 1 : 0), joint.reversed ? -b : a);
                elementary(Motion::turn, z_to_axis(joint.reversed ? 0 : 1), joint.reversed ? -a : b);
                break;
            }
            case Turning::ball:
                ball(joint);
                break;
            default:
                swing(joint);
        }
    }

    void ball(const TreeJoint& joint);

    // Turns and slides as far as the formulas are such, and one link with the matrix that is left.
    void formula(const TreeJoint& joint);

    void general(const JointTransform& pose) {
        if (is_number(pose)) {
            at = at * Place{rotation_number(pose), vector(own.graph, position_number(pose))};
            return;
        }
        DescribedLink& made = description.add_link(link, Motion::general, at.rotation, at.shift);
        made.matrix = pose.rotation;
        made.shift = pose.position;
        link = static_cast<int>(description.links.size()) - 1;
        at = none();
    }

    // A turn about the twist's axis, which passes through d × v / ω, and a slide along it.
    void screw(const Screw& s, Expression q);

    void along(Motion motion, const Vec3& direction, Expression position);

    // One link, whose shaft has two speeds (spatial/swing.hpp).
    void swing(const TreeJoint& joint);
};

}  // namespace bellcrank::symbolic
