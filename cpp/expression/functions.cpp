// Functions, simplified as they are built.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "expression/index.hpp"
#include "expression/numbers.hpp"
#include "expression/parts.hpp"
#include "functions/function.hpp"
#include "programs/tables.hpp"

namespace bellcrank {

namespace {

bool odd(Op op) {
    switch (op) {
        case Op::sine:
        case Op::tangent:
        case Op::arcsine:
        case Op::arctangent:
        case Op::hyperbolic_sine:
        case Op::hyperbolic_tangent:
        case Op::sign:
            return true;
        default:
            return false;
    }
}

bool even(Op op) { return op == Op::cosine || op == Op::hyperbolic_cosine || op == Op::absolute; }

// f(g(x)) = x wherever g(x) is finite.
bool undoes(Op f, Op g) {
    switch (f) {
        case Op::sine:
            return g == Op::arcsine;
        case Op::cosine:
            return g == Op::arccosine;
        case Op::tangent:
            return g == Op::arctangent;
        case Op::exponential:
            return g == Op::logarithm;
        case Op::logarithm:
            return g == Op::exponential;
        default:
            return false;
    }
}

Node unary(Op op, Ref a) {
    Node n{.op = op};
    n.a = a;
    return n;
}

// √(c k₁² k₂⁴ …) = √c |k₁| k₂² …: only where every factor comes in pairs.
bool root_of_squares(Graph& graph, Ref a, Ref& out) {
    if (graph.node(a).op != Op::multiply) return false;
    const Monomial m(graph, a);
    if (!m.open || m.coefficient < 0.0 || m.count % 2 != 0) return false;
    for (int i = 0; i < m.count; i += 2) {
        if (m.factors[i] != m.factors[i + 1]) return false;
    }
    Ref root = graph.constant(1.0);
    for (int i = 0; i < m.count; i += 2) {
        root = graph.multiply(root, graph.apply(Op::absolute, Ref(m.factors[i], false)));
    }
    out = graph.multiply(graph.constant(std::sqrt(m.coefficient)), root);
    return true;
}

// What the range of a decides.
bool decided(const Graph& graph, Op op, Ref a, Ref& out) {
    const Interval range = graph.range(a);
    if (op == Op::absolute) {
        if (range.low < 0.0 && range.high > 0.0) return false;
        out = range.low >= 0.0 ? a : -a;
        return true;
    }
    if (op == Op::sign && (range.is_positive() || range.is_negative())) {
        out = Ref(1, range.is_negative());
        return true;
    }
    return false;
}

}  // namespace

Ref Graph::apply(Op op, Ref a) {
    if (op == Op::reciprocal) return reciprocal(a);
    if (is_constant(a)) {
        const double value = value_of(op, constant_value(a));
        if (std::isfinite(value)) return constant(value);
    }
    Ref out;
    if (decided(*this, op, a, out)) return out;
    if (a.negative() && odd(op)) return -apply(op, -a);
    if (a.negative() && even(op)) a = -a;
    const Node inner = node(a);
    if (!a.negative() && undoes(op, inner.op)) return inner.a;
    if (op == Op::square_root && root_of_squares(*this, a, out)) return out;
    if (inner.op == op && (op == Op::floor || op == Op::sign)) return a;
    return intern(unary(op, a));
}

Ref Graph::apply(Op op, Ref a, Ref b) {
    if (op == Op::add) return add(a, b);
    if (op == Op::multiply) return multiply(a, b);
    if (op == Op::power) return power(a, b);
    if (is_constant(a) && is_constant(b)) {
        const double value = value_of(op, constant_value(a), constant_value(b));
        if (std::isfinite(value)) return constant(value);
    }
    const Interval p = range(a), q = range(b);
    switch (op) {
        case Op::arctangent_2:
            if (a.index() == 0 && q.low >= 0.0) return Ref();
            if (a.negative() && q.low >= 0.0) return -apply(op, -a, b);  // elsewhere atan2(0, b) = π spoils it
            break;
        case Op::minimum:
        case Op::maximum:
            if (a == b) return a;
            if (p.high <= q.low) return op == Op::minimum ? a : b;
            if (q.high <= p.low) return op == Op::minimum ? b : a;
            if (a.bits > b.bits) std::swap(a, b);
            break;
        case Op::less:
            if (a == b || p.low >= q.high) return Ref();
            if (p.high < q.low) return Ref(1, false);
            break;
        case Op::less_equal:
            if (a == b || p.high <= q.low) return Ref(1, false);
            if (p.low > q.high) return Ref();
            break;
        default:
            throw std::invalid_argument("not a function of two operands");
    }
    Node n{.op = op};
    n.a = a;
    n.b = b;
    return intern(n);
}

Ref Graph::select(Ref condition, Ref yes, Ref no) {
    if (is_constant(condition)) return condition.index() != 0 ? yes : no;
    if (yes == no) return yes;
    if (range(condition).is_nonzero()) return yes;
    if (yes.negative() || (yes.index() == 0 && no.negative())) {
        return -select(condition, -yes, -no);
    }
    Node n{.op = Op::select};
    n.a = condition.unsigned_part();
    n.b = yes;
    n.c = no;
    return intern(n);
}

Ref Graph::table_value(std::uint16_t function, int order, Ref a) {
    if (order < 0 || order > 3) throw std::invalid_argument("a tabulated function has three derivatives");
    const Table& table = table_of(function);
    if (is_constant(a)) {
        const Function known(table.kind, table.params);
        const double value = bellcrank::table_value(known, static_cast<std::uint32_t>(order), constant_value(a));
        if (std::isfinite(value)) return constant(value);
    }
    Node n{.op = Op::table, .order = static_cast<std::uint8_t>(order), .function = function};
    n.a = a;
    return intern(n);
}

}  // namespace bellcrank
