// Vectors, symmetric tensors and rotations of expressions. Zeros and ones among them cost nothing: the graph drops them
// where it builds, so that the general formulae serve special geometry as well.
#pragma once

#include "expression/expression.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank::symbolic {

using Vector = Vec3T<Expression>;
using Matrix = Mat3T<Expression>;

using Symmetric = SymmetricT<Expression>;
using Inertia = ArticulatedT<Expression>;
using Twist = MotionT<Expression>;
using Load = ForceT<Expression>;
// Lengths may follow parameters, rotations are numbers: those that follow parameters are links.
using Place = PlaceOf<Vector>;
using BodyPlace = BodyPlaceOf<Vector>;

inline Expression constant(Graph& graph, double value) { return {&graph, graph.constant(value)}; }
inline bool is_zero(Expression e) { return e.graph->is_constant(e.ref) && e.graph->constant_value(e.ref) == 0.0; }
inline Expression half(Expression e) { return e * 0.5; }

inline Vector vector(Graph& graph, const Vec3& v) {
    return {constant(graph, v.x), constant(graph, v.y), constant(graph, v.z)};
}
inline Vector zero_vector(Graph& graph) { return vector(graph, {0.0, 0.0, 0.0}); }
inline Matrix matrix(Graph& graph, const Mat3& a) {
    Matrix out;
    for (int i = 0; i < 9; ++i) out.m[i] = constant(graph, a.m[i]);
    return out;
}
inline bool is_zero(const Vector& v) { return is_zero(v.x) && is_zero(v.y) && is_zero(v.z); }

inline Symmetric zero_symmetric(Graph& graph) {
    const Expression o = constant(graph, 0.0);
    return {o, o, o, o, o, o};
}

// A rotation by one angle about a coordinate axis (0, 1, 2): turned axes → axes before the turn.
struct Turn {
    int axis;
    Expression cosine, sine;
};

Vector rotated(const Turn& turn, const Vector& v);          // R v: to the axes before the turn
Vector rotated_back(const Turn& turn, const Vector& v);     // Rᵀ v
Symmetric rotated(const Turn& turn, const Symmetric& s);    // R s Rᵀ
Matrix rotated_columns(const Turn& turn, const Matrix& a);  // R a
Matrix conjugated(const Turn& turn, const Matrix& a);       // R a Rᵀ

Matrix identity_matrix(Graph& graph);
Matrix rotation_matrix_of(Graph& graph, const Turn& turn);

}  // namespace bellcrank::symbolic
