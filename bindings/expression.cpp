// Expressions as Python values: operators that write into one graph for the whole process; their derivatives, counts
// and programs.
#include "expression/expression.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <string_view>

#include "bindings.hpp"
#include "expression/derivative.hpp"
#include "expression/expressed_function.hpp"
#include "expression/lower.hpp"
#include "process_graph.hpp"
#include "records.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

constexpr std::array<std::string_view, 28> kNames = {
    "constant", "symbol", "add",   "multiply", "reciprocal", "sqrt",       "sin",    "cos",  "tan", "asin",
    "acos",     "atan",   "atan2", "sinh",     "cosh",       "tanh",       "exp",    "log",  "pow", "abs",
    "sign",     "min",    "max",   "floor",    "less",       "less_equal", "select", "table"};

Op op_of(const std::string& name) {
    for (size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<Op>(i);
    throw std::invalid_argument("unknown operation " + name);
}

Expression own(Ref ref) { return {process_graph().get(), ref}; }
Expression number(double value) { return own(process_graph()->constant(value)); }

HeldExpression apply(const std::string& name, const HeldExpressions& operands) {
    Graph& g = *process_graph();
    const std::vector<Ref> a = refs(operands);
    const Op op = op_of(name);
    const auto need = [&](size_t count) {
        if (a.size() != count) throw std::invalid_argument(name + ": " + std::to_string(count) + " operands");
    };
    switch (op) {
        case Op::constant:
        case Op::symbol:
        case Op::table:
            throw std::invalid_argument(name + " is no operation on expressions");
        case Op::add:
            need(2);
            return own(g.add(a[0], a[1]));
        case Op::multiply:
            need(2);
            return own(g.multiply(a[0], a[1]));
        case Op::reciprocal:
            need(1);
            return own(g.reciprocal(a[0]));
        case Op::power:
            need(2);
            return own(g.power(a[0], a[1]));
        case Op::select:
            need(3);
            return own(g.select(a[0], a[1], a[2]));
        case Op::arctangent_2:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            need(2);
            return own(g.apply(op, a[0], a[1]));
        default:
            need(1);
            return own(g.apply(op, a[0]));
    }
}

HeldExpressions operands(const HeldExpression& whole) {
    const Node n = process_graph()->node(whole.ref());
    switch (n.op) {
        case Op::constant:
        case Op::symbol:
            return {};
        case Op::select:
            return held({n.a, n.b, n.c});
        case Op::add:
        case Op::multiply:
        case Op::power:
        case Op::arctangent_2:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            return held({n.a, n.b});
        default:
            return held({n.a});
    }
}

double value_of(const HeldExpression& whole) {
    const Expression e = whole.get();
    if (!e.graph->is_constant(e.ref)) throw nb::type_error("an expression with symbols has no value of its own");
    return e.graph->constant_value(e.ref);
}

std::string printed(const HeldExpression& e) {
    const nb::object text = nb::module_::import_("bellcrank.expression.printing").attr("text");
    return nb::cast<std::string>(text(nb::cast(e)));
}

using Bound = nb::class_<HeldExpression>;

template <class F>
void one_operand(Bound& c, const char* name, F f) {
    c.def(name, [f](const HeldExpression& a) { return HeldExpression(f(a.get())); }, Writes());
}

// Both operands are expressions, or the second one is a number.
template <class F>
void two_operands(Bound& c, const char* name, F f) {
    c.def(
        name, [f](const HeldExpression& a, const HeldExpression& b) { return HeldExpression(f(a.get(), b.get())); },
        nb::is_operator(), Writes());
    c.def(
        name, [f](const HeldExpression& a, double b) { return HeldExpression(f(a.get(), b)); }, nb::is_operator(),
        Writes());
}

template <class F>
void number_first(Bound& c, const char* name, F f) {
    c.def(
        name, [f](const HeldExpression& a, double b) { return HeldExpression(f(b, a.get())); }, nb::is_operator(),
        Writes());
}

Expression own(Expression e) { return e; }
Expression own(double value) { return number(value); }

void bind_arithmetic(Bound& c) {
    one_operand(c, "__neg__", [](Expression a) { return -a; });
    one_operand(c, "__pos__", [](Expression a) { return a; });
    one_operand(c, "__abs__", [](Expression a) { return own(a.graph->apply(Op::absolute, a.ref)); });
    const auto sum = [](auto a, auto b) { return a + b; };
    const auto difference = [](auto a, auto b) { return a - b; };
    const auto product = [](auto a, auto b) { return a * b; };
    two_operands(c, "__add__", sum);
    two_operands(c, "__sub__", difference);
    two_operands(c, "__mul__", product);
    two_operands(c, "__truediv__", [](Expression a, auto b) { return a / own(b); });
    number_first(c, "__radd__", sum);
    number_first(c, "__rsub__", difference);
    number_first(c, "__rmul__", product);
    number_first(c, "__rtruediv__", [](double a, Expression b) { return a / b; });
    const auto power = [](auto a, auto b) { return own(process_graph()->power(own(a).ref, own(b).ref)); };
    two_operands(c, "__pow__", power);
    number_first(c, "__rpow__", power);
    const auto compared = [](Op op) {
        return [op](auto a, auto b) { return own(process_graph()->apply(op, own(a).ref, own(b).ref)); };
    };
    const auto swapped = [](Op op) {
        return [op](auto a, auto b) { return own(process_graph()->apply(op, own(b).ref, own(a).ref)); };
    };
    two_operands(c, "__lt__", compared(Op::less));
    two_operands(c, "__le__", compared(Op::less_equal));
    two_operands(c, "__gt__", swapped(Op::less));
    two_operands(c, "__ge__", swapped(Op::less_equal));
}

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

void bind_derivatives(nb::module_& m) {
    m.def(
        "expression_derivative",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols, const std::string& form) {
            return held(derivative(*process_graph(), refs(outputs), refs(symbols), form_of(form)));
        },
        "outputs"_a, "symbols"_a, "form"_a = "least", Writes(),
        "Row by row the derivatives of the outputs by the symbols. Raises ValueError unless these are symbols, and for "
        "the fourth derivative of a table.");
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
        [](const HeldExpressions& outputs) { return dict_of(count_operations(*process_graph(), refs(outputs))); },
        "outputs"_a, nb::sig("def expression_count(outputs: collections.abc.Sequence[Expression]) -> dict[str, int]"),
        "Sums, products, divisions, sin cos and tan, other operations that the outputs need together.");
    m.def(
        "expression_path_count",
        [](const HeldExpressions& outputs, const HeldExpressions& symbols) {
            return dict_of(count_path_operations(*process_graph(), refs(outputs), refs(symbols)));
        },
        "outputs"_a, "symbols"_a,
        nb::sig("def expression_path_count(outputs: collections.abc.Sequence[Expression], symbols: "
                "collections.abc.Sequence[Expression]) -> dict[str, float]"),
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
        "program_operations", [](const Program& program) { return dict_of(count_operations(program)); }, "program"_a,
        nb::sig("def program_operations(program: Program) -> dict[str, int]"),
        "How many operations of each sort; a multiply-add is a product and a sum, signs are free.");
}

}  // namespace

