#include "programs/tables.hpp"

#include <cmath>

namespace bellcrank {

namespace {

double call_table(const ProgramTables* self, std::uint32_t number, std::uint32_t derivative, double x) {
    return table_value(self->functions[number], derivative, x);
}

ProgramTables make_calls() {
    ProgramTables calls{};
    const auto unary = [&calls](ProgramOp op, double (*f)(double)) { calls.unary[static_cast<int>(op)] = f; };
    unary(ProgramOp::sine, std::sin);
    unary(ProgramOp::cosine, std::cos);
    unary(ProgramOp::tangent, std::tan);
    unary(ProgramOp::arcsine, std::asin);
    unary(ProgramOp::arccosine, std::acos);
    unary(ProgramOp::arctangent, std::atan);
    unary(ProgramOp::hyperbolic_sine, std::sinh);
    unary(ProgramOp::hyperbolic_cosine, std::cosh);
    unary(ProgramOp::hyperbolic_tangent, std::tanh);
    unary(ProgramOp::exponential, std::exp);
    unary(ProgramOp::logarithm, std::log);
    calls.binary[static_cast<int>(ProgramOp::arctangent_2)] = std::atan2;
    calls.binary[static_cast<int>(ProgramOp::power)] = std::pow;
    calls.table = call_table;
    return calls;
}

}  // namespace

double table_value(const Function& function, std::uint32_t derivative, double x) {
    if (derivative == 3) return function.tangent(Dual4(x, Four{1.0})).d2.d[0];
    const FunctionValue v = function(x);
    return derivative == 0 ? v.f : derivative == 1 ? v.d1 : v.d2;
}

const ProgramTables& library_calls() {
    static const ProgramTables calls = make_calls();
    return calls;
}

BoundTables::BoundTables(const Program& program) : calls_(library_calls()) {
    functions_.reserve(program.tables.size());
    for (const ProgramTable& table : program.tables) functions_.emplace_back(table.kind, table.params);
    calls_.functions = functions_.data();
}

}  // namespace bellcrank
