// The lagrange formulation at one state.
#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "formulations/lagrange/precise_delassus.hpp"
#include "model/frame_writer.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

template <class T>
void option(nb::dict& options, const char* name, T& value) {
    if (!options.contains(name)) return;
    value = nb::cast<T>(options[name]);
    nb::del(options[name]);
}

LagrangeOptions lagrange_options(const nb::kwargs& kwargs) {
    nb::dict given(kwargs);
    LagrangeOptions o;
    option(given, "rank_tolerance", o.rank_tolerance);
    option(given, "position_tolerance", o.position_tolerance);
    option(given, "stage_pivot", o.stage_pivot);
    option(given, "doubt", o.doubt);
    option(given, "contact_tolerance", o.contact_tolerance);
    option(given, "rest_speed", o.rest_speed);
    option(given, "max_corrections", o.max_corrections);
    option(given, "refinements", o.refinements);
    for (const auto& item : given)
        throw std::invalid_argument("lagrange has no option " + nb::cast<std::string>(item.first));
    return o;
}

std::tuple<Rows, Rows, Eigen::VectorXd> accelerate(LagrangeAt& self) {
    Lagrange& s = self.system;
    std::vector<double> udot(s.tangent_size());
    s.accelerate(self.time, self.x.data(), self.u.data(), udot.data());
    const int nb = s.model().bodies();
    Rows linear(nb, 3), angular(nb, 3);
    accelerations_to_neutral(s.model(), self.x.data(), self.u.data(), udot.data(), linear.data(), angular.data());
    Eigen::VectorXd multipliers(s.model().rows_total());
    s.multipliers(multipliers.data());
    return {linear, angular, multipliers};
}

ReactionArrays reactions(LagrangeAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<Lagrange::ReactionWrench> out;
    self.system.reactions(self.x.data(), reactions_of(which), out);
    return reaction_arrays(out);
}

Flags determined_multipliers(LagrangeAt& self) { return determined(self.system); }

std::pair<Eigen::VectorXd, Eigen::VectorXd> coordinates(LagrangeAt& self) {
    const Model& model = self.system.model();
    Eigen::VectorXd value(model.coordinates.size()), rate(model.coordinates.size());
    BodyCoordinate c;
    for (size_t i = 0; i < model.coordinates.size(); ++i) {
        evaluate_coordinate(model, self.system.branches(), static_cast<int>(i), self.x.data(), self.u.data(), c);
        value[i] = c.value;
        rate[i] = c.rate;
    }
    return {value, rate};
}

void set_angles(LagrangeAt& self, const Eigen::VectorXd& values) {
    if (values.size() != static_cast<Eigen::Index>(self.system.model().coordinates.size()))
        throw std::invalid_argument("values: one for each coordinate of the model");
    self.system.set_angles(self.x.data(), values.data());
}

// Moves the configuration along a displacement per body: translation of the com in world axes, rotation vector in
// principal axes.
void displace(LagrangeAt& self, const Rows& displacement) {
    std::vector<double> xi(self.system.tangent_size(), 0.0);
    if (displacement.rows() != self.system.model().bodies() || displacement.cols() != 6)
        throw std::invalid_argument("displacement: six numbers per body");
    for (Eigen::Index b = 0; b < displacement.rows(); ++b)
        for (int k = 0; k < 6; ++k) xi[kTwist * b + (k < 3 ? k : k + 1)] = displacement(b, k);
    self.system.retract(self.x.data(), xi.data(), self.x.data());
}

std::vector<std::pair<int, double>> forces_without_value(LagrangeAt& self, const std::vector<double>& steps) {
    const Model& model = self.system.model();
    std::vector<std::pair<int, double>> found;
    std::vector<double> x(self.x), way(self.u), force(static_cast<size_t>(kTwist) * (model.bodies() + 1));
    for (size_t k = 0; k < model.formula_forces.size(); ++k) {
        for (const double h : steps) {
            for (size_t i = 0; i < way.size(); ++i) way[i] = h * self.u[i];
            self.system.retract(self.x.data(), way.data(), x.data());
            std::fill(force.begin(), force.end(), 0.0);
            const Scenery at{model, self.system.branches(), self.time + h, x.data(), self.u.data()};
            model.formula_forces[k].add(at, force.data());
            if (std::all_of(force.begin(), force.end(), [](double f) { return std::isfinite(f); })) continue;
            found.emplace_back(static_cast<int>(k), self.time + h);
            break;
        }
    }
    return found;
}

}  // namespace

// φ̈ of every coordinate, for accelerations of the frames' origins in world axes.
Eigen::VectorXd coordinate_accelerations(const Model& model, const AngleBranches& branches, const double* x,
                                         const double* u, const Rows& linear, const Rows& angular) {
    const Eigen::Index n = model.bodies();
    if (linear.rows() != n || angular.rows() != n || (n > 0 && (linear.cols() != 3 || angular.cols() != 3)))
        throw std::invalid_argument("accelerations: three numbers per body");
    std::vector<double> udot(kTwist * (n + 1), 0.0);
    accelerations_to_principal(model, x, u, linear.data(), angular.data(), udot.data());
    Eigen::VectorXd out(model.coordinates.size());
    for (size_t i = 0; i < model.coordinates.size(); ++i)
        out[i] = coordinate_acceleration({model, branches, 0.0, x, u}, static_cast<int>(i), udot.data());
    return out;
}

