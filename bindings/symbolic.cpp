// The symbolic formulation at one state.
#include "formulations/symbolic.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "expression/lower.hpp"
#include "expression/part.hpp"
#include "process_graph.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using SymbolicAt = At<Symbolic, JointSystemAt>;

// Per speed: the pair of its joint (-1: a body that hangs on nothing), the body behind it, and what moves.
std::vector<std::tuple<int, int, std::string>> speed_labels(const SymbolicAt& self) {
    std::vector<std::tuple<int, int, std::string>> out(self.system.tangent_size());
    for (const symbolic::JointMap& map : self.system.equations().mechanism.joints) {
        const auto label = [&](int speed, const std::string& text) {
            if (speed >= 0) out[speed] = {map.joint.pair, map.joint.child, text};
        };
        const bool universal = map.joint.turning == Turning::universal;
        const int axis = static_cast<int>(map.joint.turning) - static_cast<int>(Turning::about_x);
        for (int i = 0; i < 3; ++i) label(map.slide_speed[i], std::string(1, "xyz"[i]));
        for (int i = 0; i < 2; ++i) {
            const std::string number = std::to_string(i + 1);
            if (universal) label(map.turn_speed[i], "universal_" + number);
            if (axis >= 0 && axis < 3) label(map.turn_speed[i], std::string("theta_") + "xyz"[axis]);
            if (map.swing_speed >= 0) label(map.swing_speed + i, "swing_" + number);
        }
        for (size_t i = 0; i < map.own.size(); ++i) {
            const Formulas& formulas = self.system.model().data().formulas;
            label(map.own_speed[i], formulas.graph->symbol_of(formulas.joints[map.joint.formula].coordinates[i]).name);
        }
        for (int i = 0; i < 3 && map.ball_speed >= 0; ++i) label(map.ball_speed + i, std::string("omega_") + "xyz"[i]);
    }
    return out;
}

// Per coordinate: the first of the speeds that move it, and the component of its quaternion (w x y z), empty for
// others.
std::vector<std::tuple<int, std::string>> coordinate_labels(const SymbolicAt& self) {
    std::vector<std::tuple<int, std::string>> out(self.system.configuration_size());
    for (const symbolic::JointMap& map : self.system.equations().mechanism.joints) {
        const auto label = [&](int coordinate, int speed, std::string text) {
            if (coordinate >= 0) out[coordinate] = {speed, std::move(text)};
        };
        for (int i = 0; i < 3; ++i) label(map.slide[i], map.slide_speed[i], "");
        for (int i = 0; i < 2; ++i) label(map.turn[i], map.turn_speed[i], "");
        for (size_t i = 0; i < map.own.size(); ++i) label(map.own[i], map.own_speed[i], "");
        for (int i = 0; i < 4 && map.ball >= 0; ++i) label(map.ball + i, map.ball_speed, std::string(1, "wxyz"[i]));
        for (int i = 0; i < 4 && map.swing >= 0; ++i) label(map.swing + i, map.swing_speed, std::string(1, "wxyz"[i]));
    }
    return out;
}

// A form for users; pose: position (3) and rotation (9) of a frame on the body, or nothing.
symbolic::Exported exported(SymbolicAt& self, const std::string& form, int body, const HeldExpressions& pose,
                            const std::vector<int>& open) {
    symbolic::Equations& equations = self.system.equations();
    if (pose.empty()) return equations.exported(form, nullptr, open);
    if (pose.size() != 12) throw std::invalid_argument("pose: 12 expressions expected");
    const std::vector<Ref> roots = refs(pose);
    const symbolic::BodyFrame frame = equations.frame_of(body, *process_graph(), roots);
    return equations.exported(form, &frame, open);
}

Program exported_program(SymbolicAt& self, const std::string& form, int body, const HeldExpressions& pose,
                         const std::vector<int>& open) {
    const symbolic::Exported found = exported(self, form, body, pose, open);
    return lower(self.system.equations().graph, found.outputs, found.inputs);
}

