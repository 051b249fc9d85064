// Vectors, symmetric tensors and rotations of expressions. Zeros and ones among them cost nothing: the graph drops them
// where it builds, so that the general formulae serve special geometry as well.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "expression/expression.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank::symbolic {

using Vector = Vec3T<Expression>;
using Matrix = Mat3T<Expression>;

// xx yy zz xy xz yz of a symmetric 3×3 tensor.
struct Symmetric {
    Expression xx, yy, zz, xy, xz, yz;
};

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
inline Vector scaled(Expression s, const Vector& v) { return {s * v.x, s * v.y, s * v.z}; }
inline bool is_zero(const Vector& v) { return is_zero(v.x) && is_zero(v.y) && is_zero(v.z); }

inline Symmetric zero_symmetric(Graph& graph) {
    const Expression o = constant(graph, 0.0);
    return {o, o, o, o, o, o};
}
inline Symmetric operator+(const Symmetric& a, const Symmetric& b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
inline Symmetric operator-(const Symmetric& a, const Symmetric& b) {
    return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
}

// A rotation by one angle about a coordinate axis (0, 1, 2): turned axes → axes before the turn.
struct Turn {
    int axis;
    Expression cosine, sine;
};

Vector rotated(const Turn& turn, const Vector& v);            // R v: to the axes before the turn
Vector rotated_back(const Turn& turn, const Vector& v);       // Rᵀ v
Symmetric rotated(const Turn& turn, const Symmetric& s);      // R s Rᵀ
Matrix rotated_columns(const Turn& turn, const Matrix& a);    // R a
Matrix conjugated(const Turn& turn, const Matrix& a);         // R a Rᵀ
Symmetric rotated(const Matrix& rotation, const Symmetric&);  // R s Rᵀ
Matrix conjugated(const Matrix& rotation, const Matrix& a);

Matrix identity_matrix(Graph& graph);
Matrix full(const Symmetric& s);
Matrix rotation_matrix_of(Graph& graph, const Turn& turn);

}  // namespace bellcrank::symbolic

namespace bellcrank {

// For PlaceOf.
inline symbolic::Vector operator*(const Mat3& a, const symbolic::Vector& v) {
    return symbolic::matrix(*v.x.graph, a) * v;
}
inline symbolic::Vector transpose_times(const Mat3& a, const symbolic::Vector& v) { return transpose(a) * v; }

}  // namespace bellcrank
