// Quaternion and inertia functions of cpp/spatial.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "records.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_spatial(nb::module_& m) {
    m.def(
        "quaternion_product", [](const Quat& a, const Quat& b) { return a * b; }, "a"_a, "b"_a,
        "Grassmann product a b of two quaternions (w, x, y, z).");
    m.def("quaternion_conjugate", [](const Quat& q) { return conjugate(q); }, "q"_a, "Conjugate quaternion.");
    m.def(
        "rotation_matrix", [](const Quat& q) { return rotation_matrix(q); }, "q"_a,
        "Rotation matrix (3, 3), local to world axes, of a unit quaternion.");
    m.def(
        "quaternion_from_matrix", [](const Mat3& r) { return quaternion_from_matrix(r); }, "matrix"_a,
        "Unit quaternion with scalar part >= 0 of a proper rotation matrix (3, 3).");
    m.def(
        "quaternion_exp", [](const Vec3& phi) { return quaternion_exp(phi); }, "rotation_vector"_a,
        "Unit quaternion of a rotation vector (3,) [rad].");
    m.def(
        "quaternion_log", [](const Quat& q) { return quaternion_log(q); }, "q"_a,
        "Rotation vector (3,) [rad] of a unit quaternion, of norm at most pi.");
    m.def(
        "rotation_vector_rate", [](const Vec3& phi, const Vec3& omega) { return rotation_vector_rate(phi, omega); },
        "rotation_vector"_a, "omega"_a,
        "Rate (3,) of the rotation vector of R = R0 exp(phi) for the angular velocity omega in local axes.");
    m.def(
        "principal_inertia",
        [](const Mat3& inertia) {
            const PrincipalInertia p = principal_inertia(inertia);
            return std::pair(p.moments, p.rotation);
        },
        "inertia"_a, "Principal moments (3,) [kg m^2] and the quaternion (4,) from principal to the given axes.");
    m.def("inertia_about_point", &inertia_about_point, "inertia_about_com"_a, "mass"_a, "offset"_a,
          "Inertia (3, 3) about the point at `offset` from the centre of mass, same axes (parallel axes).");
}

}  // namespace bellcrank