HeldExpressions exported_expressions(SymbolicAt& self, const std::string& form, int body, const HeldExpressions& pose,
                                     const std::vector<int>& open, const HeldExpressions& inputs) {
    const symbolic::Exported found = exported(self, form, body, pose, open);
    if (inputs.size() != found.inputs.size()) throw std::invalid_argument("inputs: one symbol for each expected");
    std::vector<std::pair<Ref, Ref>> images;
    for (size_t i = 0; i < inputs.size(); ++i) images.emplace_back(found.inputs[i], inputs[i].ref());
    return held(transfer(self.system.equations().graph, found.outputs, *process_graph(), images));
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

std::tuple<Rows, Rows, Rows, Rows, Rows> linearize(SymbolicAt& self) {
    const int n = self.system.tangent_size();
    Rows all(n, 3 * n), rows(self.system.closing_rows().size(), 2 * n);
    self.system.linearize(self.time, self.x.data(), self.u.data(), all.data(), rows.data());
    return {all.leftCols(n), all.middleCols(n, n), all.rightCols(n), rows.leftCols(n), rows.rightCols(n)};
}

std::tuple<Rows, Rows, Rows> linearize_rows(SymbolicAt& self) {
    const int n = self.system.tangent_size();
    const auto m = static_cast<int>(self.system.closing_rows().size());
    Rows rows(m, 2 * n), chart(n, n);
    self.system.linearize_rows(self.time, self.x.data(), self.u.data(), rows.data(), chart.data());
    return {rows.leftCols(n), rows.rightCols(n), chart};
}

std::tuple<Rows, Rows, Rows, Rows> parameter_derivatives(SymbolicAt& self) {
    const auto m = static_cast<Eigen::Index>(self.system.closing_rows().size());
    Rows out(self.system.tangent_size(), self.system.equations().numbers.parameters().size());
    Rows rows(3 * m, out.cols());
    self.system.parameter_derivatives(self.time, self.x.data(), self.u.data(), out.data(), rows.data());
    return {out, rows.topRows(m), rows.middleRows(m, m), rows.bottomRows(m)};
}

void bind_dynamics(nb::class_<SymbolicAt, JointSystemAt>& c) {
    c.def("speed_labels", &speed_labels, "Per speed: pair of its joint or -1, body behind it, what moves.")
        .def("inverse_dynamics", &inverse_dynamics, "accelerations"_a,
             "Efforts (speeds,) along the speeds that accelerations (speeds,) need beside the model's forces.")
        .def("mass_matrix", &mass_matrix, "M (speeds, speeds) and b (speeds,) of M a = b, without closing rows.")
        .def(
            "linearize", &linearize,
            "Derivatives of the accelerations by displacements, speeds and efforts, (speeds, speeds) each; and of the\n"
            "closing rows' second rates at fixed accelerations by displacements and by speeds, (rows, speeds) each.")
        .def("linearize_rows", &linearize_rows,
             "Derivatives of the closing rows' rates by displacements and by speeds, (rows, speeds) each; and of the "
             "displacements' rates by displacements, at fixed speeds, (speeds, speeds).")
        .def("parameter_derivatives", &parameter_derivatives,
             "Derivatives (speeds, parameters) of the accelerations by the parameters of `numbers`, and (rows, "
             "parameters)\n"
             "of the closing rows: of their second rates at fixed accelerations, of their values and of their rates.");
}

void bind_forms(nb::class_<SymbolicAt, JointSystemAt>& c) {
    c.def(
         "operations", [](SymbolicAt& self, const std::string& form) { return dict_of(self.system.operations(form)); },
         "form"_a, nb::sig("def operations(self, form: str) -> dict[str, int]"), "Operations of a generated form.")
        .def(
            "program",
            [](SymbolicAt& self, const std::string& form) -> CompiledProgram& { return self.system.program(form); },
            "form"_a, nb::rv_policy::reference_internal, "A generated form as a program.")
        .def(
            "method", [](const SymbolicAt& self) { return self.system.equations().method; },
            "How accelerations are found once they were asked for: composite or articulated.");
}

void bind_exported(nb::class_<SymbolicAt, JointSystemAt>& c) {
    c.def("coordinate_labels", &coordinate_labels,
          "Per coordinate: the first speed that moves it, and which component of a quaternion it is, or \"\".")
        .def(
            "remembered_angles", [](const SymbolicAt& self) { return self.system.equations().branch_coordinates; },
            "Coordinates of the model that depend on where they were last.")
        .def(
            "exported_program", &exported_program, "form"_a, "body"_a, "pose"_a, "open"_a,
            "A form for users as a function of t, q, u, accelerations, efforts, and parameters by their numbers. body, "
            "pose: a frame, position (3) and rotation (9) in the body's, of pose, velocity and jacobian; else "
            "empty.\n\nRaises:\n    ValueError: there is no such form of this model.")
        .def("exported_expressions", &exported_expressions, "form"_a, "body"_a, "pose"_a, "open"_a, "inputs"_a,
             Writes(), "The same as expressions of these symbols.");
}

}  // namespace

void bind_symbolic(nb::module_& m) {
    nb::class_<SymbolicAt, JointSystemAt> c(m, "Symbolic", "The symbolic formulation of a model, at a state.");
    c.def(
        "__init__",
        [](SymbolicAt* self, std::shared_ptr<Model> model, const JointSystemOptions& options,
           std::shared_ptr<symbolic::ParametricNumbers> numbers) {
            new (self) SymbolicAt(std::move(model), SymbolicOptions{options, std::move(numbers)});
        },
        "model"_a, "options"_a = JointSystemOptions{}, "numbers"_a = nb::none(),
        "numbers: which numbers of the model follow parameters.\n\nRaises:\n    ValueError: the model cannot be taken; "
        "all reasons.");
    c.def_static(
        "refusals",
        [](const Model& model, const std::vector<int>& cut) { return symbolic::Equations::refusals(model, cut); },
        "model"_a, "cut"_a = std::vector<int>{}, "Why a model cannot be taken; empty if it can.");
    bind_dynamics(c);
    bind_forms(c);
    bind_exported(c);
}

}  // namespace bellcrank
