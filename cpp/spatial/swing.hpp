// Rotations about all axes across one axis k: their quaternions have no component along k. They make a sphere, on
// which nothing is singular but which no two coordinates cover.
//
// Such a rotation R is followed by a shaft that halves the bend and does not spin: a frame F in the axes before the
// joint whose axis is p = F k. With half-turns H(p) = 2 p pᵀ − 1,
//   R = H(p) H(k),   q = (p_k, k × p).
// The speeds σ are the components of the angular velocity of R along the two axes of the shaft across k, which turns
// with half of that. In the axes behind the joint it is ω = −H(k) F σ, and at constant σ its rate vanishes.
//
// Where the shaft gets to depends on the way, so that shafts may differ by a spin where rotations are the same. Within
// a chart the way is the straight one, F = F0 exp(½ ξ).
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

// Numbers of the two axes across k, in cyclic order.
inline constexpr int axis_across(int k, int i) { return (k + 1 + i) % 3; }

// The shaft without spin of a rotation q whose component k is zero, up to rounding.
Quat shaft_of(const Quat& q, int k);

// The rotation q that a shaft follows.
template <class T>
inline QuatT<T> rotation_of_shaft(const QuatT<T>& shaft, int k, const T& zero) {
    const Mat3T<T> F = rotation_matrix(shaft);
    T e[3] = {zero, zero, zero};
    e[axis_across(k, 0)] = -F.m[3 * axis_across(k, 1) + k];
    e[axis_across(k, 1)] = F.m[3 * axis_across(k, 0) + k];
    return {F.m[4 * k], e[0], e[1], e[2]};
}

// The angular velocity of R for the unit of speed i, in the axes behind the joint.
template <class T>
inline Vec3T<T> shaft_column(const Mat3T<T>& F, int k, int i) {
    const int column = axis_across(k, i);
    T w[3] = {F.m[column], F.m[3 + column], F.m[6 + column]};
    w[k] = -w[k];
    return {w[0], w[1], w[2]};
}

// σ for an angular velocity in the axes before the joint.
void shaft_speeds(const Quat& shaft, int k, const Vec3& omega, double* speeds);
// F exp(½ ξ).
Quat shaft_advanced(const Quat& shaft, int k, const double* xi);

// The ξ of least size with which F exp(½ ξ) is a shaft of the same rotation as another.
void shaft_displacement(const Quat& shaft, int k, const Quat& to, double* xi);
// The angle about k by which one shaft is ahead of another of the same rotation.
double spin_between(const Quat& shaft, int k, const Quat& ahead);

// The maps of Manifold (model/ports.hpp) for ξ of two numbers; they do not depend on k.
void shaft_chart_rate(const double* xi, const double* speeds, double* rate);
void shaft_chart_velocity(const double* xi, const double* rate, double* speeds);
void shaft_chart_acceleration(const double* xi, const double* rate, const double* acceleration, double* out);
// The spin of the chart's shafts against one that goes the way of ξ; adds to the rates of speeds what comes from it.
double chart_spin(const double* xi, const double* speeds);
void add_chart_spin(const double* xi, const double* speeds, double* rates);

}  // namespace bellcrank
