// What stands for a model at one state: its bodies, its closing rows, and the formulations, with what some of them tell
// beside what every system answers (bindings/system.cpp).
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "assemblies/plan.hpp"
#include "bindings.hpp"
#include "bodies/bodies.hpp"
#include "bodies/closing.hpp"
#include "formulations/constraint_forces.hpp"
#include "formulations/dca.hpp"
#include "formulations/lagrange.hpp"
#include "formulations/recursive.hpp"
#include "model/forces.hpp"
#include "state_of.hpp"
#include "trees/joint_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using ClosingAt = At<Closing>;
using DcaAt = At<Dca>;
using RecursiveAt = At<Recursive, JointSystemAt>;

std::vector<std::pair<int, double>> forces_without_value(At<Bodies>& self, const std::vector<double>& steps) {
    const Model& model = self.system.model();
    std::vector<std::pair<int, double>> found;
    std::vector<double> x(self.x), way(self.u), force(self.u.size());
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

std::vector<std::pair<int, std::vector<std::pair<int, double>>>> dependences(ClosingAt& self, int most) {
    std::vector<std::pair<int, std::vector<std::pair<int, double>>>> out;
    for (Dependence& one : self.system.dependences(most)) out.emplace_back(one.row, std::move(one.of));
    return out;
}

template <class S>
nb::class_<At<S>, SystemAt> bind_closed(nb::module_& m, const char* name, const char* doc) {
    nb::class_<At<S>, SystemAt> c(m, name, doc);
    c.def(nb::init<std::shared_ptr<Model>, const RefinedClosingOptions&>(), "model"_a,
          "options"_a = RefinedClosingOptions{});
    return c;
}

void bind_closing(nb::module_& m) {
    auto options = bind_record<RefinedClosingOptions>(m, "RefinedClosingOptions", "Options of Closing and Lagrange.");
    make_by_name<Missing::initial>(options);
    m.def(
        "spread_of_mobility", [](const Model& model) { return spread_of_mobility(model); }, "model"_a,
        "Largest by smallest mobility of a body: 1/m, and l^2/I at its reach l.");
    bind_closed<Closing>(m, "Closing", "The constraint rows of a model, at a state: their rank, and projections.")
        .def(
            "redundant_rows", [](ClosingAt& self) { return self.system.redundant_rows(self.time, self.x.data()); },
            "Model rows that depend on others at the state while all stops are open.")
        .def("dependences", &dependences, "most"_a,
             "The first `most` of the dropped rows as combinations of others: row, [(other row, factor), ...].");
    bind_closed<Lagrange>(m, "Lagrange", "The lagrange formulation of a model, at a state.");
}

nb::dict plan_of(const DcaAt& self) {
    const Assembly& assembly = self.system.assembly();
    nb::dict out = dict_of(static_cast<const AssemblyCounts&>(assembly.plan()));
    out["nodes"] = assembly.plan().nodes.size();
    out["hubs"] = assembly.hubs();
    out["tasks"] = assembly.tasks();
    return out;
}

void bind_dca(nb::module_& m) {
    auto options = bind_record<DcaOptions>(m, "DcaOptions", "Options of Dca.");
    make_by_name<Missing::initial>(options);
    auto node = bind_record<Subassembly>(m, "Subassembly", "Two subassemblies or parts put together.");
    read_by_name(node);
    auto plan =
        bind_record<AssemblyPlan>(m, "AssemblyPlan", "A binary tree of subassemblies, children before parents.");
    read_by_name(plan);
    m.def(
        "plan_assembly",
        [](std::vector<int> size, std::vector<std::vector<int>> parts) {
            return plan_assembly({std::move(size), std::move(parts)});
        },
        "size"_a, "parts"_a, "The tree for parts that meet at handles: unknowns per handle, handles per part.");
    nb::class_<DcaAt, SystemAt>(m, "Dca", "The divide-and-conquer formulation of a model, at a state.")
        .def(nb::init<std::shared_ptr<Model>, const DcaOptions&>(), "model"_a, "options"_a = DcaOptions{})
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

void set_configuration(JointSystemAt& self, double time, const Column& q, const Column& u) {
    check_size(q.size(), self.core().configuration_size(), "configuration");
    check_size(u.size(), self.core().tangent_size(), "speeds");
    self.time = time;
    std::copy_n(q.data(), q.size(), self.x.data());
    std::copy_n(u.data(), u.size(), self.u.data());
    self.core().commit(time, self.x.data(), self.u.data());
}

void bind_trees(nb::module_& m) {
    nb::class_<JointSystemAt, SystemAt>(m, "JointSystem", "A formulation in joint coordinates, at a state.")
        .def(
            "configuration", [](const JointSystemAt& self) { return column_of(self.x); },
            "Coordinates q of the joints.")
        .def(
            "speeds", [](const JointSystemAt& self) { return column_of(self.u); }, "Speeds u.")
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
                return column_of(self.udot);
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

Rows accelerate_batch(RecursiveAt& self, const Rows& q, const Rows& u) {
    check_size(q.cols(), self.system.configuration_size(), "configurations");
    check_size(u.cols(), self.system.tangent_size(), "speeds");
    if (q.rows() != u.rows()) throw std::invalid_argument("as many configurations as speeds expected");
    Rows out(u.rows(), u.cols());
    nb::gil_scoped_release release;
    self.system.accelerate_batch(self.time, static_cast<int>(u.rows()), q.data(), u.data(), out.data());
    return out;
}

void bind_recursive(nb::module_& m) {
    auto options = bind_record<JointSystemOptions>(m, "JointSystemOptions", "Options of Recursive and Symbolic.");
    make_by_name<Missing::initial>(options);
    nb::class_<RecursiveAt, JointSystemAt>(m, "Recursive", "The recursive formulation of a model, at a state.")
        .def(nb::init<std::shared_ptr<Model>, const JointSystemOptions&>(), "model"_a,
             "options"_a = JointSystemOptions{}, "Raises:\n    ValueError: the model cannot be taken; all reasons.")
        .def_static(
            "refusals", [](const Model& model) { return recursive::refusals(model); }, "model"_a,
            "Why a model cannot be taken; empty if it can.")
        .def("joint_accelerations_batch", &accelerate_batch, "configurations"_a, "speeds"_a,
             "Rates of the speeds at many states (n, coordinates), (n, speeds), at the time of this one.")
        .def(
            "open_rows", [](const RecursiveAt& self) { return self.system.open_rows(); },
            "Per link of the tree how many multipliers of open loops it carries.");
}

void bind_constraint_forces(nb::module_& m) {
    nb::class_<At<ConstraintForces>, SystemAt>(m, "ConstraintForces",
                                               "Bodies under forces that close the constraints, at a state.")
        .def(
            "__init__",
            [](At<ConstraintForces>* self, std::shared_ptr<Model> model, double time_constant, bool released,
               double held_time) {
                new (self) At<ConstraintForces>(std::move(model), ConstraintForceOptions{.time_constant = time_constant,
                                                                                         .released = released,
                                                                                         .held_time = held_time});
            },
            "model"_a, "time_constant"_a, "released"_a, "held_time"_a,
            "time_constant: of the critically damped errors [s]. released: applied forces act and time goes on; else\n"
            "drives stand still at held_time and a drag stops the bodies.")
        .def(
            "counts",
            [](const At<ConstraintForces>& self) {
                return std::make_pair(self.system.statistics().evaluations, self.system.iterations());
            },
            "Accelerations and iterations of LSQR so far.");
}

}  // namespace

void bind_formulations(nb::module_& m) {
    nb::class_<At<Bodies>, SystemAt>(m, "Bodies", "The bodies of a model and its constraint rows, at a state.")
        .def(nb::init<std::shared_ptr<Model>>(), "model"_a)
        .def("forces_without_value", &forces_without_value, "steps"_a,
             "Forces given by formulas that have no finite value after one of these times, on straight ways: (number, "
             "time).");
    bind_closing(m);
    bind_dca(m);
    bind_trees(m);
    bind_recursive(m);
    bind_constraint_forces(m);
}

}  // namespace bellcrank
