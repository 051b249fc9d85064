// The recursive formulation at one state.
#include "formulations/recursive.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "joint_system.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using RecursiveAt = At<Recursive, JointSystemAt>;

Rows accelerate_batch(RecursiveAt& self, const Rows& q, const Rows& u) {
    check_size(q.cols(), self.system.configuration_size(), "configurations");
    check_size(u.cols(), self.system.tangent_size(), "speeds");
    if (q.rows() != u.rows()) throw std::invalid_argument("as many configurations as speeds expected");
    Rows out(u.rows(), u.cols());
    nb::gil_scoped_release release;
    self.system.accelerate_batch(self.time, static_cast<int>(u.rows()), q.data(), u.data(), out.data());
    return out;
}

}  // namespace

void bind_recursive(nb::module_& m) {
    nb::class_<RecursiveAt, JointSystemAt>(m, "Recursive", "The recursive formulation of a model, at a state.")
        .def(
            "__init__",
            [](RecursiveAt* self, std::shared_ptr<Model> model, double rank_tolerance, double position_tolerance,
               double stage_pivot, double doubt, double contact_tolerance, double rest_speed, int max_corrections,
               std::vector<int> cut) {
                const JointSystemOptions options{rank_tolerance,  position_tolerance, stage_pivot,
                                                 doubt,           contact_tolerance,  rest_speed,
                                                 max_corrections, std::move(cut)};
                new (self) RecursiveAt(std::move(model), options);
            },
            "model"_a, "rank_tolerance"_a = 1e-10, "position_tolerance"_a = 1e-13, "stage_pivot"_a = 1e-2,
            "doubt"_a = 10.0, "contact_tolerance"_a = 1e-8, "rest_speed"_a = 1e-3, "max_corrections"_a = 25,
            "cut"_a = std::vector<int>{},
            "cut: blocks of joints that are left out of the tree.\n\nRaises:\n    ValueError: the model cannot be "
            "taken; all reasons.")
        .def_static(
            "refusals", [](const Model& model) { return recursive::refusals(model); }, "model"_a,
            "Why a model cannot be taken; empty if it can.")
        .def("joint_accelerations_batch", &accelerate_batch, "configurations"_a, "speeds"_a,
             "Rates of the speeds at many states (n, coordinates), (n, speeds), at the time of this one.")
        .def(
            "open_rows", [](const RecursiveAt& self) { return self.system.open_rows(); },
            "Per link of the tree how many multipliers of open loops it carries.");
}

}  // namespace bellcrank
