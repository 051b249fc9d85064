// Operations of expressions, and of derivatives whose paths share nothing.
#include "expression/derivative.hpp"
#include "expression/reach.hpp"
#include "interruption/interruption.hpp"

namespace bellcrank {

OperationCount count_operations(const Graph& graph, std::span<const Ref> roots) {
    OperationCount count;
    const Reach reach(graph, roots);
    for (const std::uint32_t index : reach.nodes()) {
        look_for_interrupts();
        switch (graph.node(index).op) {
            case Op::constant:
            case Op::symbol:
                break;
            case Op::add:
                ++count.additions;
                break;
            case Op::multiply:
                ++count.multiplications;
                break;
            case Op::reciprocal:
                ++count.divisions;
                break;
            case Op::sine:
            case Op::cosine:
            case Op::tangent:
                ++count.trigonometric;
                break;
            default:
                ++count.other;
        }
    }
    return count;
}

namespace {

// Of the paths from a node down: how many, how many factors they have in all, how many have none.
struct Paths {
    double count = 0.0, factors = 0.0, bare = 0.0;
};

// Factors of the derivative of an operation by an operand: f′ of a function is one, −1/b² and ½/√a are two.
double edge_factors(Op op) {
    switch (op) {
        case Op::add:
        case Op::minimum:
        case Op::maximum:
        case Op::select:
            return 0.0;
        case Op::reciprocal:
        case Op::square_root:
        case Op::arctangent_2:
        case Op::power:
            return 2.0;
        default:
            return 1.0;
    }
}

void follow(Paths& paths, const Paths& below, double factors) {
    paths.count += below.count;
    paths.factors += below.factors + factors * below.count;
    if (factors == 0.0) paths.bare += below.bare;
}

std::vector<Paths> paths_to(const Graph& graph, const Reach& reach, Ref symbol) {
    std::vector<Paths> paths(reach.size());
    for (std::size_t i = 0; i < reach.size(); ++i) {
        const Node n = graph.node(reach.nodes()[i]);
        if (reach.nodes()[i] == symbol.index()) paths[i] = {1.0, 0.0, 1.0};
        for (int k = n.op == Op::select ? 1 : 0; k < operand_count(n.op); ++k) {
            follow(paths[i], paths[reach.place(operand(n, k))], edge_factors(n.op));
        }
    }
    return paths;
}

}  // namespace

PathCount count_path_operations(const Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols) {
    const Reach reach(graph, outputs);
    const OperationCount function = count_operations(graph, outputs);
    PathCount total{static_cast<double>(function.additions), static_cast<double>(function.multiplications)};
    for (const Ref symbol : symbols) {
        const std::vector<Paths> paths = paths_to(graph, reach, symbol);
        for (const Ref output : outputs) {
            const Paths& p = paths[reach.place(output)];
            if (p.count == 0.0) continue;
            total.additions += p.count - 1.0;
            total.multiplications += p.factors - (p.count - p.bare);
        }
    }
    return total;
}

}  // namespace bellcrank
