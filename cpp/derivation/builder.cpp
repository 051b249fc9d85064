#include "derivation/builder.hpp"

#include "spatial/swing.hpp"

namespace bellcrank::symbolic {

void MechanismTree::Builder::ball(const TreeJoint& joint) {
    JointMap& map = own.joints.back();
    const int speed = description.speeds();
    enter({Motion::ball}, description.add_quaternion(name(joint, "ball")), speed, map);
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

void MechanismTree::Builder::formula(const TreeJoint& joint) {
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

void MechanismTree::Builder::screw(const Screw& s, Expression q) {
    const double w = norm(s.angular);
    const Vec3 direction = (1.0 / (w > 0.0 ? w : norm(s.linear))) * (w > 0.0 ? s.angular : s.linear);
    const Vec3 centre = w > 0.0 ? (1.0 / w) * cross(direction, s.linear) : Vec3{0, 0, 0};
    const double advance = dot(direction, s.linear);
    at = at * moved(centre);
    if (w > 0.0) along(Motion::turn, direction, w * q);
    if (advance != 0.0) along(Motion::slide, direction, advance * q);
    at = at * moved(-centre);
}

void MechanismTree::Builder::along(Motion motion, const Vec3& direction, Expression position) {
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

void MechanismTree::Builder::swing(const TreeJoint& joint, int held) {
    JointMap& map = own.joints.back();
    const int speed = description.speeds();
    enter({Motion::swing, held}, description.add_shaft(name(joint, "bend"), held), speed, map);
    const std::vector<Expression>& q = description.symbols.coordinates;
    const QuatT<Expression> shaft{q[map.swing], q[map.swing + 1], q[map.swing + 2], q[map.swing + 3]};
    const Matrix F = rotation_matrix(shaft);
    DescribedLink& made = description.add_link(link, Motion::general, at.rotation, at.shift);
    made.first_speed = map.swing_speed;
    made.swing = rotation_of_shaft(shaft, held, constant(own.graph, 0.0));
    made.matrix = rotation_matrix(made.swing);
    made.shift = zero_vector(own.graph);
    for (int i = 0; i < 2; ++i) made.columns[i] = shaft_column(F, held, i);
    link = static_cast<int>(description.links.size()) - 1;
    at = none();
}

void MechanismTree::Builder::add_turned_markers() {
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

}  // namespace bellcrank::symbolic
