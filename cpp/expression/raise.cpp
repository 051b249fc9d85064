#include "expression/raise.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

// Operations that are one node of the same operands in the graph.
Op plain_op(ProgramOp op) {
    switch (op) {
        case ProgramOp::square_root:
            return Op::square_root;
        case ProgramOp::sine:
            return Op::sine;
        case ProgramOp::cosine:
            return Op::cosine;
        case ProgramOp::tangent:
            return Op::tangent;
        case ProgramOp::arcsine:
            return Op::arcsine;
        case ProgramOp::arccosine:
            return Op::arccosine;
        case ProgramOp::arctangent:
            return Op::arctangent;
        case ProgramOp::arctangent_2:
            return Op::arctangent_2;
        case ProgramOp::hyperbolic_sine:
            return Op::hyperbolic_sine;
        case ProgramOp::hyperbolic_cosine:
            return Op::hyperbolic_cosine;
        case ProgramOp::hyperbolic_tangent:
            return Op::hyperbolic_tangent;
        case ProgramOp::exponential:
            return Op::exponential;
        case ProgramOp::logarithm:
            return Op::logarithm;
        case ProgramOp::absolute:
            return Op::absolute;
        case ProgramOp::sign:
            return Op::sign;
        case ProgramOp::minimum:
            return Op::minimum;
        case ProgramOp::maximum:
            return Op::maximum;
        case ProgramOp::floor:
            return Op::floor;
        case ProgramOp::less:
            return Op::less;
        default:
            return Op::less_equal;
    }
}

Ref arithmetic(Graph& g, ProgramOp op, Ref a, Ref b, Ref c) {
    switch (op) {
        case ProgramOp::copy:
            return a;
        case ProgramOp::negate:
            return -a;
        case ProgramOp::add:
            return g.add(a, b);
        case ProgramOp::subtract:
            return g.subtract(a, b);
        case ProgramOp::multiply:
            return g.multiply(a, b);
        case ProgramOp::multiply_add:
            return g.add(g.multiply(a, b), c);
        case ProgramOp::multiply_sub:
            return g.subtract(g.multiply(a, b), c);
        case ProgramOp::negate_multiply_add:
            return g.subtract(c, g.multiply(a, b));
        case ProgramOp::negate_multiply_sub:
            return -g.add(g.multiply(a, b), c);
        case ProgramOp::divide:
            return g.divide(a, b);
        case ProgramOp::power:
            return g.power(a, b);
        case ProgramOp::select:
            return g.select(a, b, c);
        default:
            return op_operands(op) == 1 ? g.apply(plain_op(op), a) : g.apply(plain_op(op), a, b);
    }
}

}  // namespace

std::vector<Ref> raise(const Program& program, Graph& graph, std::span<const Ref> inputs) {
    std::vector<Ref> slots(program.slots, graph.constant(0.0));
    std::copy(inputs.begin(), inputs.end(), slots.begin());
    for (std::size_t i = 0; i < program.constants.size(); ++i)
        slots[program.inputs + i] = graph.constant(program.constants[i]);
    for (const Instruction& step : program.instructions) {
        const int operands = op_operands(step.op);
        const Ref a = slots[step.a], b = operands > 1 ? slots[step.b] : Ref(), c = operands > 2 ? slots[step.c] : Ref();
        if (step.op == ProgramOp::table) {
            const ProgramTable& table = program.tables[step.b];
            slots[step.out] = graph.table_value(graph.table({table.kind, table.params}), static_cast<int>(step.c), a);
        } else if (step.op == ProgramOp::sine_cosine) {
            slots[step.out] = graph.apply(Op::sine, a);
            slots[step.c] = graph.apply(Op::cosine, a);
        } else {
            slots[step.out] = arithmetic(graph, step.op, a, b, c);
        }
    }
    std::vector<Ref> out;
    for (const std::uint32_t slot : program.outputs) out.push_back(slots[slot]);
    return out;
}

}  // namespace bellcrank
