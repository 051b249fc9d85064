// What is registered by kind, for looking at one at a time: functions of one variable, coordinates of marker pairs,
// force laws along coordinates. The solvers evaluate them in the core.
#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "bindings.hpp"
#include "expression/expressed_function.hpp"
#include "forces/law.hpp"
#include "functions/function.hpp"
#include "joints/coordinate.hpp"
#include "records.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// A function together with the parameters that it views.
struct BoundFunction {
    std::string kind;
    std::vector<double> params;
    Function function;

    BoundFunction(std::string name, std::vector<double> values, std::shared_ptr<const ExpressedFunction> expression)
        : kind(std::move(name)), params(std::move(values)), function(kind, params, std::move(expression)) {}
    BoundFunction(const BoundFunction&) = delete;  // the function views the parameters of this very object
    BoundFunction& operator=(const BoundFunction&) = delete;
};

void bind_functions(nb::module_& m) {
    m.def(
        "function_kinds",
        [] {
            std::vector<std::string> names;
            for (const FunctionKind& kind : function_kinds()) names.push_back(kind.name);
            return names;
        },
        "The names of all kinds of functions.");
    nb::class_<BoundFunction>(m, "Function", "Scalar function of one variable: a kind and its flat parameters.")
        .def(
            "__init__",
            [](BoundFunction* self, std::string kind, std::vector<double> params,
               std::shared_ptr<ExpressedFunction> expression) {
                new (self) BoundFunction(std::move(kind), std::move(params), std::move(expression));
            },
            "kind"_a, "params"_a, "expression"_a.none() = nb::none(),
            "expression: of the kind \"expression\".\n\n"
            "Raises ValueError for an unknown kind or a malformed parameter list.")
        .def_ro("kind", &BoundFunction::kind, "Name of the kind.")
        .def_ro("params", &BoundFunction::params, "Flat parameters.")
        .def(
            "__call__",
            [](const BoundFunction& self, const Eigen::VectorXd& x) {
                Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> out(x.size(), 3);
                for (Eigen::Index i = 0; i < x.size(); ++i) {
                    const FunctionValue v = self.function(x[i]);
                    out.row(i) << v.f, v.d1, v.d2;
                }
                return out;
            },
            "x"_a, "Value, first and second derivative (n, 3) at the points x (n,).")
        .def(
            "integral", [](const BoundFunction& self, double x) { return self.function.integral(x); }, "x"_a,
            "Integral from 0 to x. Raises ValueError if the kind offers none.")
        .def_prop_ro(
            "integrable", [](const BoundFunction& self) { return self.function.integrable(); },
            "Whether `integral` is available.");
}

Vec3 row_of(const Rows& table, Eigen::Index i) { return {table(i, 0), table(i, 1), table(i, 2)}; }

std::tuple<Column, Rows, Rows, Column> evaluate_all(const std::string& kind, const Rows& r, const Rows& q,
                                                    const Rows& rdot, const Rows& omega, const Rows& params) {
    const CoordinateKind& found = coordinate_kind(kind);
    const Eigen::Index count = r.rows();
    const auto fits = [count](const Rows& t, int width) { return t.rows() == count && t.cols() == width; };
    if (!fits(r, 3) || !fits(q, 4) || !fits(rdot, 3) || !fits(omega, 3))
        throw std::invalid_argument("motions must be tables of as many rows, of 3, 4, 3 and 3 numbers");
    if (params.rows() != 1 && params.rows() != count)
        throw std::invalid_argument("params must be one row, or one for each motion");
    std::vector<double> own(params.cols());
    Column value(count), quadratic(count);
    Rows dr(count, 3), domega(count, 3);
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
    return {value, dr, domega, quadratic};
}

// Calls `use` with numbers whose derivatives are those of up to four directions at a time: of each of `at` a column.
template <class Use>
void in_fours(const std::vector<double>& at, const Rows& directions, Use use) {
    check_size(directions.cols(), static_cast<Eigen::Index>(at.size()), "directions");
    std::vector<Dual4> in(at.begin(), at.end());
    for (Eigen::Index first = 0; first < directions.rows(); first += 4) {
        const Eigen::Index count = std::min<Eigen::Index>(4, directions.rows() - first);
        for (Eigen::Index k = 0; k < count; ++k)
            for (size_t i = 0; i < in.size(); ++i) in[i].d[k] = directions(first + k, static_cast<Eigen::Index>(i));
        use(in, first, count);
    }
}

