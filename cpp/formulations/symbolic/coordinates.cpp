#include "formulations/symbolic/coordinates.hpp"

#include <numbers>
#include <set>

namespace bellcrank::symbolic {

namespace {

Expression angle(Expression y, Expression x) { return {x.graph, x.graph->apply(Op::arctangent_2, y.ref, x.ref)}; }

int axis_of(char letter) { return letter - 'x'; }

}  // namespace

Coordinates::Coordinates(const MechanismTree& mechanism, Kinematics& kinematics)
    : mechanism_(mechanism),
      kinematics_(kinematics),
      values_(mechanism.model.coordinates.size()),
      branches_(mechanism.model.coordinates.size()) {}

bool Coordinates::has_formula(const std::string& kind) {
    static const std::set<std::string> kinds{"x",        "y",           "z",       "e0",          "e1",
                                             "e2",       "e3",          "theta_x", "theta_y",     "theta_z",
                                             "rot_x",    "rot_y",       "rot_z",   "universal_1", "universal_2",
                                             "distance", "distance_xy", "azimuth", "azimuth_axis"};
    return kinds.contains(kind) || kind.starts_with("dot_");
}

Expression Coordinates::value(int number) {
    Expression& value = values_[number];
    if (value.graph != nullptr) return value;
    const Coordinate& coordinate = mechanism_.model.coordinates[number];
    value = mechanism_.own_coordinate(coordinate);
    if (value.graph != nullptr) return value;
    value = formula(coordinate);
    if (coordinate.kind->angular) {
        Graph& graph = mechanism_.graph;
        branches_[number] = {&graph, graph.symbol("near " + std::to_string(number))};
        constexpr double kTurn = 2.0 * std::numbers::pi;
        const Expression turns = (branches_[number] - value) / kTurn + 0.5;
        value = value + kTurn * Expression{&graph, graph.apply(Op::floor, turns.ref)};
    }
    return value;
}

QuatT<Expression> Coordinates::quaternion(int pair) {
    return kinematics_.quaternion_between(mechanism_.marker(pair, 0), mechanism_.marker(pair, 1));
}

Expression Coordinates::formula(const Coordinate& coordinate) {
    const std::string& kind = coordinate.kind->name;
    const BodyPlace first = mechanism_.marker(coordinate.pair, 0), second = mechanism_.marker(coordinate.pair, 1);
    const char last = kind.back();
    if (kind.size() == 2 && kind[0] == 'e') {
        const QuatT<Expression> q = kinematics_.quaternion_between(first, second);
        return last == '0' ? q.w : last == '1' ? q.x : last == '2' ? q.y : q.z;
    }
    if (kind.starts_with("theta_") || kind.starts_with("rot_")) {
        const QuatT<Expression> q = kinematics_.quaternion_between(first, second);
        if (kind.starts_with("rot_")) return rotation_vector(q, axis_of(last));
        return 2.0 * angle(last == 'x' ? q.x : last == 'y' ? q.y : q.z, q.w);
    }
    const Pose pose = kinematics_.between(first, second);
    const Vector& r = pose.position;
    const Matrix& R = pose.rotation;
    if (kind == "x" || kind == "y" || kind == "z") return last == 'x' ? r.x : last == 'y' ? r.y : r.z;
    if (kind.starts_with("dot_")) return R.m[3 * axis_of(kind[4]) + axis_of(kind[5])];
    if (kind == "distance") return sqrt(dot(r, r));
    if (kind == "distance_xy") return sqrt(r.x * r.x + r.y * r.y);
    if (kind == "azimuth") return angle(r.y, r.x);
    if (kind == "azimuth_axis") return angle(R.m[5], R.m[2]);
    if (kind == "universal_1") return angle(R.m[7], R.m[4]);
    return angle(R.m[2], R.m[0]);  // universal_2
}

// φ = 2 atan2(n, e0) v/n with n = |v|, the sign of q such that e0 ≥ 0; near n = 0 by the series of arcsin n / n.
Expression Coordinates::rotation_vector(const QuatT<Expression>& q, int axis) const {
    Graph& graph = mechanism_.graph;
    const Expression sign{&graph, graph.select(graph.apply(Op::less, q.w.ref, graph.constant(0.0)),
                                               graph.constant(-1.0), graph.constant(1.0))};
    const Expression n2 = q.x * q.x + q.y * q.y + q.z * q.z, n = sqrt(n2);
    const Expression formula = angle(n, sign * q.w) / n;
    // (2k)!/(4^k k!² (2k + 1)), highest first; below n² = 0.01 the terms left out are under 1e-17.
    double coefficient[10], central = 1.0;
    for (int k = 0; k < 10; ++k) {
        coefficient[k] = central / (2 * k + 1);
        central *= (2.0 * k + 1.0) / (2.0 * k + 2.0);
    }
    Expression series = constant(graph, coefficient[9]);
    for (int k = 8; k >= 0; --k) series = series * n2 + coefficient[k];
    const Ref small = graph.apply(Op::less, n2.ref, graph.constant(0.01));
    const Expression ratio{&graph, graph.select(small, series.ref, formula.ref)};
    return 2.0 * (sign * ratio * (axis == 0 ? q.x : axis == 1 ? q.y : q.z));
}

}  // namespace bellcrank::symbolic
