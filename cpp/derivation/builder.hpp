// From the joints of a plan to links: each a product of elementary transforms.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "derivation/factors.hpp"
#include "derivation/mechanism.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank::symbolic {

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

    Place none() const { return {.shift = zero_vector(own.graph)}; }
    Place turned(const Mat3& rotation) const { return {rotation, zero_vector(own.graph)}; }
    Place moved(const Vector& shift) const { return {.shift = shift}; }
    Place moved(const Vec3& shift) const { return {.shift = vector(own.graph, shift)}; }

    // From a body's frame to a joint's marker on it, that of side 1 moved to where the joint holds it; and back. A body
    // that hangs on nothing is followed at its com.
    void to_end(const TreeJoint& joint, int side) {
        if (joint.pair < 0) {
            if (side == 1) at = at * Place{clean_matrix(own.joints.back().free), own.com(joint.child)};
        } else if (own.follows_turn(joint.pair, side)) {
            at = at * moved(own.marker_shift(joint.pair, side));
            general({own.marker_turn(joint.pair, side), zero_vector(own.graph)});
        } else {
            at = at * own.marker_on_body(joint.pair, side);
        }
        if (side == 0) at = at * moved(held(joint));
    }
    void from_end(const TreeJoint& joint, int side) {
        if (side == 0) at = at * moved(-held(joint));
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

    Vector held(const TreeJoint& joint) const {
        Expression along[3];
        for (int i = 0; i < 3; ++i) {
            const int row = joint.held_row[i];
            along[i] = row < 0 ? constant(own.graph, joint.held[i])
                               : quotient(row, own.model.rows[row].term_begin, joint.held[i]);
        }
        return {along[0], along[1], along[2]};
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
        to_end(joint, joint.reversed ? 1 : 0);
        for (const JointStep& step : steps_of(joint)) take(joint, step);
        from_end(joint, joint.reversed ? 0 : 1);
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

    void take(const TreeJoint& joint, const JointStep& step) {
        const double sign = joint.reversed ? -1.0 : 1.0;
        switch (step.motion) {
            case Motion::slide:
            case Motion::turn:
                elementary(step.motion, z_to_axis(step.axis), sign * coordinate(joint, step));
                break;
            case Motion::screw: {
                const Expression angle = coordinate(joint, step);
                const Expression travel =
                    advance(joint) * angle + quotient(joint.screw_row, joint.slide_term, joint.start);
                const Mat3 axis = z_to_axis(step.axis);
                if (joint.reversed) elementary(Motion::turn, axis, -angle);
                elementary(Motion::slide, axis, sign * travel);
                if (!joint.reversed) elementary(Motion::turn, axis, angle);
                break;
            }
            case Motion::free:
                for (int i = 0; i < 3; ++i) take(joint, {Motion::slide, i});
                return ball(joint);
            case Motion::ball:
                return ball(joint);
            case Motion::swing:
                return swing(joint, step.axis);
            case Motion::general:
                return formula(joint);
        }
    }

    // The coordinate of a turn, slide or screw: what it follows, or one of its own.
    Expression coordinate(const TreeJoint& joint, const JointStep& step) {
        JointMap& map = own.joints.back();
        const bool slides = step.motion == Motion::slide;
        const std::string axis(1, "xyz"[step.axis]);
        Expression& value = slides ? map.slide_value[step.axis] : map.turn_value[step.number];
        if (joint.turning != Turning::universal || slides) value = followed(joint, slides ? axis : "theta_" + axis);
        if (value.graph == nullptr) {
            const int speed = description.speeds();
            const int number = description.add_coordinate(name(joint, slides             ? axis.c_str()
                                                                      : step.number == 0 ? "a"
                                                                                         : "b"));
            enter(step, number, speed, map);
            value = description.symbols.coordinates[number];
        }
        return value;
    }

    // The joint's coordinate of a kind, if it follows others.
    Expression followed(const TreeJoint& joint, const std::string& kind) const {
        for (size_t c = 0; c < own.model.coordinates.size(); ++c)
            if (own.model.coordinates[c].pair == joint.pair && own.model.coordinates[c].kind->name == kind)
                if (const Expression value = own.followed(static_cast<int>(c)); value.graph != nullptr) return value;
        return {};
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
    void swing(const TreeJoint& joint, int held);
};

}  // namespace bellcrank::symbolic
