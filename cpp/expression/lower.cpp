#include "expression/lower.hpp"

#include <stdexcept>

#include "expression/instructions.hpp"
#include "expression/reach.hpp"
#include "expression/schedule.hpp"

namespace bellcrank {

namespace {

// For every node: whether it depends on an input, and whether it depends on a parameter.
struct Dependence {
    std::vector<bool> input, parameter;
};

void check_symbols(const Graph& graph, std::span<const Ref> symbols, std::vector<bool>& seen) {
    for (const Ref symbol : symbols) {
        if (graph.node(symbol).op != Op::symbol || symbol.negative())
            throw std::invalid_argument("an input of a function must be a symbol, not an expression");
        if (seen[symbol.index()])
            throw std::invalid_argument("the symbol '" + graph.symbol_of(symbol).name + "' is given twice");
        seen[symbol.index()] = true;
    }
}

Dependence dependence(const Graph& graph, std::span<const std::uint32_t> nodes, std::span<const Ref> inputs,
                      std::span<const Ref> parameters) {
    std::vector<bool> seen(graph.size(), false);
    check_symbols(graph, inputs, seen);
    check_symbols(graph, parameters, seen);
    Dependence result{std::vector<bool>(graph.size(), false), std::vector<bool>(graph.size(), false)};
    for (const Ref symbol : inputs) result.input[symbol.index()] = true;
    for (const Ref symbol : parameters) result.parameter[symbol.index()] = true;

    std::string missing, alike;
    for (const std::uint32_t index : nodes) {
        const Node& node = graph.node(index);
        if (node.op == Op::symbol && !seen[index]) {
            const std::string& name = graph.symbol_of(Ref(index, false)).name;
            missing += (missing.empty() ? "'" : ", '") + name + "'";
            for (const Ref input : inputs)
                if (graph.symbol_of(input).name == name)
                    alike = "; '" + name + "' is also the name of an input, which is another symbol";
        }
        for (int k = 0; k < operand_count(node.op); ++k) {
            const std::uint32_t operand = operands_of(node)[k].index();
            if (result.input[operand]) result.input[index] = true;
            if (result.parameter[operand]) result.parameter[index] = true;
        }
    }
    if (!missing.empty())
        throw std::invalid_argument("the outputs depend on symbols that are no inputs: " + missing + alike);
    return result;
}

}  // namespace

Program lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs) {
    dependence(graph, graph.reachable(roots), inputs, {});
    return lower_given(graph, roots, inputs);
}

LoweredParts lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs,
                   std::span<const Ref> parameters) {
    const std::vector<std::uint32_t> nodes = graph.reachable(roots);
    const Dependence on = dependence(graph, nodes, inputs, parameters);

    // What depends on parameters only and is used by something that depends on inputs, or is asked for itself.
    std::vector<bool> taken(graph.size(), false);
    std::vector<Ref> hoisted;
    const auto use = [&](std::uint32_t index) {
        if (!on.parameter[index] || on.input[index] || taken[index]) return;
        taken[index] = true;
        hoisted.push_back(Ref(index, false));
    };
    for (const std::uint32_t index : nodes) {
        const Node& node = graph.node(index);
        for (int k = 0; on.input[index] && k < operand_count(node.op); ++k) use(operands_of(node)[k].index());
    }
    for (const Ref root : roots) use(root.index());

    std::vector<Ref> given(inputs.begin(), inputs.end());
    given.insert(given.end(), hoisted.begin(), hoisted.end());
    return {lower_given(graph, hoisted, parameters), lower_given(graph, roots, given)};
}

OperationCount count_operations(const Program& program) {
    OperationCount count;
    for (const Instruction& step : program.instructions) switch (step.op) {
            case ProgramOp::copy:
            case ProgramOp::negate:
                break;
            case ProgramOp::add:
            case ProgramOp::subtract:
                ++count.additions;
                break;
            case ProgramOp::multiply:
                ++count.multiplications;
                break;
            case ProgramOp::multiply_add:
            case ProgramOp::multiply_sub:
            case ProgramOp::negate_multiply_add:
            case ProgramOp::negate_multiply_sub:
                ++count.additions;
                ++count.multiplications;
                break;
            case ProgramOp::divide:
                ++count.divisions;
                break;
            case ProgramOp::sine:
            case ProgramOp::cosine:
                ++count.trigonometric;
                break;
            case ProgramOp::sine_cosine:
                count.trigonometric += 2;
                break;
            default:
                ++count.other;
        }
    return count;
}

}  // namespace bellcrank