void bind_expression(nb::module_& m) {
    Bound c(m, "Expression", "A scalar expression: equal expressions are one object of the graph, and compare equal.");
    c.def(
         "__init__", [](HeldExpression* self, double value) { new (self) HeldExpression(number(value)); }, "value"_a,
         Writes(), "A constant.")
        .def("__hash__", &HeldExpression::number)
        .def(
            "__eq__",
            [](const HeldExpression& whole, nb::object other) {
                HeldExpression b;
                if (nb::try_cast(other, b)) return b == whole;
                const Expression a = whole.get();
                double value;
                return nb::try_cast(other, value) && a.graph->is_constant(a.ref) &&
                       a.graph->constant_value(a.ref) == value;
            },
            "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__bool__",
             [](const HeldExpression& whole) {
                 const Expression a = whole.get();
                 if (!a.graph->is_constant(a.ref))
                     throw nb::type_error(
                         "an expression is neither true nor false: write piecewise(...) where a value depends on a "
                         "condition, and all_of(a < x, x < b) for a < x < b");
                 return a.graph->constant_value(a.ref) != 0.0;
             })
        .def("__float__", &value_of)
        .def("__repr__", &printed)
        .def(
            "__reduce__",
            [](const HeldExpression& a) {
                return nb::module_::import_("bellcrank.expression.pickling").attr("reduced")(a);
            },
            nb::sig("def __reduce__(self) -> tuple[object, ...]"))
        .def_prop_ro(
            "op",
            [](const HeldExpression& a) {
                return std::string(kNames[static_cast<size_t>(process_graph()->node(a.ref()).op)]);
            },
            "Name of the outermost operation, without a sign.")
        .def_prop_ro(
            "negative", [](const HeldExpression& a) { return a.ref().negative(); }, "Whether a minus stands before it.")
        .def_prop_ro("operands", &operands, "The operands of the outermost operation, without a sign.")
        .def_prop_ro(
            "is_constant", [](const HeldExpression& a) { return process_graph()->is_constant(a.ref()); },
            "Whether it is a number.")
        .def_prop_ro(
            "range",
            [](const HeldExpression& whole) {
                const Expression a = whole.get();
                const Interval i = a.graph->range(a.ref);
                return nb::make_tuple(i.low, i.high);
            },
            nb::sig("def range(self) -> tuple[float, float]"),
            "An interval (low, high) in which the value is known to lie.")
        .def_prop_ro(
            "is_nonzero", [](const HeldExpression& a) { return process_graph()->range(a.ref()).is_nonzero(); },
            "Whether it is known not to vanish.")
        .def_prop_ro(
            "table",
            [](const HeldExpression& a) {
                return nb::make_tuple(process_graph()->node(a.ref()).function, process_graph()->node(a.ref()).order);
            },
            nb::sig("def table(self) -> tuple[int, int]"), "Of a table: its number and the order of the derivative.")
        .def_prop_ro(
            "table_data",
            [](const HeldExpression& whole) {
                const Expression a = whole.get();
                const Node& n = a.graph->node(a.ref);
                if (n.op != Op::table) throw nb::type_error("not a table");
                const Table& table = a.graph->table_of(n.function);
                return nb::make_tuple(table.kind, table.params, n.order);
            },
            nb::sig("def table_data(self) -> tuple[str, list[float], int]"),
            "Of a table: the kind of function, its parameters and the order of the derivative.");
    bind_symbol(c);
    bind_arithmetic(c);
    nb::implicitly_convertible<double, HeldExpression>();

    m.def("expression_apply", &apply, "operation"_a, "operands"_a, Writes(),
          "An operation by its name. Raises ValueError if there is none of that name with so many operands.");
    m.def(
        "expression_table",
        [](std::string kind, std::vector<double> params, const HeldExpression& x, int order) {
            Graph& g = *process_graph();
            return HeldExpression(g.table_value(g.table({std::move(kind), std::move(params)}), order, x.ref()));
        },
        "kind"_a, "params"_a, "x"_a, "order"_a = 0, Writes(),
        "A function of one variable (see function_kinds), or its first or second derivative, at x.");
    m.def(
        "expression_nodes",
        [](const HeldExpressions& roots) {
            HeldExpressions out;
            for (std::uint32_t index : process_graph()->reachable(refs(roots))) out.emplace_back(Ref(index, false));
            return out;
        },
        "roots"_a, "All nodes that the roots need, each operand before its users.");
    bind_derivatives(m);
    bind_lower(m);
}

}  // namespace bellcrank
