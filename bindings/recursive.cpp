// The recursive formulation at one state.
#include "formulations/recursive.hpp"

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
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Column = Eigen::VectorXd;

struct RecursiveAt final : SystemAt {
    RecursiveAt(std::shared_ptr<Model> model, const RecursiveOptions& options) : system(std::move(model), options) {
        x.resize(system.configuration_size());
        u.resize(system.tangent_size());
        udot.resize(system.tangent_size());
        poses.resize(kPose * (system.model().bodies() + 1));
        twists.resize(poses.size());
    }
    System& core() override { return system; }

    void set(double t, const Rows& position, const Rows& rotation, const Rows& velocity, const Rows& angular_velocity,
             bool continued) {
        records_of(system.model(), t, position, rotation, velocity, angular_velocity, poses.data(), twists.data());
        time = t;
        system.from_records(t, poses.data(), twists.data(), continued, x.data(), u.data());
    }
    void write_records() { system.to_records(time, x.data(), u.data(), poses.data(), twists.data()); }

    Recursive system;
    std::vector<double> udot, poses, twists;
};

std::tuple<Rows, Rows, Column> accelerate(RecursiveAt& self) {
    Recursive& s = self.system;
    s.accelerate(self.time, self.x.data(), self.u.data(), self.udot.data());
    const int nb = s.model().bodies();
    self.write_records();
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
    RecursiveAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<Observation::Reaction> wanted;
    for (const auto& [blocks, pair] : which) wanted.push_back({blocks, pair});
    std::vector<Recursive::ReactionWrench> out;
    self.system.reactions(self.time, self.x.data(), self.u.data(), self.udot.data(), wanted, out);
    Rows wrench(out.size(), 6);
    Eigen::Matrix<bool, Eigen::Dynamic, 2, Eigen::RowMajor> unique(out.size(), 2);
    for (size_t i = 0; i < out.size(); ++i) {
        for (int k = 0; k < 6; ++k) wrench(i, k) = out[i].wrench[k];
        for (int k = 0; k < 2; ++k) unique(i, k) = out[i].unique[k];
    }
    return {wrench, unique};
}

// Moves the bodies, then the joints as near to that as they can.
void displace(RecursiveAt& self, const Rows& displacement) {
    Recursive& s = self.system;
    if (displacement.rows() != s.model().bodies() || displacement.cols() != 6)
        throw std::invalid_argument("displacement: six numbers per body");
    self.write_records();
    for (int b = 0; b < s.model().bodies(); ++b) {
        double* p = self.poses.data() + kPose * b;
        for (int k = 0; k < 3; ++k) p[k] += displacement(b, k);
        const Quat q = advanced({p[4], p[5], p[6], p[7]}, {displacement(b, 3), displacement(b, 4), displacement(b, 5)});
        p[4] = q.w, p[5] = q.x, p[6] = q.y, p[7] = q.z;
    }
    s.from_records(self.time, self.poses.data(), self.twists.data(), true, self.x.data(), self.u.data());
}

Column copy_of(const std::vector<double>& v) { return Eigen::Map<const Column>(v.data(), v.size()); }

void check_size(Eigen::Index given, int wanted, const char* what) {
    if (given != wanted)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wanted) + " numbers expected, " +
                                    std::to_string(given) + " given");
}

// Repeats the acceleration at alternating configurations.
void repeat(RecursiveAt& self, const std::string& work, int times, double step) {
    if (work != "accelerate") throw std::invalid_argument("repeat: unknown work " + work);
    std::vector<double> x = self.x;
    nb::gil_scoped_release release;
    for (int i = 0; i < times; ++i) {
        x[0] = self.x[0] + (i & 1 ? step : 0.0);
        self.system.accelerate(self.time, x.data(), self.u.data(), self.udot.data());
    }
}

