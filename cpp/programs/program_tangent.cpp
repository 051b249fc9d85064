// Programs over numbers with derivatives: operation by operation, as the program says.
#include <cmath>
#include <stdexcept>

#include "programs/compiled_program.hpp"

namespace bellcrank {

namespace {

// a^b; where b is a number alone, also for a ≤ 0.
Dual4 power(const Dual4& a, const Dual4& b) {
    const double h = std::pow(a.value, b.value);
    const double by_a = b.value == 0.0 ? 0.0 : b.value * std::pow(a.value, b.value - 1.0);
    bool varies = false;
    for (int k = 0; k < 4; ++k) varies |= b.d[k] != 0.0;
    return Dual4::chain(a, b, h, by_a, varies ? h * std::log(a.value) : 0.0);
}

Dual4 table(const Function& function, std::uint32_t derivative, const Dual4& x) {
    if (derivative == 3) throw std::invalid_argument("a tabulated function has three derivatives");
    const FunctionValueT<Dual4> v = function.tangent(x);
    return derivative == 0 ? v.f : derivative == 1 ? v.d1 : v.d2;
}

Dual4 applied(ProgramOp op, const Dual4& a, const Dual4& b, const Dual4& c) {
    const double x = a.value;
    switch (op) {
        case ProgramOp::copy:
            return a;
        case ProgramOp::negate:
            return -a;
        case ProgramOp::add:
            return a + b;
        case ProgramOp::subtract:
            return a - b;
        case ProgramOp::multiply:
            return a * b;
        case ProgramOp::multiply_add:
            return a * b + c;
        case ProgramOp::multiply_sub:
            return a * b - c;
        case ProgramOp::negate_multiply_add:
            return c - a * b;
        case ProgramOp::negate_multiply_sub:
            return -(a * b) - c;
        case ProgramOp::divide:
            return a / b;
        case ProgramOp::square_root:
            return sqrt(a);
        case ProgramOp::sine:
            return sin(a);
        case ProgramOp::cosine:
            return cos(a);
        case ProgramOp::tangent:
            return Dual4::chain(a, std::tan(x), 1.0 + std::tan(x) * std::tan(x));
        case ProgramOp::arcsine:
            return Dual4::chain(a, std::asin(x), 1.0 / std::sqrt(1.0 - x * x));
        case ProgramOp::arccosine:
            return Dual4::chain(a, std::acos(x), -1.0 / std::sqrt(1.0 - x * x));
        case ProgramOp::arctangent:
            return Dual4::chain(a, std::atan(x), 1.0 / (1.0 + x * x));
        case ProgramOp::arctangent_2:
            return atan2(a, b);
        case ProgramOp::hyperbolic_sine:
            return Dual4::chain(a, std::sinh(x), std::cosh(x));
        case ProgramOp::hyperbolic_cosine:
            return Dual4::chain(a, std::cosh(x), std::sinh(x));
        case ProgramOp::hyperbolic_tangent:
            return tanh(a);
        case ProgramOp::exponential:
            return exp(a);
        case ProgramOp::logarithm:
            return Dual4::chain(a, std::log(x), 1.0 / x);
        case ProgramOp::power:
            return power(a, b);
        case ProgramOp::absolute:
            return x < 0.0 ? -a : a;
        case ProgramOp::sign:
            return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
        case ProgramOp::minimum:
            return b < a ? b : a;
        case ProgramOp::maximum:
            return a < b ? b : a;
        case ProgramOp::floor:
            return std::floor(x);
        case ProgramOp::less:
            return a < b ? 1.0 : 0.0;
        case ProgramOp::less_equal:
            return a <= b ? 1.0 : 0.0;
        case ProgramOp::select:
            return x != 0.0 ? b : c;
        case ProgramOp::sine_cosine:
        case ProgramOp::table:
            break;
    }
    throw std::logic_error("an operation of programs without a derivative");
}

}  // namespace

std::span<const Dual4> CompiledProgram::tangent(std::span<const Dual4> in) const {
    thread_local std::vector<Dual4> slots, outputs;  // grow to the largest program and stay
    slots.assign(in.begin(), in.end());
    slots.insert(slots.end(), program_.constants.begin(), program_.constants.end());
    slots.resize(static_cast<std::size_t>(program_.slots));
    for (const Instruction& step : program_.instructions) {
        const Dual4 a = slots[step.a];
        if (step.op == ProgramOp::sine_cosine) {
            slots[step.out] = sin(a);
            slots[step.c] = cos(a);
        } else if (step.op == ProgramOp::table) {
            slots[step.out] = table(tables_.calls().functions[step.b], step.c, a);
        } else {
            const int operands = op_operands(step.op);
            slots[step.out] = applied(step.op, a, operands > 1 ? slots[step.b] : a, operands > 2 ? slots[step.c] : a);
        }
    }
    outputs.resize(program_.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = slots[program_.outputs[i]];
    return outputs;
}

}  // namespace bellcrank
