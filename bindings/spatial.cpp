// Quaternion and inertia functions of cpp/spatial.
#include "bindings.hpp"
#include "marshal.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

static void bind_quaternions(nb::module_& m) {
    m.def(
        "quaternion_product", [](const Quadruple& a, const Quadruple& b) { return from_quat(to_quat(a) * to_quat(b)); },
        "a"_a, "b"_a, "Grassmann product a b of two quaternions (w, x, y, z).");
    m.def(
        "quaternion_conjugate", [](const Quadruple& q) { return from_quat(conjugate(to_quat(q))); }, "q"_a,
        "Conjugate quaternion.");
    m.def(
        "rotation_matrix", [](const Quadruple& q) { return from_mat3(rotation_matrix(to_quat(q))); }, "q"_a,
        "Rotation matrix (3, 3), local to world axes, of a unit quaternion.");
    m.def(
        "quaternion_from_matrix", [](const RowMajor3& r) { return from_quat(quaternion_from_matrix(to_mat3(r))); },
        "matrix"_a, "Unit quaternion with scalar part >= 0 of a proper rotation matrix (3, 3).");
    m.def(
        "quaternion_exp", [](const Triple& phi) { return from_quat(quaternion_exp(to_vec3(phi))); },
        "rotation_vector"_a, "Unit quaternion of a rotation vector (3,) [rad].");
    m.def(
        "quaternion_log", [](const Quadruple& q) { return from_vec3(quaternion_log(to_quat(q))); }, "q"_a,
        "Rotation vector (3,) [rad] of a unit quaternion, of norm at most pi.");
    m.def(
        "rotation_vector_rate",
        [](const Triple& phi, const Triple& omega) {
            return from_vec3(rotation_vector_rate(to_vec3(phi), to_vec3(omega)));
        },
        "rotation_vector"_a, "omega"_a,
        "Rate (3,) of the rotation vector of R = R0 exp(phi) for the angular velocity omega in local axes.");
}

void bind_spatial(nb::module_& m) {
    bind_quaternions(m);
    m.def(
        "principal_inertia",
        [](const RowMajor3& inertia) {
            const PrincipalInertia p = principal_inertia(to_mat3(inertia));
            return nb::make_tuple(from_vec3(p.moments), from_quat(p.rotation));
        },
        "inertia"_a,
        nb::sig("def principal_inertia(inertia: numpy.typing.NDArray[numpy.float64]) -> "
                "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
        "Principal moments (3,) [kg m^2] and the quaternion (4,) from principal to the given axes.");
    m.def(
        "inertia_about_point",
        [](const RowMajor3& inertia, double mass, const Triple& offset) {
            return from_mat3(inertia_about_point(to_mat3(inertia), mass, to_vec3(offset)));
        },
        "inertia_about_com"_a, "mass"_a, "offset"_a,
        "Inertia (3, 3) about the point at `offset` from the centre of mass, same axes (parallel axes).");
}

}  // namespace bellcrank
