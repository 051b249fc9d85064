// Derivatives, coefficients, substitution and counts of expressions.
#include "expression/derivative.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "expression/expression.hpp"
#include "process_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

DerivativeForm form_of(const std::string& name) {
    if (name == "forward") return DerivativeForm::forward;
    if (name == "reverse") return DerivativeForm::reverse;
    if (name == "factored") return DerivativeForm::factored;
    if (name == "eliminated") return DerivativeForm::eliminated;
    if (name == "least") return DerivativeForm::least;
    throw std::invalid_argument("form must be 'least', 'forward', 'reverse', 'factored' or 'eliminated', got '" + name +
                                "'");
}

void same_length(const HeldExpressions& symbols, const HeldExpressions& values) {
    if (symbols.size() != values.size()) throw std::invalid_argument("as many values as symbols are needed");
}

}  // namespace

void bind_derivatives(nb::module_& m) {
    m.def(
        "expression_derivative",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols, const std::string& form) {
            return held(derivative(*process_graph(), refs(outputs), refs(symbols), form_of(form)));
        },
        "outputs"_a, "symbols"_a, "form"_a = "least", Writes(),
        "Row by row the derivatives of the outputs by the symbols. Raises ValueError unless these are symbols, and for "
        "the third derivative of a table.");
    m.def(
        "expression_rate",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols, const HeldExpressions& rates) {
            same_length(symbols, rates);
            return held(rate(*process_graph(), refs(outputs), refs(symbols), refs(rates)));
        },
        "outputs"_a, "symbols"_a, "rates"_a, Writes(),
        "How fast the outputs change where the symbols change at the rates.");
    m.def(
        "expression_coefficients",
        [](const HeldExpressions& outputs, const HeldExpression& symbol) {
            return held(coefficients(*process_graph(), refs(outputs), symbol.ref()));
        },
        "outputs"_a, "symbol"_a, Writes(),
        "The factors of the symbol. Raises ValueError unless the outputs are linear in it, and unless it is a symbol.");
    m.def(
        "expression_substitute",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols, const HeldExpressions& values) {
            same_length(symbols, values);
            return held(substitute(*process_graph(), refs(outputs), refs(symbols), refs(values)));
        },
        "outputs"_a, "symbols"_a, "values"_a, Writes(), "The outputs with values for symbols, all at once.");
    m.def(
        "expression_count",
        [](const HeldExpressions& outputs) {
            const OperationCount c = count_operations(*process_graph(), refs(outputs));
            return std::tuple(c.additions, c.multiplications, c.divisions, c.trigonometric, c.other);
        },
        "outputs"_a, "Sums, products, divisions, sin cos and tan, other operations that the outputs need together.");
    m.def(
        "expression_path_count",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols) {
            const PathCount c = count_path_operations(*process_graph(), refs(outputs), refs(symbols));
            return std::tuple(c.additions, c.multiplications);
        },
        "outputs"_a, "symbols"_a,
        "Sums and products of the outputs and their derivatives if no two paths shared anything.");
    m.def(
        "expression_rules",
        [](bool trigonometric, bool common_factors) {
            Rules& rules = process_graph()->rules;
            const std::tuple<bool, bool> before(rules.trigonometric, rules.common_factors);
            rules.trigonometric = trigonometric;
            rules.common_factors = common_factors;
            return before;
        },
        "trigonometric"_a, "common_factors"_a,
        "Chooses rules for what is built from now on: K sin² + K cos² to K, and a b + a c to a (b + c). Returns the "
        "former choice.");
}

}  // namespace bellcrank
