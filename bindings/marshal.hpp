// Conversions between Python sequences or arrays and the small types of the core, shared by the bindings.
#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>

#include <array>

#include "spatial/algebra.hpp"

namespace bellcrank {

using Triple = std::array<double, 3>;
using Quadruple = std::array<double, 4>;
using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

inline Vec3 to_vec3(const Triple& a) { return {a[0], a[1], a[2]}; }
inline Quat to_quat(const Quadruple& a) { return {a[0], a[1], a[2], a[3]}; }
inline Mat3 to_mat3(const RowMajor3& a) {
    Mat3 m;
    for (int i = 0; i < 9; ++i) m.m[i] = a.data()[i];
    return m;
}
inline Eigen::Vector3d from_vec3(const Vec3& a) { return {a.x, a.y, a.z}; }
inline Eigen::Vector4d from_quat(const Quat& q) { return {q.w, q.x, q.y, q.z}; }
inline RowMajor3 from_mat3(const Mat3& a) { return Eigen::Map<const RowMajor3>(a.m); }

}  // namespace bellcrank
