// The factor of a symbol in expressions that are linear in it.
#include <stdexcept>

#include "expression/derivative.hpp"
#include "expression/reach.hpp"

namespace bellcrank {

namespace {

struct Linearity {
    Ref factor;
    bool depends = false;
};

[[noreturn]] void refuse(const Graph& graph, Ref symbol) {
    throw std::invalid_argument("the expression is not linear in '" + graph.symbol_of(symbol).name + "'");
}

// The factor in node `index` from those in its operands.
Linearity linearity(Graph& graph, std::uint32_t index, const Linearity (&in)[3], Ref symbol) {
    const Node n = graph.node(index);
    if (n.op == Op::add) return {graph.add(in[0].factor, in[1].factor), in[0].depends || in[1].depends};
    if (!in[0].depends && !in[1].depends && !in[2].depends) return {};
    if (n.op == Op::multiply && !(in[0].depends && in[1].depends)) {
        return {in[0].depends ? graph.multiply(in[0].factor, n.b) : graph.multiply(n.a, in[1].factor), true};
    }
    if (n.op == Op::select && !in[0].depends) return {graph.select(n.a, in[1].factor, in[2].factor), true};
    refuse(graph, symbol);
}

}  // namespace

std::vector<Ref> coefficients(Graph& graph, std::span<const Ref> roots, Ref symbol) {
    if (graph.node(symbol).op != Op::symbol || symbol.negative()) {
        throw std::invalid_argument("a coefficient is of a symbol, not of another expression");
    }
    const Reach reach(graph, roots);
    std::vector<Linearity> found(reach.size());
    const auto of = [&](Ref r) {
        const Linearity l = found[reach.place(r)];
        return Linearity{r.negative() ? -l.factor : l.factor, l.depends};
    };
    for (std::size_t i = 0; i < reach.size(); ++i) {
        const std::uint32_t index = reach.nodes()[i];
        const Node n = graph.node(index);
        if (index == symbol.index()) found[i] = {graph.constant(1.0), true};
        if (index <= symbol.index()) continue;  // older than the symbol, and so free of it
        Linearity in[3];
        for (int k = 0; k < operand_count(n.op); ++k) in[k] = of(operand(n, k));
        found[i] = linearity(graph, index, in, symbol);
    }
    std::vector<Ref> out;
    for (const Ref r : roots) out.push_back(of(r).factor);
    return out;
}

Ref coefficient(Graph& graph, Ref root, Ref symbol) {
    const Ref roots[] = {root};
    return coefficients(graph, roots, symbol)[0];
}

}  // namespace bellcrank
