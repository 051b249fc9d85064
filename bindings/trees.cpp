// Formulations in joint coordinates at one state: what they have in common.
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "joint_system.hpp"
#include "spatial/components.hpp"
#include "spatial/rotation.hpp"
#include "trees/cut_off.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void JointSystemAt::make_room() {
    x.resize(core().configuration_size());
    u.resize(core().tangent_size());
    udot.resize(u.size());
    poses.resize(kPose * (core().model().bodies() + 1));
    twists.resize(poses.size());
}

void JointSystemAt::set(double t, const Rows& position, const Rows& rotation, const Rows& velocity,
                        const Rows& angular_velocity, bool continued) {
    records_of(core().model(), t, position, rotation, velocity, angular_velocity, poses.data(), twists.data());
    time = t;
    core().from_records(t, poses.data(), twists.data(), continued, x.data(), u.data());
}

void check_size(Eigen::Index given, int wanted, const char* what) {
    if (given != wanted)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wanted) + " numbers expected, " +
                                    std::to_string(given) + " given");
}

namespace {

using Column = Eigen::VectorXd;

std::tuple<Rows, Rows, Column> accelerate(JointSystemAt& self) {
    JointSystem& s = self.core();
    self.accelerate();
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

ReactionArrays reactions(JointSystemAt& self, const std::vector<std::pair<std::vector<int>, int>>& which) {
    std::vector<ReactionWrench> out;
    self.core().reactions(self.time, self.x.data(), self.u.data(), self.udot.data(), reactions_of(which), out);
    return reaction_arrays(out);
}

std::pair<Column, Column> coordinates(JointSystemAt& self) {
    Column value(self.core().model().coordinates.size()), rate(value.size());
    self.core().coordinates(self.time, self.x.data(), self.u.data(), value.data(), rate.data());
    return {value, rate};
}

// Moves the bodies, then the joints as near to that as they can.
void displace(JointSystemAt& self, const Rows& displacement) {
    const int nb = self.core().model().bodies();
    if (displacement.rows() != nb || displacement.cols() != 6)
        throw std::invalid_argument("displacement: six numbers per body");
    self.write_records();
    for (int b = 0; b < nb; ++b) {
        double* p = self.poses.data() + kPose * b;
        add(p, {displacement(b, 0), displacement(b, 1), displacement(b, 2)});
        const Vec3 turn{displacement(b, 3), displacement(b, 4), displacement(b, 5)};
        store(p + 4, advanced(load_quaternion(p + 4), turn));
    }
    self.core().from_records(self.time, self.poses.data(), self.twists.data(), true, self.x.data(), self.u.data());
}

void set_configuration(JointSystemAt& self, double time, const Column& q, const Column& u) {
    check_size(q.size(), self.core().configuration_size(), "configuration");
    check_size(u.size(), self.core().tangent_size(), "speeds");
    self.time = time;
    std::copy_n(q.data(), q.size(), self.x.data());
    std::copy_n(u.data(), u.size(), self.u.data());
    self.core().commit(time, self.x.data(), self.u.data());
}

Column copy_of(const std::vector<double>& v) { return Eigen::Map<const Column>(v.data(), v.size()); }

void bind_state(nb::class_<JointSystemAt, SystemAt>& c) {
    c.def("set_state", &JointSystemAt::set, "time"_a, "position"_a, "rotation"_a, "velocity"_a, "angular_velocity"_a,
          "continued"_a = false,
          "Sets the state of the bodies' frame origins in world axes, as of Lagrange; what the tree's joints do not\n"
          "allow is left out.")
        .def(
            "state",
            [](JointSystemAt& self) {
                self.write_records();
                return arrays_of(self.core().model(), self.time, self.poses.data(), self.twists.data());
            },
            "time, position, rotation, velocity, angular velocity, as set_state takes them.")
        .def(
            "set_angles",
            [](JointSystemAt& self, const Column& values) {
                check_size(values.size(), static_cast<int>(self.core().model().coordinates.size()), "values");
                self.core().set_angles(self.x.data(), values.data());
            },
            "values"_a, "Takes every angle to its branch nearest to the value given, as of Lagrange.")
        .def("displace", &displace, "displacement"_a, "Moves the bodies by (nb, 6), as of Lagrange, joints kept.")
        .def(
            "configuration", [](const JointSystemAt& self) { return copy_of(self.x); }, "Coordinates q of the joints.")
        .def(
            "speeds", [](const JointSystemAt& self) { return copy_of(self.u); }, "Speeds u.")
        .def("set_configuration", &set_configuration, "time"_a, "configuration"_a, "speeds"_a,
             "Sets the state by coordinates and speeds of the joints.")
        .def(
            "displace_joints",
            [](JointSystemAt& self, const Column& xi) {
                check_size(xi.size(), self.core().tangent_size(), "displacement");
                self.core().retract(self.x.data(), xi.data(), self.x.data());
            },
            "displacement"_a, "Moves the configuration along (speeds,).");
}

void bind_values(nb::class_<JointSystemAt, SystemAt>& c) {
    c.def("coordinates", &coordinates, "Values and rates of all coordinates of the model.")
        .def(
            "coordinate_accelerations",
            [](JointSystemAt& self, const Rows& linear, const Rows& angular) {
                self.write_records();
                return coordinate_accelerations(self.core().model(), self.core().branches(), self.poses.data(),
                                                self.twists.data(), linear, angular);
            },
            "linear"_a, "angular"_a, "Second derivatives of all coordinates, as of Lagrange.")
        .def(
            "rows",
            [](JointSystemAt& self) {
                self.write_records();
                return dense_rows(self.core().model(), self.core().branches(), self.time, self.poses.data(),
                                  self.twists.data());
            },
            "C, Ct, Qc (rows,) and the dense Jacobian (rows, 6 nb), as of Lagrange.")
        .def(
            "violation",
            [](JointSystemAt& self) {
                double c, rate;
                self.core().violation(self.time, self.x.data(), self.u.data(), &c, &rate);
                return std::make_pair(c, rate);
            },
            "Largest error of positions and of velocities over the closing rows and drives.")
        .def(
            "energy",
            [](JointSystemAt& self) {
                const Energy e = self.core().energy_at(self.time, self.x.data(), self.u.data());
                return std::make_pair(e.kinetic, e.potential);
            },
            "Kinetic and potential energy [J].");
}

void bind_dynamics(nb::class_<JointSystemAt, SystemAt>& c) {
    c.def("accelerate", &accelerate,
          "Linear (nb, 3) and angular (nb, 3) accelerations of the frame origins, world axes, and multipliers (rows,).")
        .def(
            "joint_accelerations",
            [](JointSystemAt& self) {
                self.accelerate();
                return copy_of(self.udot);
            },
            "Rates of the speeds.")
        .def("reactions", &reactions, "which"_a, "After accelerate(), as of Lagrange.")
        .def(
            "determined_multipliers", [](JointSystemAt& self) { return determined(self.core()); },
            "After accelerate(): which multipliers (rows,) the equations of motion determine.")
        .def(
            "dropped_rows", [](JointSystemAt& self) { return self.core().dropped_rows(); },
            "Model rows found redundant at the last factorization.")
        .def(
            "closing_rows", [](JointSystemAt& self) { return self.core().closing_rows(); },
            "Model rows that are met by multipliers; all others hold by the choice of coordinates.");
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<JointSystemAt, SystemAt> c(m, "JointSystem", "A formulation in joint coordinates, at a state.");
    bind_state(c);
    bind_values(c);
    bind_dynamics(c);
    m.def(
        "cut_off",
        [](const Model& model, const std::vector<int>& cut) {
            std::vector<std::pair<std::vector<int>, std::vector<int>>> out;
            for (CutOff& part : cut_off(model, cut)) out.emplace_back(std::move(part.bodies), std::move(part.blocks));
            return out;
        },
        "model"_a, "cut"_a,
        "Bodies that would hang on nothing, and the blocks that carried them, if joints were left out of every tree.");
}

}  // namespace bellcrank