RowArrays dense_rows(const Model& model, const AngleBranches& branches, double t, const double* x, const double* u) {
    const int m = model.rows_total(), n = 6 * model.bodies();
    ConstraintRows r(model, branches);
    r.evaluate_jacobians(t, x);
    r.evaluate_biases(t, x, u);
    Rows J = Rows::Zero(m, n);
    for (const BlockLayout& b : r.blocks())
        for (const BlockSide& side : r.sides(b)) {
            if (side.body == model.ground()) continue;
            const Vec3& I = model.principal_inertia[side.body];
            const double mass = model.mass[side.body], diagonal[6] = {mass, mass, mass, I.x, I.y, I.z};
            for (int i = 0; i < b.size; ++i) {
                double row[6];
                side.rows.read(r.J.data(), i, row);
                for (int k = 0; k < 6; ++k) J(b.row + i, 6 * side.body + k) = row[k] * std::sqrt(diagonal[k]);
            }
        }
    const auto vector = [m](const std::vector<double>& v) {
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(v.data(), m));
    };
    return {vector(r.C), vector(r.Ct), vector(r.Qc), J};
}

void bind_formulations(nb::module_& m) {
    m.def(
        "spread_of_mobility", [](const Model& model) { return spread_of_mobility(model); }, "model"_a,
        "Largest by smallest mobility of a body: 1/m, and l^2/I at its reach l.");
    nb::class_<LagrangeAt, SystemAt>(m, "Lagrange", "The lagrange formulation of a model, at a state.")
        .def(
            "__init__",
            [](LagrangeAt* self, std::shared_ptr<Model> model, nb::kwargs options) {
                new (self) LagrangeAt(model, lagrange_options(options));
            },
            "model"_a, "options"_a, nb::sig("def __init__(self, model: Model, **options: float) -> None"),
            "Raises:\n    ValueError: an option is unknown.")
        .def("set_state", &LagrangeAt::set, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
             "continued"_a = false,
             "Sets the state of the bodies' frame origins in world axes: position (nb, 3), rotation (nb, 4), velocity\n"
             "(nb, 3), angular velocity (nb, 3). Unless continued, every angle starts on its principal branch.")
        .def("state", &LagrangeAt::get,
             "time, position, rotation, velocity, angular velocity, as set_state takes them.")
        .def("accelerate", &accelerate,
             "Linear (nb, 3) and angular (nb, 3) accelerations of the frame origins, world axes, and multipliers\n"
             "(rows,), of least norm where rows are redundant.")
        .def("reactions", &reactions, "which"_a,
             "After accelerate(): per entry (blocks, pair) the moment and force (6) on the pair's second body about\n"
             "marker 2, world axes, of least norm; and whether moment and force are unique (n, 2).")
        .def("determined_multipliers", &determined_multipliers,
             "After accelerate(): which multipliers (rows,) the equations of motion determine.")
        .def("coordinates", &coordinates, "Values and rates of all coordinates of the model.")
        .def(
            "coordinate_accelerations",
            [](LagrangeAt& self, const Rows& linear, const Rows& angular) {
                const Lagrange& s = self.system;
                return coordinate_accelerations(s.model(), s.branches(), self.x.data(), self.u.data(), linear, angular);
            },
            "linear"_a, "angular"_a,
            "Second derivatives of all coordinates for accelerations (nb, 3) of the frame origins, world axes.")
        .def(
            "set_angles", &set_angles, "values"_a,
            "Takes every angle to its branch nearest to the value (coordinates,) given; other kinds are not looked at.")
        .def(
            "rows",
            [](LagrangeAt& self) {
                const Lagrange& system = self.system;
                return dense_rows(system.model(), system.branches(), self.time, self.x.data(), self.u.data());
            },
            "C, Ct, Qc (rows,) and the dense Jacobian (rows, 6 nb) in com and principal axes.")
        .def("forces_without_value", &forces_without_value, "steps"_a,
             "Forces given by formulas that have no finite value after one of these times, on straight ways: (number, "
             "time).")
        .def("displace", &displace, "displacement"_a,
             "Moves the bodies by (nb, 6): translation of the com, world axes, and rotation vector, principal axes.")
        .def(
            "dropped_rows", [](LagrangeAt& self) { return self.system.dropped_rows(); },
            "Model rows found redundant or singular at the last factorization.")
        .def(
            "dependences",
            [](LagrangeAt& self, int most) {
                std::vector<std::pair<int, std::vector<std::pair<int, double>>>> out;
                for (Dependence& one : self.system.dependences(most)) out.emplace_back(one.row, std::move(one.of));
                return out;
            },
            "most"_a, "The first of them as combinations of others: row, [(other row, factor), ...].")
        .def(
            "violation",
            [](LagrangeAt& self) {
                double c, rate;
                self.system.violation(self.time, self.x.data(), self.u.data(), &c, &rate);
                return std::make_pair(c, rate);
            },
            "Largest error of positions and of velocities over all rows.")
        .def(
            "energy",
            [](LagrangeAt& self) {
                const Energy e =
                    energy(self.system.model(), self.system.branches(), self.time, self.x.data(), self.u.data());
                return std::make_pair(e.kinetic, e.potential);
            },
            "Kinetic and potential energy [J].");
}

}  // namespace bellcrank