void bind_state(nb::class_<RecursiveAt, SystemAt>& c) {
    c.def("set_state", &RecursiveAt::set, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
          "continued"_a = false,
          "Sets the state of the bodies' frame origins in world axes, as of Lagrange; what the tree's joints do not\n"
          "allow is left out.")
        .def(
            "state",
            [](RecursiveAt& self) {
                self.write_records();
                return arrays_of(self.system.model(), self.time, self.poses.data(), self.twists.data());
            },
            "time, position, rotation, velocity, angular velocity, as set_state takes them.")
        .def(
            "coordinates",
            [](RecursiveAt& self) {
                Column value(self.system.model().coordinates.size()), rate(value.size());
                self.system.coordinates(self.time, self.x.data(), self.u.data(), value.data(), rate.data());
                return std::make_pair(value, rate);
            },
            "Values and rates of all coordinates of the model.")
        .def(
            "coordinate_accelerations",
            [](RecursiveAt& self, const Rows& linear, const Rows& angular) {
                self.write_records();
                return coordinate_accelerations(self.system.model(), self.system.branches(), self.poses.data(),
                                                self.twists.data(), linear, angular);
            },
            "linear"_a, "angular"_a, "Second derivatives of all coordinates, as of Lagrange.")
        .def(
            "set_angles",
            [](RecursiveAt& self, const Column& values) {
                check_size(values.size(), static_cast<int>(self.system.model().coordinates.size()), "values");
                self.system.set_angles(self.x.data(), values.data());
            },
            "values"_a, "Takes every angle to its branch nearest to the value given, as of Lagrange.")
        .def(
            "rows",
            [](RecursiveAt& self) {
                self.write_records();
                return dense_rows(self.system.model(), self.system.branches(), self.time, self.poses.data(),
                                  self.twists.data());
            },
            "C, Ct, Qc (rows,) and the dense Jacobian (rows, 6 nb), as of Lagrange.")
        .def("displace", &displace, "displacement"_a, "Moves the bodies by (nb, 6), as of Lagrange, joints kept.")
        .def(
            "configuration", [](const RecursiveAt& self) { return copy_of(self.x); }, "Coordinates q of the joints.")
        .def(
            "speeds", [](const RecursiveAt& self) { return copy_of(self.u); }, "Speeds u.")
        .def(
            "set_configuration",
            [](RecursiveAt& self, double time, const Column& q, const Column& u) {
                check_size(q.size(), self.system.configuration_size(), "configuration");
                check_size(u.size(), self.system.tangent_size(), "speeds");
                self.time = time;
                std::copy_n(q.data(), q.size(), self.x.data());
                std::copy_n(u.data(), u.size(), self.u.data());
                self.system.commit(time, self.x.data(), self.u.data());
            },
            "time"_a, "configuration"_a, "speeds"_a, "Sets the state by coordinates and speeds of the joints.")
        .def(
            "project", [](RecursiveAt& self) { return self.system.project(self.time, self.x.data(), self.u.data()); },
            "Moves the state onto the closing rows and drives. False if they cannot be met from here.")
        .def(
            "violation",
            [](RecursiveAt& self) {
                double c, rate;
                self.system.violation(self.time, self.x.data(), self.u.data(), &c, &rate);
                return std::make_pair(c, rate);
            },
            "Largest error of positions and of velocities over the closing rows and drives.")
        .def(
            "energy",
            [](RecursiveAt& self) {
                const Energy e = self.system.energy_at(self.time, self.x.data(), self.u.data());
                return std::make_pair(e.kinetic, e.potential);
            },
            "Kinetic and potential energy [J].");
}

void bind_dynamics(nb::class_<RecursiveAt, SystemAt>& c) {
    c.def("accelerate", &accelerate,
          "Linear (nb, 3) and angular (nb, 3) accelerations of the frame origins, world axes, and multipliers (rows,).")
        .def(
            "joint_accelerations",
            [](RecursiveAt& self) {
                self.system.accelerate(self.time, self.x.data(), self.u.data(), self.udot.data());
                return copy_of(self.udot);
            },
            "Rates of the speeds.")
        .def(
            "joint_accelerations_batch",
            [](RecursiveAt& self, const Rows& q, const Rows& u) {
                check_size(q.cols(), self.system.configuration_size(), "configurations");
                check_size(u.cols(), self.system.tangent_size(), "speeds");
                if (q.rows() != u.rows()) throw std::invalid_argument("as many configurations as speeds expected");
                Rows out(u.rows(), u.cols());
                nb::gil_scoped_release release;
                self.system.accelerate_batch(self.time, static_cast<int>(u.rows()), q.data(), u.data(), out.data());
                return out;
            },
            "configurations"_a, "speeds"_a,
            "Rates of the speeds at many states (n, coordinates), (n, speeds), at the time of this one.")
        .def("reactions", &reactions, "which"_a, "After accelerate(), as of Lagrange.")
        .def(
            "dropped_rows", [](const RecursiveAt& self) { return self.system.dropped_rows(); },
            "Model rows found redundant at the last factorization.")
        .def(
            "closing_rows", [](const RecursiveAt& self) { return self.system.tree().closing_rows; },
            "Model rows that are met by multipliers; all others hold by the choice of coordinates.")
        .def(
            "open_rows", [](const RecursiveAt& self) { return self.system.open_rows(); },
            "Per link of the tree how many multipliers of open loops it carries.")
        .def(
            "worst_row", [](const RecursiveAt& self) { return self.system.worst_row(); },
            "Model row with the largest error, -1 without rows.")
        .def(
            "statistics", [](const RecursiveAt& self) { return statistics_dict(self.system.statistics()); },
            nb::sig("def statistics(self) -> dict[str, float]"), "What the solver did so far.")
        .def("repeat", &repeat, "work"_a, "times"_a, "step"_a = 1e-12,
             "Repeats \"accelerate\" at alternating configurations, for timing.");
}

}  // namespace

void bind_recursive(nb::module_& m) {
    nb::class_<RecursiveAt, SystemAt> c(m, "Recursive", "The recursive formulation of a model, at a state.");
    c.def(
        "__init__",
        [](RecursiveAt* self, std::shared_ptr<Model> model, double rank_tolerance, double position_tolerance,
           double stage_pivot, double doubt, int max_corrections) {
            const RecursiveOptions options{rank_tolerance, position_tolerance, stage_pivot, doubt, max_corrections};
            new (self) RecursiveAt(std::move(model), options);
        },
        "model"_a, "rank_tolerance"_a = 1e-10, "position_tolerance"_a = 1e-13, "stage_pivot"_a = 1e-2, "doubt"_a = 10.0,
        "max_corrections"_a = 25, "Raises:\n    ValueError: the model cannot be taken; all reasons.");
    c.def_static(
        "refusals", [](const Model& model) { return recursive::refusals(model); }, "model"_a,
        "Why a model cannot be taken; empty if it can.");
    bind_state(c);
    bind_dynamics(c);
}

}  // namespace bellcrank
