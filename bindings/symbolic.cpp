// The symbolic formulation at one state.
#include "formulations/symbolic.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "symbolic_at.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Column = Eigen::VectorXd;

std::tuple<Rows, Rows, Column> accelerate(SymbolicAt& self) {
    Symbolic& s = self.system;
    s.accelerate(self.time, self.x.data(), self.u.data(), self.udot.data());
    const int nb = s.model().bodies();
    s.to_records(self.time, self.x.data(), self.u.data(), self.poses.data(), self.twists.data());
    std::vector<double> rates(self.poses.size());
    s.body_accelerations(self.time, self.x.data(), self.u.data(), self.udot.data(), rates.data());
    Rows linear(nb, 3), angular(nb, 3);
    accelerations_to_neutral(s.model(), self.poses.data(), self.twists.data(), rates.data(), linear.data(),
                             angular.data());
    Column multipliers(s.model().rows_total());
    s.multipliers(self.time, self.x.data(), self.u.data(), self.udot.data(), multipliers.data());
    return {linear, angular, multipliers};
}

std::pair<Rows, Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor>> reactions(
    SymbolicAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<Observation::Reaction> wanted;
    for (const auto& [blocks, pair] : which) wanted.push_back({blocks, pair});
    std::vector<Symbolic::ReactionWrench> out;
    self.system.reactions(self.time, self.x.data(), self.u.data(), self.udot.data(), wanted, out);
    Rows wrench(out.size(), 6);
    Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor> unique(out.size(), 2);
    for (size_t i = 0; i < out.size(); ++i) {
        for (int k = 0; k < 6; ++k) wrench(i, k) = out[i].wrench[k];
        for (int k = 0; k < 2; ++k) unique(i, k) = out[i].unique[k];
    }
    return {wrench, unique};
}

std::pair<Column, Column> coordinates(SymbolicAt& self) {
    Column value(self.system.model().coordinates.size()), rate(value.size());
    self.system.coordinates(self.time, self.x.data(), self.u.data(), value.data(), rate.data());
    return {value, rate};
}

RowArrays rows(SymbolicAt& self) {
    Symbolic& s = self.system;
    s.to_records(self.time, self.x.data(), self.u.data(), self.poses.data(), self.twists.data());
    return dense_rows(s.model(), s.branches(), self.time, self.poses.data(), self.twists.data());
}

// Moves the bodies, then the joints as near to that as they can.
void displace(SymbolicAt& self, const Rows& displacement) {
    Symbolic& s = self.system;
    if (displacement.rows() != s.model().bodies() || displacement.cols() != 6)
        throw std::invalid_argument("displacement: six numbers per body");
    s.to_records(self.time, self.x.data(), self.u.data(), self.poses.data(), self.twists.data());
    for (int b = 0; b < s.model().bodies(); ++b) {
        double* p = self.poses.data() + kPose * b;
        for (int k = 0; k < 3; ++k) p[k] += displacement(b, k);
        const Quat q = advanced({p[4], p[5], p[6], p[7]}, {displacement(b, 3), displacement(b, 4), displacement(b, 5)});
        p[4] = q.w, p[5] = q.x, p[6] = q.y, p[7] = q.z;
    }
    s.from_records(self.time, self.poses.data(), self.twists.data(), true, self.x.data(), self.u.data());
}

// Per speed: the pair of its joint (-1: a body that hangs on nothing), the body behind it, and what moves.
std::vector<std::tuple<int, int, std::string>> speed_labels(const SymbolicAt& self) {
    std::vector<std::tuple<int, int, std::string>> out(self.system.tangent_size());
    for (const symbolic::JointMap& map : self.system.equations().mechanism.joints) {
        const auto label = [&](int speed, const std::string& text) {
            if (speed >= 0) out[speed] = {map.joint.pair, map.joint.child, text};
        };
        const bool universal = map.joint.turning == symbolic::Turning::universal;
        const int axis = static_cast<int>(map.joint.turning) - static_cast<int>(symbolic::Turning::about_x);
        for (int i = 0; i < 3; ++i) label(map.slide_speed[i], std::string(1, "xyz"[i]));
        for (int i = 0; i < 2; ++i) {
            const std::string swing = "swing_" + std::to_string(i + 1);
            label(map.turn_speed[i], universal               ? "universal_" + std::to_string(i + 1)
                                     : axis >= 0 && axis < 3 ? std::string("theta_") + "xyz"[axis]
                                                             : swing);
        }
        for (size_t i = 0; i < map.own.size(); ++i) {
            const Formulas& formulas = self.system.model().data().formulas;
            label(map.own_speed[i], formulas.graph->symbol_of(formulas.joints[map.joint.formula].coordinates[i]).name);
        }
        for (int i = 0; i < 3 && map.ball_speed >= 0; ++i) label(map.ball_speed + i, std::string("omega_") + "xyz"[i]);
    }
    return out;
}

