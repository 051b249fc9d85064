// Expressions as Python values: operators that write into one graph for the whole process.
#include "expression/expression.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string_view>

#include "bindings.hpp"
#include "process_graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

// What users write lives as long as the process; derivations work in graphs of their own.
const std::shared_ptr<Graph>& process_graph() {
    static const std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    return graph;
}

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

Expression apply(const std::string& name, const std::vector<Expression>& a) {
    Graph& g = *process_graph();
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
            return own(g.add(a[0].ref, a[1].ref));
        case Op::multiply:
            need(2);
            return own(g.multiply(a[0].ref, a[1].ref));
        case Op::reciprocal:
            need(1);
            return own(g.reciprocal(a[0].ref));
        case Op::power:
            need(2);
            return own(g.power(a[0].ref, a[1].ref));
        case Op::select:
            need(3);
            return own(g.select(a[0].ref, a[1].ref, a[2].ref));
        case Op::arctangent_2:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            need(2);
            return own(g.apply(op, a[0].ref, a[1].ref));
        default:
            need(1);
            return own(g.apply(op, a[0].ref));
    }
}

std::vector<Expression> operands(Expression e) {
    const Node& n = e.graph->node(e.ref);
    switch (n.op) {
        case Op::constant:
        case Op::symbol:
            return {};
        case Op::select:
            return {own(n.a), own(n.b), own(n.c)};
        case Op::add:
        case Op::multiply:
        case Op::power:
        case Op::arctangent_2:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            return {own(n.a), own(n.b)};
        default:
            return {own(n.a)};
    }
}

double value_of(Expression e) {
    if (!e.graph->is_constant(e.ref)) throw nb::type_error("an expression with symbols has no value of its own");
    return e.graph->constant_value(e.ref);
}

std::string printed(Expression e) {
    const nb::object text = nb::module_::import_("bellcrank.expression.printing").attr("text");
    return nb::cast<std::string>(text(nb::cast(e)));
}

Symbol symbol_of(Expression e) {
    if (e.graph->node(e.ref).op != Op::symbol) throw nb::type_error("not a symbol");
    return e.graph->symbol_of(e.ref);
}

void bind_arithmetic(nb::class_<Expression>& c) {
    c.def(-nb::self)
        .def("__pos__", [](Expression a) { return a; })
        .def("__abs__", [](Expression a) { return own(a.graph->apply(Op::absolute, a.ref)); })
        .def(nb::self + nb::self)
        .def(nb::self - nb::self)
        .def(nb::self * nb::self)
        .def(nb::self / nb::self)
        .def(nb::self + double())
        .def(nb::self - double())
        .def(nb::self * double())
        .def(
            "__truediv__", [](Expression a, double b) { return a / number(b); }, nb::is_operator())
        .def(double() + nb::self)
        .def(double() - nb::self)
        .def(double() * nb::self)
        .def(double() / nb::self);
    const auto power = [](Expression a, Expression b) { return own(a.graph->power(a.ref, b.ref)); };
    c.def("__pow__", power, nb::is_operator())
        .def(
            "__pow__", [=](Expression a, double b) { return power(a, number(b)); }, nb::is_operator())
        .def("__rpow__", [=](Expression a, double b) { return power(number(b), a); }, nb::is_operator());
    const auto less = [](Expression a, Expression b) { return own(a.graph->apply(Op::less, a.ref, b.ref)); };
    const auto at_most = [](Expression a, Expression b) { return own(a.graph->apply(Op::less_equal, a.ref, b.ref)); };
    c.def("__lt__", less, nb::is_operator())
        .def("__le__", at_most, nb::is_operator())
        .def(
            "__gt__", [=](Expression a, Expression b) { return less(b, a); }, nb::is_operator())
        .def(
            "__ge__", [=](Expression a, Expression b) { return at_most(b, a); }, nb::is_operator())
        .def(
            "__lt__", [=](Expression a, double b) { return less(a, number(b)); }, nb::is_operator())
        .def(
            "__le__", [=](Expression a, double b) { return at_most(a, number(b)); }, nb::is_operator())
        .def(
            "__gt__", [=](Expression a, double b) { return less(number(b), a); }, nb::is_operator())
        .def("__ge__", [=](Expression a, double b) { return at_most(number(b), a); }, nb::is_operator());
}

}  // namespace