Rows coordinate_tangents(const std::string& kind, const Vec3& r, const Quat& q, const Vec3& rdot, const Vec3& omega,
                         const std::vector<double>& params, const Rows& directions) {
    const CoordinateKind& found = coordinate_kind(kind);
    check_coordinate(found, params);
    if (found.tangent == nullptr) throw std::invalid_argument("coordinate kind '" + kind + "' has no derivative");
    std::vector<double> at{r.x, r.y, r.z, q.w, q.x, q.y, q.z, rdot.x, rdot.y, rdot.z, omega.x, omega.y, omega.z};
    at.insert(at.end(), params.begin(), params.end());
    Rows out(directions.rows(), 8);
    in_fours(at, directions, [&](const std::vector<Dual4>& in, Eigen::Index first, Eigen::Index count) {
        const RelativeMotionT<Dual4> motion{load(in.data()), load_quaternion(in.data() + 3), load(in.data() + 7),
                                            load(in.data() + 10)};
        CoordinateValueT<Dual4> c;
        found.tangent(motion, std::span(in).subspan(13), c);
        const Dual4* const parts[] = {&c.value,    &c.dr.x,     &c.dr.y,     &c.dr.z,
                                      &c.domega.x, &c.domega.y, &c.domega.z, &c.quadratic};
        for (Eigen::Index k = 0; k < count; ++k)
            for (Eigen::Index i = 0; i < 8; ++i) out(first + k, i) = parts[i]->d[k];
    });
    return out;
}

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
        [](const std::string& kind, const Vec3& r, const Quat& q, const Vec3& rdot, const Vec3& omega,
           const std::vector<double>& params) {
            const CoordinateKind& found = coordinate_kind(kind);
            check_coordinate(found, params);
            CoordinateValue out;
            found.evaluate({r, q, rdot, omega}, params, out);
            return std::tuple(out.value, out.dr, out.domega, out.quadratic);
        },
        "kind"_a, "r"_a, "q"_a, "rdot"_a = Vec3{}, "omega"_a = Vec3{}, "params"_a = std::vector<double>{},
        nb::sig("def evaluate_coordinate(kind: str, r: collections.abc.Sequence[float], q: "
                "collections.abc.Sequence[float], rdot: collections.abc.Sequence[float] = ..., omega: "
                "collections.abc.Sequence[float] = ..., params: collections.abc.Sequence[float] = ...) -> tuple[float, "
                "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]"),
        "Coordinate phi of marker 2 seen from marker 1, in marker-1 axes: position r [m], unit quaternion q, velocity "
        "rdot [m/s], angular velocity omega [rad/s].\n\n"
        "Returns (value, dr, domega, quadratic): dphi/dt = dr.rdot + domega.omega, and the second derivative is "
        "dr.(d rdot/dt) + domega.(d omega/dt) + quadratic. Raises ValueError as check_coordinate does.");
    m.def(
        "coordinate_tangents", &coordinate_tangents, "kind"_a, "r"_a, "q"_a, "rdot"_a, "omega"_a, "params"_a,
        "directions"_a,
        nb::sig("def coordinate_tangents(kind: str, r: collections.abc.Sequence[float], q: "
                "collections.abc.Sequence[float], rdot: collections.abc.Sequence[float], omega: "
                "collections.abc.Sequence[float], params: collections.abc.Sequence[float], directions: "
                "typing.Annotated[numpy.typing.ArrayLike, dict(dtype='float64', shape=(None, None), order='C')]) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "Derivatives of what evaluate_coordinate returns, (n, 8): value, dr, domega, quadratic, along n directions of "
        "(r, q, rdot, omega, params), (n, 13 + p); those of q along the unit quaternions.");
    m.def("evaluate_coordinates", &evaluate_all, "kind"_a, "r"_a, "q"_a, "rdot"_a, "omega"_a, "params"_a,
          "The same at n motions: tables (n, 3) and (n, 4) in, arrays (n,) and (n, 3) out; params (1, p) or (n, p).");
}

const Function* function_of(const BoundFunction* bound) { return bound == nullptr ? nullptr : &bound->function; }

// Of friction that holds, which slips at this rate.
double sense_of(const LawKind& law, double rate) {
    return law.holds != nullptr && rate != 0.0 ? std::copysign(1.0, rate) : 0.0;
}

Column law_efforts(const std::string& kind, const Column& value, const Column& rate, const Column& time,
                   const std::vector<double>& params, const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    if (rate.size() != value.size() || time.size() != value.size())
        throw std::invalid_argument("values, rates and times must be as many");
    Column effort(value.size());
    for (Eigen::Index i = 0; i < value.size(); ++i) {
        effort[i] = law.effort({value[i], rate[i], time[i], sense_of(law, rate[i])}, params, function_of(function));
    }
    return effort;
}

Column law_holds(const std::string& kind, const Column& sense, const Column& time, const std::vector<double>& params,
                 const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    Column most = Column::Zero(time.size());
    for (Eigen::Index i = 0; law.holds != nullptr && i < time.size(); ++i)
        most[i] = law.holds(params, function_of(function), time[i], sense[i]);
    return most;
}

