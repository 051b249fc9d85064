// What is known of a node when it is made.
#include <algorithm>
#include <cmath>
#include <limits>

#include "expression/index.hpp"
#include "expression/ranges.hpp"

namespace bellcrank {

namespace {

float rounded_down(double x) {
    const float f = static_cast<float>(x);
    return static_cast<double>(f) > x ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
}

float rounded_up(double x) { return -rounded_down(-x); }

Interval range_of(const Graph& graph, const Node& n) {
    switch (n.op) {
        case Op::constant:
            return {n.value, n.value, n.value != 0.0};
        case Op::symbol:
            return {};  // Graph::range asks the symbol
        case Op::add:
            return interval_sum(graph.range(n.a), graph.range(n.b));
        case Op::multiply:
            return interval_product(graph.range(n.a), graph.range(n.b), n.a == n.b);
        case Op::reciprocal:
            return interval_reciprocal(graph.range(n.a));
        case Op::select:
            return interval_union(graph.range(n.b), graph.range(n.c));
        case Op::arctangent_2:
        case Op::power:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            return interval_of_function(n.op, graph.range(n.a), graph.range(n.b));
        case Op::table:
            return {};
        default:
            return interval_of_function(n.op, graph.range(n.a));
    }
}

// Flags of a node as a factor of products that it enters.
std::uint8_t factor_flags(Op op) {
    switch (op) {
        case Op::reciprocal:
            return kReciprocal;
        case Op::square_root:
        case Op::absolute:
            return kRoot;
        case Op::power:
            return kPower;
        case Op::sine:
        case Op::cosine:
            return kTrigonometric;
        default:
            return 0;
    }
}

}  // namespace

Facts facts_of(const Graph& graph, const std::vector<Facts>& facts, const Node& n) {
    const Interval range = range_of(graph, n);
    Facts f{rounded_down(range.low), rounded_up(range.high), 0, 1, factor_flags(n.op)};
    if (n.op == Op::multiply) {
        const Facts &a = facts[n.a.index()], &b = facts[n.b.index()];
        f.product = a.product + b.product;
        f.factors = static_cast<std::uint8_t>(std::min(255, a.factors + b.factors));
        f.flags = static_cast<std::uint8_t>((a.flags | b.flags) & ~kNonzero);
        if ((a.flags & b.flags & kTrigonometric) != 0) f.flags |= kTrigonometricTwo;
    } else if (n.op == Op::constant) {
        f.factors = 0;
    } else {
        f.product = factor_hash(static_cast<std::uint32_t>(facts.size()));
    }
    if (range.is_nonzero()) f.flags |= kNonzero;
    return f;
}

}  // namespace bellcrank