void bind_expression(nb::module_& m) {
    nb::class_<Expression> c(m, "Expression",
                             "A scalar expression: equal expressions are one object of the graph, and compare equal.");
    c.def(
         "__init__", [](Expression* self, double value) { new (self) Expression(number(value)); }, "value"_a,
         "A constant.")
        .def("__hash__", [](Expression a) { return static_cast<std::size_t>(a.ref.bits); })
        .def(
            "__eq__",
            [](Expression a, nb::object other) {
                Expression b;
                if (nb::try_cast(other, b)) return b.ref == a.ref;
                double value;
                return nb::try_cast(other, value) && a.graph->is_constant(a.ref) &&
                       a.graph->constant_value(a.ref) == value;
            },
            "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__bool__",
             [](Expression a) {
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
            [](Expression a) { return nb::module_::import_("bellcrank.expression.pickling").attr("reduced")(a); },
            nb::sig("def __reduce__(self) -> tuple[object, ...]"))
        .def_prop_ro(
            "op", [](Expression a) { return std::string(kNames[static_cast<size_t>(a.graph->node(a.ref).op)]); },
            "Name of the outermost operation, without a sign.")
        .def_prop_ro(
            "negative", [](Expression a) { return a.ref.negative(); }, "Whether a minus stands before it.")
        .def_prop_ro("operands", &operands, "The operands of the outermost operation, without a sign.")
        .def_prop_ro(
            "is_constant", [](Expression a) { return a.graph->is_constant(a.ref); }, "Whether it is a number.")
        .def_prop_ro(
            "name", [](Expression a) { return symbol_of(a).name; }, "Of a symbol.")
        .def_prop_ro(
            "range",
            [](Expression a) {
                const Interval i = a.graph->range(a.ref);
                return nb::make_tuple(i.low, i.high);
            },
            nb::sig("def range(self) -> tuple[float, float]"),
            "An interval (low, high) in which the value is known to lie.")
        .def_prop_ro(
            "is_nonzero", [](Expression a) { return a.graph->range(a.ref).is_nonzero(); },
            "Whether it is known not to vanish.")
        .def_prop_ro(
            "table",
            [](Expression a) { return nb::make_tuple(a.graph->node(a.ref).function, a.graph->node(a.ref).order); },
            nb::sig("def table(self) -> tuple[int, int]"), "Of a table: its number and the order of the derivative.")
        .def_prop_ro(
            "table_data",
            [](Expression a) {
                const Node& n = a.graph->node(a.ref);
                if (n.op != Op::table) throw nb::type_error("not a table");
                const Table& table = a.graph->table_of(n.function);
                return nb::make_tuple(table.kind, table.params, n.order);
            },
            nb::sig("def table_data(self) -> tuple[str, list[float], int]"),
            "Of a table: the kind of function, its parameters and the order of the derivative.")
        .def_prop_ro("bits", [](Expression a) { return a.ref.bits; }, "The reference into the process' graph.");
    bind_arithmetic(c);
    nb::implicitly_convertible<double, Expression>();

    m.def(
        "expression_symbol",
        [](std::string name, double low, double high) {
            return own(process_graph()->symbol(std::move(name), {low, high, low > 0.0 || high < 0.0}));
        },
        "name"_a, "low"_a, "high"_a, "A new symbol whose value lies in [low, high].");
    m.def(
        "expression_positive_symbol",
        [](std::string name, double high) { return own(process_graph()->symbol(std::move(name), {0.0, high, true})); },
        "name"_a, "high"_a, "A new symbol whose value is greater than zero.");
    m.def("expression_apply", &apply, "operation"_a, "operands"_a,
          "An operation by its name. Raises ValueError if there is none of that name with so many operands.");
    m.def(
        "expression_table",
        [](std::string kind, std::vector<double> params, Expression x, int order) {
            Graph& g = *process_graph();
            return own(g.table_value(g.table({std::move(kind), std::move(params)}), order, x.ref));
        },
        "kind"_a, "params"_a, "x"_a, "order"_a = 0,
        "A function of one variable (see function_kinds), or its first or second derivative, at x.");
    m.def(
        "expression_nodes",
        [](const std::vector<Expression>& roots) {
            std::vector<Ref> refs;
            for (const Expression& e : roots) refs.push_back(e.ref);
            std::vector<Expression> out;
            for (std::uint32_t index : process_graph()->reachable(refs)) out.push_back(own(Ref(index, false)));
            return out;
        },
        "roots"_a, "All nodes that the roots need, each operand before its users.");
}

}  // namespace bellcrank
