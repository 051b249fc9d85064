// An expression as a value: arithmetic in C++ writes into its graph.
#pragma once

#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

struct Expression {
    Graph* graph = nullptr;
    Ref ref;
};

inline std::vector<Ref> refs(const std::vector<Expression>& values) {
    std::vector<Ref> out;
    out.reserve(values.size());
    for (const Expression& e : values) out.push_back(e.ref);
    return out;
}

inline Expression operator-(Expression a) { return {a.graph, -a.ref}; }
inline Expression operator+(Expression a, Expression b) { return {a.graph, a.graph->add(a.ref, b.ref)}; }
inline Expression operator-(Expression a, Expression b) { return {a.graph, a.graph->subtract(a.ref, b.ref)}; }
inline Expression operator*(Expression a, Expression b) { return {a.graph, a.graph->multiply(a.ref, b.ref)}; }
inline Expression operator/(Expression a, Expression b) { return {a.graph, a.graph->divide(a.ref, b.ref)}; }
inline Expression operator+(Expression a, double b) { return a + Expression{a.graph, a.graph->constant(b)}; }
inline Expression operator+(double a, Expression b) { return b + a; }
inline Expression operator-(Expression a, double b) { return a + -b; }
inline Expression operator-(double a, Expression b) { return -b + a; }
inline Expression operator*(Expression a, double b) { return a * Expression{a.graph, a.graph->constant(b)}; }
inline Expression operator*(double a, Expression b) { return b * a; }
inline Expression operator/(Expression a, double b) { return a * (1.0 / b); }
inline Expression operator/(double a, Expression b) {
    return Expression{b.graph, b.graph->constant(a)} * Expression{b.graph, b.graph->reciprocal(b.ref)};
}
inline Expression& operator+=(Expression& a, Expression b) { return a = a + b; }
inline Expression& operator-=(Expression& a, Expression b) { return a = a - b; }
inline Expression sin(Expression a) { return {a.graph, a.graph->apply(Op::sine, a.ref)}; }
inline Expression cos(Expression a) { return {a.graph, a.graph->apply(Op::cosine, a.ref)}; }
inline Expression exp(Expression a) { return {a.graph, a.graph->apply(Op::exponential, a.ref)}; }
inline Expression log(Expression a) { return {a.graph, a.graph->apply(Op::logarithm, a.ref)}; }
inline Expression tanh(Expression a) { return {a.graph, a.graph->apply(Op::hyperbolic_tangent, a.ref)}; }
inline Expression max(Expression a, double b) {
    return {a.graph, a.graph->apply(Op::maximum, a.ref, a.graph->constant(b))};
}
inline Expression min(Expression a, double b) {
    return {a.graph, a.graph->apply(Op::minimum, a.ref, a.graph->constant(b))};
}
inline Expression max(Expression a, Expression b) { return {a.graph, a.graph->apply(Op::maximum, a.ref, b.ref)}; }
inline Expression min(Expression a, Expression b) { return {a.graph, a.graph->apply(Op::minimum, a.ref, b.ref)}; }
inline Expression sqrt(Expression a) { return {a.graph, a.graph->apply(Op::square_root, a.ref)}; }
inline Expression atan2(Expression y, Expression x) {
    return {y.graph, y.graph->apply(Op::arctangent_2, y.ref, x.ref)};
}
// `less` where a < b, `otherwise` elsewhere.
inline Expression where_less(Expression a, double b, Expression less, Expression otherwise) {
    const Ref is_less = a.graph->apply(Op::less, a.ref, a.graph->constant(b));
    return {a.graph, a.graph->select(is_less, less.ref, otherwise.ref)};
}
inline Expression where_less(Expression a, double b, double less, double otherwise) {
    return where_less(a, b, {a.graph, a.graph->constant(less)}, {a.graph, a.graph->constant(otherwise)});
}

}  // namespace bellcrank
