// Numbers of a model that follow parameters, for Symbolic(numbers=...).
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "derivation/numbers.hpp"
#include "expression/part.hpp"
#include "process_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_parametric(nb::module_& m) {
    using symbolic::ParametricNumbers;
    nb::class_<ParametricNumbers>(m, "ParametricNumbers", "Numbers of a model that follow parameters.")
        .def(
            "__init__",
            [](ParametricNumbers* self, const HeldExpressions& parameters, std::vector<double> values,
               const std::vector<std::tuple<std::string, int, HeldExpression>>& entries,
               const std::vector<std::tuple<int, int, int>>& steered) {
                if (parameters.size() != values.size())
                    throw std::invalid_argument("values: one for each parameter expected");
                std::vector<Ref> roots = refs(parameters);
                for (const auto& [array, index, formula] : entries) roots.push_back(formula.ref());
                const GraphPart part(*process_graph(), roots);
                new (self) ParametricNumbers{part.graph(), {}, std::move(values), {}, {}};
                for (const HeldExpression& e : parameters) self->parameters.push_back(part.image(e.ref()));
                for (const auto& [array, index, formula] : entries)
                    self->entries.push_back({array, index, part.image(formula.ref())});
                for (const auto& [parameter, formula_value, function_param] : steered)
                    self->steered.push_back({parameter, formula_value, function_param});
            },
            "parameters"_a, "values"_a, "entries"_a, "steered"_a = std::vector<std::tuple<int, int, int>>(),
            "parameters: symbols. entries: (array of the model, index of the number in it, expression of the "
            "parameters). steered: (number of a parameter, place among the values of formulas or -1, else place in\n"
            "function_params) of those that follow inputs of the model.");
}

}  // namespace bellcrank