Column copy_of(const std::vector<double>& v) { return Eigen::Map<const Column>(v.data(), v.size()); }

void check_size(Eigen::Index given, int wanted, const char* what) {
    if (given != wanted)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wanted) + " numbers expected, " +
                                    std::to_string(given) + " given");
}

Column inverse_dynamics(SymbolicAt& self, const Column& accelerations) {
    const int n = self.system.tangent_size();
    check_size(accelerations.size(), n, "accelerations");
    Column efforts(n);
    self.system.inverse_dynamics(self.time, self.x.data(), self.u.data(), accelerations.data(), efforts.data());
    return efforts;
}

std::pair<Rows, Column> mass_matrix(SymbolicAt& self) {
    const int n = self.system.tangent_size();
    Rows M(n, n);
    Column b(n);
    self.system.mass_matrix(self.time, self.x.data(), self.u.data(), M.data(), b.data());
    return {M, b};
}

std::tuple<Rows, Rows, Rows> linearize(SymbolicAt& self) {
    const int n = self.system.tangent_size();
    Rows all(n, 3 * n);
    self.system.linearize(self.time, self.x.data(), self.u.data(), all.data());
    return {all.leftCols(n), all.middleCols(n, n), all.rightCols(n)};
}

Rows parameter_derivatives(SymbolicAt& self) {
    Rows out(self.system.tangent_size(), self.system.equations().numbers.parameters().size());
    self.system.parameter_derivatives(self.time, self.x.data(), self.u.data(), out.data());
    return out;
}

nb::dict operations(SymbolicAt& self, const std::string& form) {
    const OperationCount c = self.system.operations(form);
    nb::dict d;
    d["additions"] = c.additions;
    d["multiplications"] = c.multiplications;
    d["divisions"] = c.divisions;
    d["trigonometric"] = c.trigonometric;
    d["other"] = c.other;
    return d;
}

void bind_state(nb::class_<SymbolicAt, SystemAt>& c) {
    c.def("set_state", &SymbolicAt::set, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
          "continued"_a = false,
          "Sets the state of the bodies' frame origins in world axes, as of Lagrange; what the tree's joints do not\n"
          "allow is left out.")
        .def("state", &SymbolicAt::get,
             "time, position, rotation, velocity, angular velocity, as set_state takes them.")
        .def("coordinates", &coordinates, "Values and rates of all coordinates of the model.")
        .def(
            "coordinate_accelerations",
            [](SymbolicAt& self, const Rows& linear, const Rows& angular) {
                Symbolic& s = self.system;
                s.to_records(self.time, self.x.data(), self.u.data(), self.poses.data(), self.twists.data());
                return coordinate_accelerations(s.model(), s.branches(), self.poses.data(), self.twists.data(), linear,
                                                angular);
            },
            "linear"_a, "angular"_a, "Second derivatives of all coordinates, as of Lagrange.")
        .def(
            "set_angles",
            [](SymbolicAt& self, const Column& values) {
                check_size(values.size(), static_cast<int>(self.system.model().coordinates.size()), "values");
                self.system.set_angles(self.x.data(), values.data());
            },
            "values"_a, "Takes every angle to its branch nearest to the value given, as of Lagrange.")
        .def("rows", &rows, "C, Ct, Qc (rows,) and the dense Jacobian (rows, 6 nb), as of Lagrange.")
        .def("displace", &displace, "displacement"_a, "Moves the bodies by (nb, 6), as of Lagrange, joints kept.")
        .def("speed_labels", &speed_labels, "Per speed: pair of its joint or -1, body behind it, what moves.")
        .def(
            "configuration", [](const SymbolicAt& self) { return copy_of(self.x); }, "Coordinates q of the joints.")
        .def(
            "speeds", [](const SymbolicAt& self) { return copy_of(self.u); }, "Speeds u.")
        .def(
            "set_configuration",
            [](SymbolicAt& self, double time, const Column& q, const Column& u) {
                check_size(q.size(), self.system.configuration_size(), "configuration");
                check_size(u.size(), self.system.tangent_size(), "speeds");
                self.time = time;
                std::copy_n(q.data(), q.size(), self.x.data());
                std::copy_n(u.data(), u.size(), self.u.data());
                self.system.commit(time, self.x.data(), self.u.data());
            },
            "time"_a, "configuration"_a, "speeds"_a, "Sets the state by coordinates and speeds of the joints.")
        .def(
            "displace_joints",
            [](SymbolicAt& self, const Column& xi) {
                check_size(xi.size(), self.system.tangent_size(), "displacement");
                self.system.retract(self.x.data(), xi.data(), self.x.data());
            },
            "displacement"_a, "Moves the configuration along (speeds,).")
        .def(
            "project", [](SymbolicAt& self) { return self.system.project(self.time, self.x.data(), self.u.data()); },
            "Moves the state onto the closing rows. False if they cannot be met from here.")
        .def(
            "violation",
            [](SymbolicAt& self) {
                double c, rate;
                self.system.violation(self.time, self.x.data(), self.u.data(), &c, &rate);
                return std::make_pair(c, rate);
            },
            "Largest error of positions and of velocities over the closing rows.")
        .def(
            "energy",
            [](SymbolicAt& self) {
                const Energy e = self.system.energy_at(self.time, self.x.data(), self.u.data());
                return std::make_pair(e.kinetic, e.potential);
            },
            "Kinetic and potential energy [J].");
}

