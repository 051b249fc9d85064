// Formulations in joint coordinates at one state: what they have in common.
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "joint_system.hpp"
#include "trees/cut_off.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Column = Eigen::VectorXd;

void set_configuration(JointSystemAt& self, double time, const Column& q, const Column& u) {
    check_size(q.size(), self.core().configuration_size(), "configuration");
    check_size(u.size(), self.core().tangent_size(), "speeds");
    self.time = time;
    std::copy_n(q.data(), q.size(), self.x.data());
    std::copy_n(u.data(), u.size(), self.u.data());
    self.core().commit(time, self.x.data(), self.u.data());
}

Column copy_of(const std::vector<double>& v) { return Eigen::Map<const Column>(v.data(), v.size()); }

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<JointSystemAt, SystemAt>(m, "JointSystem", "A formulation in joint coordinates, at a state.")
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
            "displacement"_a, "Moves the configuration along (speeds,).")
        .def(
            "joint_accelerations",
            [](JointSystemAt& self) {
                self.accelerate();
                return copy_of(self.udot);
            },
            "Rates of the speeds.")
        .def(
            "closing_rows", [](JointSystemAt& self) { return self.core().closing_rows(); },
            "Model rows that are met by multipliers; all others hold by the choice of coordinates.");
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
