#include "derivation/mechanism.hpp"

#include <cmath>

#include "derivation/factors.hpp"
#include "expression/derivative.hpp"
#include "spatial/rotation.hpp"
#include "spatial/swing.hpp"

namespace bellcrank::symbolic {

// Makes the joints of a plan into links, each joint a product of elementary transforms. It walks along a joint: `at` is
// the frame reached, in the described frame of link `link`.
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

    // Walk from a body's frame to a joint's marker on it, that of side 1 moved to where the joint holds it; and back. A
    // body that hangs on nothing is followed at its com.
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
    void add_turned_markers() {
        const auto leaf = [&](int body, const Vector& shift, const Matrix& turn) {
            link = described[body].link;
            at = described[body].at * moved(shift);
            general({turn, zero_vector(own.graph)});
            return BodyPlace{link, at};
        };
        for (size_t pair = 0; pair < own.model.pairs.size(); ++pair)
            for (const int side : {0, 1}) {
                const int p = static_cast<int>(pair), body = own.model.pairs[pair].body[side];
                if (own.follows_turn(p, side))
                    turned_markers[2 * p + side] = leaf(body, own.marker_shift(p, side), own.marker_turn(p, side));
            }
        for (const auto& [marker, number] : own.formula_markers_)
            if (own.numbers.follows("formula_marker_rotations", 4 * number, 4))
                turned_formula_markers[number] =
                    leaf(marker->body, own.formula_marker_shift(*marker), own.formula_marker_turn(*marker));
    }

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
        for (const JointStep& step : joint.steps()) take(joint, step);
        from_end(joint, joint.reversed ? 0 : 1);
        described[joint.child] = {link, at};
    }

    std::string name(const TreeJoint& joint, const char* what) const { return what + std::to_string(joint.child); }

    // A link that turns about or slides along the z axis of A, in the frame reached.
    void elementary(Motion motion, const Mat3& A, Expression position) {
        DescribedLink& made = description.add_link(link, motion, {at.rotation * A, at.shift});
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

    void ball(const TreeJoint& joint) {
        JointMap& map = own.joints.back();
        const int speed = description.speeds();
        enter({Motion::ball}, description.add_quaternion(name(joint, "ball")), speed, map);
        const int parent = link;
        DescribedLink& made = description.add_link(link, Motion::ball, at);
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
            const int speed = description.speeds();
            enter({Motion::general}, description.add_coordinate(name(joint, s.name.c_str()), s.range), speed, map);
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
        DescribedLink& made = description.add_link(link, Motion::general, at);
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
        for (int i = 0; i < 3; ++i)  // by the sines: the cosine of 1e-8 is one
            if (std::hypot(component[(i + 1) % 3], component[(i + 2) % 3]) < 4e-15) {
                elementary(motion, z_to_axis(i), component[i] > 0.0 ? position : -position);
                return;
            }
        const Vec3 least = std::abs(direction.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
        Vec3 x = cross(least, direction);
        x = (1.0 / norm(x)) * x;
        const Vec3 y = cross(direction, x);
        elementary(motion, {{x.x, y.x, direction.x, x.y, y.y, direction.y, x.z, y.z, direction.z}}, position);
    }

    // One link, whose shaft has two speeds (spatial/swing.hpp).
    void swing(const TreeJoint& joint, int held) {
        JointMap& map = own.joints.back();
        const int speed = description.speeds();
        enter({Motion::swing, held}, description.add_shaft(name(joint, "bend"), held), speed, map);
        const std::vector<Expression>& q = description.symbols.coordinates;
        const QuatT<Expression> shaft{q[map.swing], q[map.swing + 1], q[map.swing + 2], q[map.swing + 3]};
        const Matrix F = rotation_matrix(shaft);
        DescribedLink& made = description.add_link(link, Motion::general, at);
        made.first_speed = map.swing_speed;
        made.swing = rotation_of_shaft(shaft, held, constant(own.graph, 0.0));
        made.matrix = rotation_matrix(made.swing);
        made.shift = zero_vector(own.graph);
        for (int i = 0; i < 2; ++i) made.columns[i] = shaft_column(F, held, i);
        link = static_cast<int>(description.links.size()) - 1;
        at = none();
    }
};

MechanismTree::MechanismTree(Graph& g, const Model& m, const Numbers& n, JointTree p, bool whole)
    : graph(g), model(m), numbers(n), plan(std::move(p)), couplings(find_couplings(g, m, n, plan)), description(g) {
    const auto number_markers = [&](const auto& elements) {
        for (const auto& element : elements)
            for (const MarkerSymbols& marker : element.markers)
                formula_markers_.emplace(&marker, static_cast<int>(formula_markers_.size()));
    };
    number_markers(model.data().formulas.constraints);
    number_markers(model.data().formulas.forces);
    Builder builder{*this, description, {}, whole, {}, {}, {}, -1, {}};
    builder.run();
    description.gravity = numbers.vector("gravity", 0, model.gravity);
    // Mass of all bodies of one link together: about the joint com of the group, by second moments.
    for (int b = 0; b < model.bodies(); ++b) {
        const BodyPlace& place = builder.described[b];
        if (place.link < 0) continue;
        const Matrix R = matrix(graph, place.at.rotation);
        description.links[place.link].add(numbers.number("body_mass", b, model.mass[b]), place.at.shift + R * com(b),
                                          rotated(R, inertia(b)));
    }
    tree = description.tree();
    const std::vector<bellcrank::Place>& frames = description.placements();
    const auto chosen = [&](const BodyPlace& place) {
        if (place.link < 0) return place;
        const bellcrank::Place back = inverse(frames[place.link]);
        return BodyPlace{place.link, Place{back.rotation, vector(graph, back.shift)} * place.at};
    };
    for (const BodyPlace& place : builder.described) bodies.push_back(chosen(place));
    for (const auto& [marker, place] : builder.turned_markers) turned_markers_[marker] = chosen(place);
    for (const auto& [marker, place] : builder.turned_formula_markers) turned_formula_markers_[marker] = chosen(place);
    for (const auto& ball : builder.balls) {
        const auto frame = [&](int link) {
            return link < 0 ? Quat{1, 0, 0, 0} : quaternion_from_matrix(frames[link].rotation);
        };
        joints[ball.joint].before = ball.before * frame(ball.parent_link);
        joints[ball.joint].after = frame(ball.link);
    }
}

// The value of a coordinate that follows others of the tree, as built so far; no graph if it does not.
Expression MechanismTree::followed(int coordinate) const {
    for (const Coupling& coupling : couplings.found) {
        if (coupling.coordinate != coordinate) continue;
        std::vector<Ref> from{couplings.time}, to{description.symbols.time.ref};
        for (size_t c = 0; c < model.coordinates.size(); ++c) {
            const Expression value = own_coordinate(model.coordinates[c]);
            if (value.graph == nullptr) continue;
            from.push_back(couplings.symbols[c]);
            to.push_back(value.ref);
        }
        return {&graph, substitute(graph, std::span(&coupling.value, 1), from, to)[0]};
    }
    return {};
}

Vector MechanismTree::com(int body) const { return numbers.vector("body_com", 3 * body, model.com[body]); }

Symmetric MechanismTree::inertia(int body) const {
    const Mat3& I = model.data().body_inertia[body];
    const auto entry = [&](int i) { return numbers.number("body_inertia", 9 * body + i, I.m[i]); };
    return {entry(0), entry(4), entry(8), entry(1), entry(2), entry(5)};
}

Place MechanismTree::marker_on_body(int pair, int side) const {
    return {clean_matrix(model.data().pair_rotations[2 * pair + side]), marker_shift(pair, side)};
}

Vector MechanismTree::marker_shift(int pair, int side) const {
    const int i = 2 * pair + side;
    return numbers.vector("pair_positions", 3 * i, model.data().pair_positions[i]);
}

Matrix MechanismTree::marker_turn(int pair, int side) const {
    const int i = 2 * pair + side;
    return numbers.rotation("pair_rotations", 4 * i, model.data().pair_rotations[i]);
}

bool MechanismTree::follows_turn(int pair, int side) const {
    return numbers.follows("pair_rotations", 4 * (2 * pair + side), 4);
}

Vector MechanismTree::formula_marker_shift(const MarkerSymbols& marker) const {
    return numbers.vector("formula_marker_positions", 3 * formula_markers_.at(&marker), marker.offset);
}

Matrix MechanismTree::formula_marker_turn(const MarkerSymbols& marker) const {
    return numbers.rotation("formula_marker_rotations", 4 * formula_markers_.at(&marker), marker.attitude);
}

BodyPlace MechanismTree::marker(int pair, int side) const {
    if (const auto found = turned_markers_.find(2 * pair + side); found != turned_markers_.end()) return found->second;
    return on_body(model.pairs[pair].body[side], marker_on_body(pair, side));
}

BodyPlace MechanismTree::marker(const MarkerSymbols& m) const {
    if (const auto found = turned_formula_markers_.find(formula_markers_.at(&m));
        found != turned_formula_markers_.end())
        return found->second;
    return on_body(m.body, {rotation_matrix(m.attitude), formula_marker_shift(m)});
}

BodyPlace MechanismTree::on_body(int body, const Place& at) const { return {bodies[body].link, bodies[body].at * at}; }

Expression MechanismTree::own_coordinate(const Coordinate& coordinate) const {
    for (const JointMap& map : joints) {
        const JointPart part = part_of(map.joint, coordinate);
        if (part.kind == JointPart::Kind::slide) return map.slide_value[part.number];
        if (part.kind == JointPart::Kind::turn) return map.turn_value[part.number];
        if (part.kind == JointPart::Kind::own) return description.symbols.coordinates[map.own[part.number]];
    }
    return {};
}

}  // namespace bellcrank::symbolic
