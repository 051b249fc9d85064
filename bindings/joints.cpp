// Coordinates of marker pairs, for looking at one at a time; the solvers evaluate them in the core.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "geometry_tables.hpp"
#include "joints/coordinate.hpp"
#include "marshal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

Vec3 row_of(const PoseTable& table, Eigen::Index i) { return {table(i, 0), table(i, 1), table(i, 2)}; }

nb::tuple evaluate_all(const std::string& kind, const PoseTable& r, const PoseTable& q, const PoseTable& rdot,
                       const PoseTable& omega, const PoseTable& params) {
    const CoordinateKind& found = coordinate_kind(kind);
    const Eigen::Index count = r.rows();
    const auto fits = [count](const PoseTable& t, int width) { return t.rows() == count && t.cols() == width; };
    if (!fits(r, 3) || !fits(q, 4) || !fits(rdot, 3) || !fits(omega, 3))
        throw std::invalid_argument("motions must be tables of as many rows, of 3, 4, 3 and 3 numbers");
    if (params.rows() != 1 && params.rows() != count)
        throw std::invalid_argument("params must be one row, or one for each motion");
    std::vector<double> own(params.cols());
    Eigen::VectorXd value(count), quadratic(count);
    PoseTable dr(count, 3), domega(count, 3);
    for (Eigen::Index i = 0; i < count; ++i) {
        if (i == 0 || params.rows() > 1) {
            for (Eigen::Index k = 0; k < params.cols(); ++k) own[k] = params(i, k);
            check_coordinate(found, own);
        }
        CoordinateValue out;
        found.evaluate({row_of(r, i), {q(i, 0), q(i, 1), q(i, 2), q(i, 3)}, row_of(rdot, i), row_of(omega, i)}, own,
                       out);
        value[i] = out.value;
        quadratic[i] = out.quadratic;
        dr.row(i) << out.dr.x, out.dr.y, out.dr.z;
        domega.row(i) << out.domega.x, out.domega.y, out.domega.z;
    }
    return nb::make_tuple(value, dr, domega, quadratic);
}

}  // namespace

void bind_joints(nb::module_& m) {
    m.def(
        "coordinate_kinds",
        [] {
            std::map<std::string, bool> kinds;
            for (const CoordinateKind& kind : coordinate_kinds()) kinds[kind.name] = kind.angular();
            return kinds;
        },
        "Every kind of coordinate, by name, and whether it is an angle (defined up to multiples of 2 pi).");
    m.def(
        "check_coordinate",
        [](const std::string& kind, const std::vector<double>& params) {
            check_coordinate(coordinate_kind(kind), params);
        },
        "kind"_a, "params"_a = std::vector<double>{},
        "Raise ValueError if there is no such kind or the parameters do not suit it.");
    m.def(
        "evaluate_coordinate",
        [](const std::string& kind, const Triple& r, const Quadruple& q, const Triple& rdot, const Triple& omega,
           const std::vector<double>& params) {
            const CoordinateKind& found = coordinate_kind(kind);
            check_coordinate(found, params);
            CoordinateValue out;
            found.evaluate({to_vec3(r), to_quat(q), to_vec3(rdot), to_vec3(omega)}, params, out);
            return nb::make_tuple(out.value, from_vec3(out.dr), from_vec3(out.domega), out.quadratic);
        },
        "kind"_a, "r"_a, "q"_a, "rdot"_a = Triple{}, "omega"_a = Triple{}, "params"_a = std::vector<double>{},
        nb::sig("def evaluate_coordinate(kind: str, r: collections.abc.Sequence[float], q: "
                "collections.abc.Sequence[float], rdot: collections.abc.Sequence[float] = ..., omega: "
                "collections.abc.Sequence[float] = ..., params: collections.abc.Sequence[float] = ...) -> tuple[float, "
                "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]"),
        "Coordinate phi of marker 2 seen from marker 1, in marker-1 axes: position r [m], unit quaternion q, velocity "
        "rdot [m/s], angular velocity omega [rad/s].\n\n"
        "Returns (value, dr, domega, quadratic): dphi/dt = dr.rdot + domega.omega, and the second derivative is "
        "dr.(d rdot/dt) + domega.(d omega/dt) + quadratic. Raises ValueError as check_coordinate does.");
    m.def("evaluate_coordinates", &evaluate_all, "kind"_a, "r"_a, "q"_a, "rdot"_a, "omega"_a, "params"_a,
          nb::sig("def evaluate_coordinates(kind: str, r: numpy.typing.NDArray[numpy.float64], q: "
                  "numpy.typing.NDArray[numpy.float64], rdot: numpy.typing.NDArray[numpy.float64], omega: "
                  "numpy.typing.NDArray[numpy.float64], params: numpy.typing.NDArray[numpy.float64]) -> "
                  "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"),
          "The same at n motions: tables (n, 3) and (n, 4) in, arrays (n,) and (n, 3) out; params (1, p) or (n, p).");
}

}  // namespace bellcrank
