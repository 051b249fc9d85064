// From the joints of a plan to links: each a product of elementary transforms.
#pragma once

#include <cmath>
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

// Rotations of quaternions such as (√½, √½, 0, 0), with the zeros that rounding missed.
inline Mat3 clean_matrix(const Quat& q) {
    Mat3 R = rotation_matrix(q);
    for (double& m : R.m)
        if (std::abs(m) < 4e-15) m = 0.0;
    return R;
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

    int link = -1;
    Place at;

    void run() {
        described.assign(own.model.bodies() + 1, {-1, none()});
        for (const TreeJoint& joint : own.plan.joints) add(joint);
    }

    Place none() const { return {kSame, zero_vector(own.graph)}; }
    Place turned(const Mat3& rotation) const { return {rotation, zero_vector(own.graph)}; }
    Place moved(const Vector& shift) const { return {kSame, shift}; }
    Place moved(const Vec3& shift) const { return {kSame, vector(own.graph, shift)}; }

    // Markers of a joint in their bodies' frames. A body that hangs on nothing is followed at its com.
    Place marker_pose(const TreeJoint& joint, int side) const {
        if (joint.pair >= 0) return own.marker_on_body(joint.pair, side);
        if (side == 0) return none();
        return {clean_matrix(own.joints.back().free), own.com(joint.child)};
    }

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
        at = parent.at * marker_pose(joint, joint.reversed ? 1 : 0);
        if (joint.formula >= 0) {
            formula(joint);
        } else if (joint.reversed) {
            rotate(joint);
            translate(joint);
        } else {
            translate(joint);
            rotate(joint);
        }
        at = at * inverse(marker_pose(joint, joint.reversed ? 0 : 1));
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

    void ball(const TreeJoint& joint) {
        JointMap& map = own.joints.back();
        map.ball_speed = static_cast<int>(description.symbols.speeds.size());
        map.ball = description.add_quaternion(name(joint, "ball"));
        const int parent = link;
        DescribedLink& made = description.add_link(link, Motion::ball, at.rotation, at.shift);
        for (int i = 0; i < 4; ++i) made.ball[i] = description.symbols.coordinates[map.ball + i];
        made.first_speed = map.ball_speed;
        link = static_cast<int>(description.links.size()) - 1;
        balls.push_back({static_cast<int>(own.joints.size()) - 1,
                         parent,
                         link,
                         quaternion_from_matrix(transpose(at.rotation)),
                         {1, 0, 0, 0}});
        at = none();
    }

    // Turns and slides as far as the formulas are such, and one link with the matrix that is left.
    void formula(const TreeJoint& joint) {
        const Formulas& formulas = own.model.data().formulas;
        const JointFormula& given = formulas.joints[joint.formula];
        JointMap& map = own.joints.back();
        Images images;
        std::vector<Expression> coordinates;
        for (const Ref c : given.coordinates) {
            const Symbol& s = formulas.graph->symbol_of(c);
            map.own_speed.push_back(static_cast<int>(description.symbols.speeds.size()));
            map.own.push_back(description.add_coordinate(name(joint, s.name.c_str()), s.range));
            coordinates.push_back(description.symbols.coordinates[map.own.back()]);
            images.emplace_back(c, coordinates.back().ref);
        }
        const JointTransform pose = transform_of(formulas, given, own.numbers, own.graph, images, joint.reversed);
        if (whole) {
            general(pose);
            return;
        }
        std::vector<Expression> symbols = coordinates;
        std::vector<double> start = given.start;
        symbols.push_back(description.symbols.time);
        start.push_back(0.0);
        for (size_t i = 0; i < own.numbers.parameters().size(); ++i) {
            symbols.push_back({&own.graph, own.numbers.parameters()[i]});
            start.push_back(own.numbers.values()[i]);
        }
        const TransformFactors factors = factors_of(own.graph, pose, symbols, start, coordinates.size());
        for (const Screw& s : factors.outer) screw(s, coordinates[s.coordinate]);
        for (const JointTransform& part : factors.middle) general(part);
        for (const Screw& s : factors.inner) screw(s, coordinates[s.coordinate]);
    }

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
    void screw(const Screw& s, Expression q) {
        const double w = norm(s.angular);
        const Vec3 direction = (1.0 / (w > 0.0 ? w : norm(s.linear))) * (w > 0.0 ? s.angular : s.linear);
        const Vec3 centre = w > 0.0 ? (1.0 / w) * cross(direction, s.linear) : Vec3{0, 0, 0};
        const double advance = dot(direction, s.linear);
        at = at * moved(centre);
        if (w > 0.0) along(Motion::turn, direction, w * q);
        if (advance != 0.0) along(Motion::slide, direction, advance * q);
        at = at * moved(-centre);
    }

    void along(Motion motion, const Vec3& direction, Expression position) {
        const double component[3] = {direction.x, direction.y, direction.z};
        for (int i = 0; i < 3; ++i)
            if (std::abs(std::abs(component[i]) - 1.0) < 4e-15) {
                elementary(motion, z_to_axis(i), component[i] > 0.0 ? position : -position);
                return;
            }
        const Vec3 least = std::abs(direction.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
        Vec3 x = cross(least, direction);
        x = (1.0 / norm(x)) * x;
        const Vec3 y = cross(direction, x);
        elementary(motion, {{x.x, y.x, direction.x, x.y, y.y, direction.y, x.z, y.z, direction.z}}, position);
    }

    // The rotation of quaternion (e0, s/2) with one component of s held at zero and e0 > 0.
    void swing(const TreeJoint& joint) {
        const int held = static_cast<int>(joint.turning) - static_cast<int>(Turning::swing_x);
        const Expression half_1 = half(turn_coordinate(joint, 0)), half_2 = half(turn_coordinate(joint, 1));
        const Expression o = constant(own.graph, 0.0);
        const Expression e0 = sqrt(1.0 - (half_1 * half_1 + half_2 * half_2));
        Expression v[3] = {o, o, o};
        v[(held + 1) % 3] = half_1;
        v[(held + 2) % 3] = half_2;
        const double sign = joint.reversed ? -1.0 : 1.0;
        DescribedLink& made = description.add_link(link, Motion::general, at.rotation, at.shift);
        made.matrix = rotation_matrix(QuatT<Expression>{e0, sign * v[0], sign * v[1], sign * v[2]});
        made.shift = zero_vector(own.graph);
        link = static_cast<int>(description.links.size()) - 1;
        at = none();
    }
};

}  // namespace bellcrank::symbolic
