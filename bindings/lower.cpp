// From expressions to programs.
#include "expression/lower.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "expression/expressed_function.hpp"
#include "operations.hpp"
#include "process_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

std::pair<Program, Program> lower_expressions(const HeldExpressions& outputs, const HeldExpressions& inputs,
                                              const HeldExpressions& parameters) {
    LoweredParts parts = lower(*process_graph(), refs(outputs), refs(inputs), refs(parameters));
    return {std::move(parts.prologue), std::move(parts.main)};
}

std::shared_ptr<ExpressedFunction> express(const HeldExpressions& forms, const HeldExpressions& inputs) {
    if (inputs.empty()) throw std::invalid_argument("inputs: a variable is needed");
    if (forms.size() != 3) throw std::invalid_argument("forms: a value and two derivatives expected");
    return std::make_shared<ExpressedFunction>(*process_graph(), refs(forms), refs(inputs));
}

}  // namespace

nb::dict operations_dict(const OperationCount& operations) {
    nb::dict out;
    out["additions"] = operations.additions;
    out["multiplications"] = operations.multiplications;
    out["divisions"] = operations.divisions;
    out["trigonometric"] = operations.trigonometric;
    out["other"] = operations.other;
    return out;
}

void bind_lower(nb::module_& m) {
    m.def("lower_expressions", &lower_expressions, "outputs"_a, "inputs"_a, "parameters"_a = HeldExpressions(),
          "Two programs: one from the parameters to what depends on nothing else, one from the inputs and what the "
          "first one gave to the outputs. Raises ValueError for an input that is no symbol or is given twice, and for "
          "symbols that are not among them.");
    nb::class_<ExpressedFunction>(m, "ExpressedFunction", nb::is_weak_referenceable(),
                                  "A function of one variable, given by an expression.")
        .def(nb::new_(&express), "forms"_a, "inputs"_a,
             "forms: value, first and second derivative. inputs: symbols, the variable first, then the parameters. "
             "Raises ValueError as lower_expressions does.")
        .def_prop_ro(
            "program", [](ExpressedFunction& self) -> CompiledProgram& { return self.program(); },
            nb::rv_policy::reference_internal, "From the inputs to the forms.");
    m.def(
        "program_operations", [](const Program& program) { return operations_dict(count_operations(program)); },
        "program"_a, nb::sig("def program_operations(program: Program) -> dict[str, int]"),
        "How many operations of each sort; a multiply-add is a product and a sum, signs are free.");
}

}  // namespace bellcrank