void bind_dynamics(nb::class_<SymbolicAt, SystemAt>& c) {
    c.def("accelerate", &accelerate,
          "Linear (nb, 3) and angular (nb, 3) accelerations of the frame origins, world axes, and multipliers (rows,).")
        .def(
            "joint_accelerations",
            [](SymbolicAt& self) {
                self.system.accelerate(self.time, self.x.data(), self.u.data(), self.udot.data());
                return copy_of(self.udot);
            },
            "Rates of the speeds.")
        .def("reactions", &reactions, "which"_a, "After accelerate(), as of Lagrange.")
        .def("inverse_dynamics", &inverse_dynamics, "accelerations"_a,
             "Efforts (speeds,) along the speeds that accelerations (speeds,) need beside the model's forces.")
        .def("mass_matrix", &mass_matrix, "M (speeds, speeds) and b (speeds,) of M a = b, without closing rows.")
        .def("linearize", &linearize,
             "Derivatives of the accelerations by displacements, speeds and efforts, (speeds, speeds) each.")
        .def("parameter_derivatives", &parameter_derivatives,
             "Derivatives (speeds, parameters) of the accelerations by the parameters of `numbers`.")
        .def(
            "dropped_rows", [](const SymbolicAt& self) { return self.system.dropped_rows(); },
            "Model rows found redundant at the last factorization.")
        .def(
            "worst_row", [](const SymbolicAt& self) { return self.system.worst_row(); },
            "Model row with the largest error, -1 without rows.")
        .def(
            "statistics", [](const SymbolicAt& self) { return statistics_dict(self.system.statistics()); },
            nb::sig("def statistics(self) -> dict[str, float]"), "What the solver did so far.");
}

void bind_forms(nb::class_<SymbolicAt, SystemAt>& c) {
    c.def("operations", &operations, "form"_a, nb::sig("def operations(self, form: str) -> dict[str, int]"),
          "Operations of a generated form.")
        .def(
            "program",
            [](SymbolicAt& self, const std::string& form) -> CompiledProgram& { return self.system.program(form); },
            "form"_a, nb::rv_policy::reference_internal, "A generated form as a program.")
        .def(
            "closing_rows", [](const SymbolicAt& self) { return self.system.equations().rows; },
            "Model rows that are met by multipliers; all others hold by the choice of coordinates.")
        .def(
            "method", [](const SymbolicAt& self) { return self.system.equations().method; },
            "How accelerations are found once they were asked for: composite, articulated or unit accelerations.")
        .def(
            "repeat",
            [](SymbolicAt& self, int times, double step) {
                std::vector<double> x = self.x;
                nb::gil_scoped_release release;
                for (int i = 0; i < times; ++i) {
                    x[0] = self.x[0] + (i & 1 ? step : 0.0);
                    self.system.accelerate(self.time, x.data(), self.u.data(), self.udot.data());
                }
            },
            "times"_a, "step"_a = 1e-12, "Repeats the acceleration at alternating configurations, for timing.");
}

}  // namespace

void bind_symbolic(nb::module_& m) {
    nb::class_<SymbolicAt, SystemAt> c(m, "Symbolic", "The symbolic formulation of a model, at a state.");
    c.def(
        "__init__",
        [](SymbolicAt* self, std::shared_ptr<Model> model, double rank_tolerance, double position_tolerance,
           double stage_pivot, double doubt, int max_corrections,
           std::shared_ptr<symbolic::ParametricNumbers> numbers) {
            const SymbolicOptions options{rank_tolerance, position_tolerance, stage_pivot,
                                          doubt,          max_corrections,    std::move(numbers)};
            new (self) SymbolicAt(std::move(model), options);
        },
        "model"_a, "rank_tolerance"_a = 1e-10, "position_tolerance"_a = 1e-13, "stage_pivot"_a = 1e-2, "doubt"_a = 10.0,
        "max_corrections"_a = 25, "numbers"_a = nb::none(),
        "numbers: which numbers of the model follow parameters.\n\nRaises:\n    ValueError: the model cannot be taken; "
        "all reasons.");
    c.def_static(
        "refusals", [](const Model& model) { return symbolic::Equations::refusals(model); }, "model"_a,
        "Why a model cannot be taken; empty if it can.");
    bind_state(c);
    bind_dynamics(c);
    bind_forms(c);
}

}  // namespace bellcrank
