// From expressions to programs.
#include "expression/lower.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "expression/expression.hpp"
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
    m.def(
        "program_operations", [](const Program& program) { return operations_dict(count_operations(program)); },
        "program"_a, nb::sig("def program_operations(program: Program) -> dict[str, int]"),
        "How many operations of each sort; a multiply-add is a product and a sum, signs are free.");
}

}  // namespace bellcrank