Column law_slopes(const std::string& kind, double value, double rate, double time, const std::vector<double>& params,
                  const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    if (law.tangent == nullptr) throw std::invalid_argument("the " + kind + " law has no derivative");
    std::vector<double> at{value, rate, time};
    at.insert(at.end(), params.begin(), params.end());
    const auto size = static_cast<Eigen::Index>(at.size());
    Column out(size);
    in_fours(at, Rows::Identity(size, size), [&](const std::vector<Dual4>& in, Eigen::Index first, Eigen::Index count) {
        const LawInput<Dual4> input{in[0], in[1], in[2], sense_of(law, rate)};
        const Dual4 effort = law.tangent(input, std::span(in).subspan(3), function_of(function));
        for (Eigen::Index k = 0; k < count; ++k) out[first + k] = effort.d[k];
    });
    return out;
}

Column law_potentials(const std::string& kind, const Column& value, const std::vector<double>& params,
                      const BoundFunction* function) {
    const LawKind& law = law_kind(kind);
    check_law(law, params, function_of(function));
    if (law.potential == nullptr) throw std::invalid_argument("the " + kind + " law has no potential");
    Column energy(value.size());
    for (Eigen::Index i = 0; i < value.size(); ++i) energy[i] = law.potential(value[i], params, function_of(function));
    return energy;
}

void bind_forces(nb::module_& m) {
    m.def(
        "law_kinds",
        [] {
            std::map<std::string, bool> kinds;
            for (const LawKind& kind : law_kinds()) kinds[kind.name] = kind.potential != nullptr;
            return kinds;
        },
        "Every kind of force law, by name, and whether it has a potential.");
    m.def(
        "law_parameters",
        [] {
            std::map<std::string, std::vector<std::string>> names;
            for (const LawKind& kind : law_kinds()) names[kind.name] = kind.parameters;
            return names;
        },
        "The names of the parameters of every kind, in their order.");
    m.def(
        "check_law",
        [](const std::string& kind, const std::vector<double>& params, const BoundFunction* function) {
            check_law(law_kind(kind), params, function_of(function));
        },
        "kind"_a, "params"_a, "function"_a.none() = nb::none(),
        "Raise ValueError if there is no such kind or parameters or function do not suit it.");
    m.def(
        "law_effort",
        [](const std::string& kind, double value, double rate, double time, const std::vector<double>& params,
           const BoundFunction* function) {
            const LawKind& law = law_kind(kind);
            check_law(law, params, function_of(function));
            return law.effort({value, rate, time, sense_of(law, rate)}, params, function_of(function));
        },
        "kind"_a, "value"_a, "rate"_a, "time"_a, "params"_a, "function"_a.none() = nb::none(),
        "Effort along the coordinate [N or N m] at coordinate value, rate and time. Raises ValueError as check_law.");
    m.def(
        "law_potential",
        [](const std::string& kind, double value, const std::vector<double>& params, const BoundFunction* function) {
            const LawKind& law = law_kind(kind);
            check_law(law, params, function_of(function));
            if (law.potential == nullptr) throw std::invalid_argument("the " + kind + " law has no potential");
            return law.potential(value, params, function_of(function));
        },
        "kind"_a, "value"_a, "params"_a, "function"_a.none() = nb::none(),
        "Potential energy [J] at the coordinate's value. Raises ValueError as check_law, or if there is none.");
    m.def("law_efforts", &law_efforts, "kind"_a, "value"_a, "rate"_a, "time"_a, "params"_a,
          "function"_a.none() = nb::none(),
          "Efforts (n,) as law_effort returns them, at n values, rates and times; of friction\n"
          "that holds, where it slips: none at rates of zero.");
    m.def("law_holds", &law_holds, "kind"_a, "sense"_a, "time"_a, "params"_a, "function"_a.none() = nb::none(),
          "Up to which efforts (n,) friction holds that would begin to slip with n senses, at n times; zero\n"
          "for other laws.");
    m.def(
        "law_slopes", &law_slopes, "kind"_a, "value"_a, "rate"_a, "time"_a, "params"_a,
        "function"_a.none() = nb::none(),
        "Derivatives (3 + p,) of law_effort by value, rate, time and each parameter. Raises ValueError as check_law.");
    m.def("law_potentials", &law_potentials, "kind"_a, "value"_a, "params"_a, "function"_a.none() = nb::none(),
          "Potential energies (n,) as law_potential returns them, at n values.");
}

}  // namespace

void bind_kinds(nb::module_& m) {
    bind_functions(m);
    bind_joints(m);
    bind_forces(m);
}

}  // namespace bellcrank
