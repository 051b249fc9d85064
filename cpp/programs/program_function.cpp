// Kind "program", drives and forces that users write: a function holds its CompiledProgram; the program's inputs are
// the variable, then the parameters, its outputs value, first and second derivative.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "functions/function.hpp"
#include "programs/compiled_program.hpp"

namespace bellcrank {

namespace {

void check(const void* held, std::span<const double> params) {
    const auto& program = *static_cast<const CompiledProgram*>(held);
    if (program.inputs() < 1 || program.outputs() != 3)
        throw std::invalid_argument("a function needs a program with inputs, and with value and two derivatives");
    if (params.size() + 1 != static_cast<std::size_t>(program.inputs()))
        throw std::invalid_argument("program function: " + std::to_string(program.inputs() - 1) +
                                    " parameters wanted, " + std::to_string(params.size()) + " given");
}

FunctionValue evaluate(const void* held, std::span<const double> params, double x) {
    const auto& program = *static_cast<const CompiledProgram*>(held);
    thread_local std::vector<double> scratch;  // grows to the largest program and stays
    const std::size_t inputs = params.size() + 1, needed = inputs + program.work_size();
    if (scratch.size() < needed) scratch.resize(needed);
    scratch[0] = x;
    std::copy(params.begin(), params.end(), scratch.begin() + 1);
    double out[3];
    program.evaluate(scratch.data(), out, scratch.data() + inputs);
    return {out[0], out[1], out[2]};
}

const FunctionRegistration registration({"program", nullptr, nullptr, nullptr, check, evaluate});

}  // namespace

}  // namespace bellcrank
