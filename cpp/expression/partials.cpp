#include "expression/partials.hpp"

namespace bellcrank {

namespace {

Ref square(Graph& g, Ref a) { return g.multiply(a, a); }

Ref difference(Graph& g, double a, Ref b) { return g.add(g.constant(a), -b); }

// f′(a) for y = f(a).
Ref derivative_of_function(Graph& g, const Node& n, Ref y) {
    const Ref a = n.a;
    switch (n.op) {
        case Op::reciprocal:
            return -square(g, y);
        case Op::square_root:
            return g.multiply(g.constant(0.5), g.reciprocal(y));
        case Op::sine:
            return g.apply(Op::cosine, a);
        case Op::cosine:
            return -g.apply(Op::sine, a);
        case Op::tangent:
            return g.add(g.constant(1.0), square(g, y));
        case Op::arcsine:
            return g.reciprocal(g.apply(Op::square_root, difference(g, 1.0, square(g, a))));
        case Op::arccosine:
            return -g.reciprocal(g.apply(Op::square_root, difference(g, 1.0, square(g, a))));
        case Op::arctangent:
            return g.reciprocal(g.add(g.constant(1.0), square(g, a)));
        case Op::hyperbolic_sine:
            return g.apply(Op::hyperbolic_cosine, a);
        case Op::hyperbolic_cosine:
            return g.apply(Op::hyperbolic_sine, a);
        case Op::hyperbolic_tangent:
            return difference(g, 1.0, square(g, y));
        case Op::exponential:
            return y;
        case Op::logarithm:
            return g.reciprocal(a);
        case Op::absolute:
            return g.apply(Op::sign, a);
        case Op::table:
            return g.table_value(n.function, n.order + 1, a);
        default:
            return Ref();  // sign, floor and comparisons are constant wherever they have a derivative
    }
}

int product(Graph& g, const Node& n, Ref y, Partial (&out)[2]) {
    for (const bool second : {true, false}) {
        const Ref inverse = second ? n.b : n.a, other = second ? n.a : n.b;
        const Node i = g.node(inverse);
        if (i.op != Op::reciprocal) continue;
        out[0] = {other, inverse};
        out[1] = {i.a, -g.multiply(y, inverse)};
        return 2;
    }
    out[0] = {n.a, n.b};
    out[1] = {n.b, n.a};
    return 2;
}

int arctangent_2(Graph& g, const Node& n, Partial (&out)[2]) {
    const Ref inverse = g.reciprocal(g.add(square(g, n.a), square(g, n.b)));
    out[0] = {n.a, g.multiply(n.b, inverse)};
    out[1] = {n.b, -g.multiply(n.a, inverse)};
    return 2;
}

int power(Graph& g, const Node& n, Ref y, Partial (&out)[2]) {
    out[0] = {n.a, g.multiply(n.b, g.power(n.a, g.subtract(n.b, g.constant(1.0))))};
    if (g.is_constant(n.b)) return 1;
    out[1] = {n.b, g.multiply(y, g.apply(Op::logarithm, n.a))};
    return 2;
}

}  // namespace

int partials(Graph& g, Ref y, Partial (&out)[2]) {
    const Node n = g.node(y);
    int count = 1;
    switch (n.op) {
        case Op::constant:
        case Op::symbol:
        case Op::less:
        case Op::less_equal:
            return 0;
        case Op::add:
            out[0] = {n.a, g.constant(1.0)};
            out[1] = {n.b, g.constant(1.0)};
            count = 2;
            break;
        case Op::multiply:
            count = product(g, n, y, out);
            break;
        case Op::arctangent_2:
            count = arctangent_2(g, n, out);
            break;
        case Op::power:
            count = power(g, n, y, out);
            break;
        default:
            out[0] = {n.a, derivative_of_function(g, n, y)};
    }
    for (int i = 0; i < count; ++i) {
        if (out[i].operand.negative()) out[i] = {-out[i].operand, -out[i].derivative};
    }
    if (count == 2 && out[0].operand == out[1].operand) {
        out[0].derivative = g.add(out[0].derivative, out[1].derivative);
        count = 1;
    }
    return count;
}

bool is_choice(Op op) { return op == Op::minimum || op == Op::maximum || op == Op::select; }

Choice choice_of(Graph& g, Ref node) {
    const Node n = g.node(node);
    if (n.op == Op::select) return {n.a, n.b, n.c};
    if (n.op == Op::minimum) return {g.apply(Op::less_equal, n.a, n.b), n.a, n.b};
    return {g.apply(Op::less_equal, n.b, n.a), n.a, n.b};
}

}  // namespace bellcrank
