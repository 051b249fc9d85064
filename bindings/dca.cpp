// The divide-and-conquer formulation at one state.
#include "formulations/dca.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using DcaAt = At<Dca>;

nb::dict plan_of(const DcaAt& self) {
    const Assembly& assembly = self.system.assembly();
    const AssemblyPlan& plan = assembly.plan();
    nb::dict out;
    out["nodes"] = plan.nodes.size();
    out["depth"] = plan.depth;
    out["components"] = plan.components;
    out["most_ends"] = plan.most_ends;
    out["widest"] = plan.widest;
    out["hubs"] = assembly.hubs();
    out["tasks"] = assembly.tasks();
    return out;
}

}  // namespace

void bind_dca(nb::module_& m) {
    nb::class_<DcaAt, SystemAt>(m, "Dca", "The divide-and-conquer formulation of a model, at a state.")
        .def(
            "__init__",
            [](DcaAt* self, std::shared_ptr<Model> model, double penalty, double max_penalty, double frequency,
               double damping, bool projections, int max_iterations, double position_tolerance,
               double velocity_tolerance, double acceleration_tolerance, double contact_tolerance, double rest_speed,
               int threads) {
                const DcaOptions options{penalty,
                                         max_penalty,
                                         frequency,
                                         damping,
                                         projections,
                                         max_iterations,
                                         position_tolerance,
                                         velocity_tolerance,
                                         acceleration_tolerance,
                                         contact_tolerance,
                                         rest_speed,
                                         threads};
                new (self) DcaAt(std::move(model), options);
            },
            "model"_a, "penalty"_a, "max_penalty"_a, "frequency"_a, "damping"_a, "projections"_a, "max_iterations"_a,
            "position_tolerance"_a, "velocity_tolerance"_a, "acceleration_tolerance"_a, "contact_tolerance"_a,
            "rest_speed"_a, "threads"_a)
        .def(
            "threads", [](const DcaAt& self) { return self.system.threads(); }, "Threads that share the work.")
        .def(
            "node_times",
            [](DcaAt& self) {
                Assembly::Times times = self.system.measure_nodes();
                return std::vector<std::vector<double>>{times.factor, times.up, times.down};
            },
            "Seconds that each node takes: to be factored, on the way up, on the way down; after an acceleration.")
        .def("plan", &plan_of, nb::sig("def plan(self) -> dict[str, int]"),
             "The tree that the mechanism is put together by: its nodes, the longest way from root to leaf, roots, the "
             "most ends of a node, unknowns of the largest, and hubs.")
        .def(
            "tree",
            [](const DcaAt& self) {
                std::vector<std::vector<int>> children;
                for (const Subassembly& node : self.system.assembly().plan().nodes) children.push_back(node.children);
                return children;
            },
            "Per node of the tree the nodes that it joins; children come before parents.")
        .def(
            "iterations",
            [](const DcaAt& self) {
                std::vector<std::vector<long long>> out;
                for (const auto& level : self.system.iterations()) out.emplace_back(level.begin(), level.end());
                return out;
            },
            "Per level (positions, velocities, accelerations) how often 0, 1, 2, ... iterations were taken.");
}

}  // namespace bellcrank
