#include "formulations/symbolic/mechanism.hpp"

#include "formulations/symbolic/factors.hpp"

#include "spatial/rotation.hpp"

namespace bellcrank::symbolic {

namespace {

// A rotation whose z axis is the coordinate axis: (x, y, z) → (z, x, y), or twice.
Mat3 z_to_axis(int axis) {
    if (axis == 0) return {{0, 0, 1, 1, 0, 0, 0, 1, 0}};
    if (axis == 1) return {{0, 1, 0, 0, 0, 1, 1, 0, 0}};
    return {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

// Rotations of quaternions such as (√½, √½, 0, 0), with the zeros that rounding missed.
Mat3 clean_matrix(const Quat& q) {
    Mat3 R = rotation_matrix(q);
    for (double& m : R.m)
        if (std::abs(m) < 4e-15) m = 0.0;
    return R;
}

Symmetric principal(Graph& graph, const Vec3& I, const Mat3& R) {
    const Expression o = constant(graph, 0.0);
    const Symmetric diagonal{constant(graph, I.x), constant(graph, I.y), constant(graph, I.z), o, o, o};
    return rotated(matrix(graph, R), diagonal);
}

}  // namespace

// Walks along a joint: `at` is the frame reached, in the described frame of link `link`.
struct MechanismTree::Builder {
    MechanismTree& own;
    TreeDescription& description;
    std::vector<BodyPlace> described;  // per body, the ground last: principal frame in its link's described frame
    bool whole;
    struct BallEnds {
        int joint, parent_link, link;
        Quat before, after;  // described frames
    };
    std::vector<BallEnds> balls;

    int link = -1;
    Placement at;

    void run() {
        described.resize(own.model.bodies() + 1);
        for (const TreeJoint& joint : own.plan.joints) add(joint);
    }

    Placement marker_pose(const TreeJoint& joint, int side) const {
        if (joint.pair < 0) return {};
        const MarkerPair& pair = own.model.pairs[joint.pair];
        return {clean_matrix(pair.rotation[side]), pair.offset[side]};
    }

    void add(const TreeJoint& joint) {
        own.joints.push_back({});
        own.joints.back().joint = joint;
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
        DescribedLink& made = description.add_link(link, motion, at.rotation * A, vector(own.graph, at.shift));
        made.position = position;
        link = static_cast<int>(description.links.size()) - 1;
        at = {transpose(A), {0, 0, 0}};
    }

    void translate(const TreeJoint& joint) {
        JointMap& map = own.joints.back();
        const double sign = joint.reversed ? -1.0 : 1.0;
        for (int i = 0; i < 3; ++i) {
            if (!joint.slides[i]) {
                Vec3 shift{0, 0, 0};
                (i == 0 ? shift.x : i == 1 ? shift.y : shift.z) = sign * joint.held[i];
                at = at * Placement{Placement{}.rotation, shift};
                continue;
            }
            Expression position;
            if (joint.screw_axis == i) {
                position = joint.advance * angle(joint) + joint.start;
            } else {
                map.slide_speed[i] = static_cast<int>(description.symbols.speeds.size());
                map.slide[i] = description.add_coordinate(name(joint, i == 0 ? "x" : i == 1 ? "y" : "z"));
                position = description.symbols.coordinates[map.slide[i]];
            }
            elementary(Motion::slide, z_to_axis(i), sign * position);
        }
    }

    Expression turn_coordinate(const TreeJoint& joint, int i) {
        JointMap& map = own.joints.back();
        if (map.turn[i] < 0) {
            map.turn_speed[i] = static_cast<int>(description.symbols.speeds.size());
            map.turn[i] = description.add_coordinate(name(joint, i == 0 ? "a" : "b"));
        }
        return description.symbols.coordinates[map.turn[i]];
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
        DescribedLink& made = description.add_link(link, Motion::ball, at.rotation, vector(own.graph, at.shift));
        for (int i = 0; i < 4; ++i) made.ball[i] = description.symbols.coordinates[map.ball + i];
        made.first_speed = map.ball_speed;
        link = static_cast<int>(description.links.size()) - 1;
        balls.push_back({static_cast<int>(own.joints.size()) - 1,
                         parent,
                         link,
                         quaternion_from_matrix(transpose(at.rotation)),
                         {1, 0, 0, 0}});
        at = {};
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
        const JointTransform pose = transform_of(formulas, given, own.graph, images, joint.reversed);
        if (whole) {
            general(pose);
            return;
        }
        std::vector<Expression> symbols = coordinates;
        symbols.push_back(description.symbols.time);
        const TransformFactors factors = factors_of(own.graph, pose, symbols, given.start);
        for (const Screw& s : factors.outer) screw(s, coordinates[s.coordinate]);
        for (const JointTransform& part : factors.middle) general(part);
        for (const Screw& s : factors.inner) screw(s, coordinates[s.coordinate]);
    }

    void general(const JointTransform& pose) {
        if (is_number(pose)) {
            at = at * Placement{rotation_number(pose), position_number(pose)};
            return;
        }
        DescribedLink& made = description.add_link(link, Motion::general, at.rotation, vector(own.graph, at.shift));
        made.matrix = pose.rotation;
        made.shift = pose.position;
        link = static_cast<int>(description.links.size()) - 1;
        at = {};
    }

    // A turn about the twist's axis, which passes through d × v / ω, and a slide along it.
    void screw(const Screw& s, Expression q) {
        const double w = norm(s.angular);
        const Vec3 direction = (1.0 / (w > 0.0 ? w : norm(s.linear))) * (w > 0.0 ? s.angular : s.linear);
        const Vec3 centre = w > 0.0 ? (1.0 / w) * cross(direction, s.linear) : Vec3{0, 0, 0};
        const double advance = dot(direction, s.linear);
        at = at * Placement{Placement{}.rotation, centre};
        if (w > 0.0) along(Motion::turn, direction, w * q);
        if (advance != 0.0) along(Motion::slide, direction, advance * q);
        at = at * Placement{Placement{}.rotation, -centre};
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
        DescribedLink& made = description.add_link(link, Motion::general, at.rotation, vector(own.graph, at.shift));
        made.matrix = rotation_matrix(QuatT<Expression>{e0, sign * v[0], sign * v[1], sign * v[2]});
        made.shift = zero_vector(own.graph);
        link = static_cast<int>(description.links.size()) - 1;
        at = {};
    }
};

MechanismTree::MechanismTree(Graph& g, const Model& m, Plan p, bool whole)
    : graph(g), model(m), plan(std::move(p)), description(g) {
    Builder builder{*this, description, {}, whole, {}, -1, {}};
    builder.run();
    description.gravity = vector(graph, model.gravity);
    // Mass of all bodies of one link together: about the joint com of the group, by second moments.
    for (int b = 0; b < model.bodies(); ++b) {
        const BodyPlace& place = builder.described[b];
        if (place.link < 0) continue;
        DescribedLink& link = description.links[place.link];
        link.add(constant(graph, model.mass[b]), vector(graph, place.at.shift),
                 principal(graph, model.principal_inertia[b], place.at.rotation));
    }
    tree = description.tree();
    const std::vector<Placement>& frames = description.placements();
    for (const BodyPlace& place : builder.described)
        bodies.push_back({place.link, place.link < 0 ? place.at : inverse(frames[place.link]) * place.at});
    for (const auto& ball : builder.balls) {
        const auto frame = [&](int link) {
            return link < 0 ? Quat{1, 0, 0, 0} : quaternion_from_matrix(frames[link].rotation);
        };
        joints[ball.joint].before = ball.before * frame(ball.parent_link);
        joints[ball.joint].after = frame(ball.link);
    }
}

BodyPlace MechanismTree::marker(int pair, int side) const {
    const MarkerPair& p = model.pairs[pair];
    const BodyPlace& body = bodies[p.body[side]];
    return {body.link, body.at * Placement{clean_matrix(p.rotation[side]), p.offset[side]}};
}

Expression MechanismTree::own_coordinate(const Coordinate& coordinate) const {
    for (const JointMap& map : joints) {
        if (map.joint.formula >= 0) {
            if (coordinate.kind == &kFormulaCoordinate && coordinate.formula() == map.joint.formula)
                return description.symbols.coordinates[map.own[coordinate.component()]];
            continue;
        }
        if (map.joint.pair < 0 || map.joint.pair != coordinate.pair) continue;
        const auto symbol = [&](int number) {
            return number < 0 ? Expression{} : description.symbols.coordinates[number];
        };
        const std::string& kind = coordinate.kind->name;
        for (int i = 0; i < 3; ++i) {
            const std::string axis(1, "xyz"[i]);
            if (kind == axis) return symbol(map.slide[i]);
            const auto about = static_cast<Turning>(static_cast<int>(Turning::about_x) + i);
            if (map.joint.turning == about && (kind == "theta_" + axis)) return symbol(map.turn[0]);
        }
        if (map.joint.turning == Turning::universal && kind == "universal_1") return symbol(map.turn[0]);
        if (map.joint.turning == Turning::universal && kind == "universal_2") return symbol(map.turn[1]);
    }
    return {};
}

}  // namespace bellcrank::symbolic
