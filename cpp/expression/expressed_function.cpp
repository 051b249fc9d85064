#include "expression/expressed_function.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "expression/lower.hpp"
#include "expression/part.hpp"
#include "functions/function.hpp"

namespace bellcrank {

namespace {

std::vector<Ref> transferred(const Graph& from, Ref value, std::span<const Ref> inputs, Graph& to,
                             std::span<const Ref> images) {
    std::vector<std::pair<Ref, Ref>> pairs;
    for (std::size_t i = 0; i < inputs.size(); ++i) pairs.emplace_back(inputs[i], images[i]);
    return transfer(from, std::span(&value, 1), to, pairs);
}

void check_expressed(const void* held, std::span<const double> params) {
    const CompiledProgram& program = static_cast<const ExpressedFunction*>(held)->program();
    if (params.size() + 1 != static_cast<std::size_t>(program.inputs()))
        throw std::invalid_argument("function given by an expression: " + std::to_string(program.inputs() - 1) +
                                    " parameters wanted, " + std::to_string(params.size()) + " given");
}

FunctionValue evaluate_expressed(const void* held, std::span<const double> params, double x) {
    const CompiledProgram& program = static_cast<const ExpressedFunction*>(held)->program();
    thread_local std::vector<double> scratch;  // grows to the largest program and stays
    const std::size_t inputs = params.size() + 1, needed = inputs + program.work_size();
    if (scratch.size() < needed) scratch.resize(needed);
    scratch[0] = x;
    std::copy(params.begin(), params.end(), scratch.begin() + 1);
    double out[3];
    program.evaluate(scratch.data(), out, scratch.data() + inputs);
    return {out[0], out[1], out[2]};
}

FunctionValueT<Dual4> differentiate_expressed(const void* held, std::span<const Dual4> params, const Dual4& x) {
    const CompiledProgram& program = static_cast<const ExpressedFunction*>(held)->program();
    thread_local std::vector<Dual4> in;
    in.assign(1, x);
    in.insert(in.end(), params.begin(), params.end());
    const std::span<const Dual4> found = program.tangent(in);
    return {found[0], found[1], found[2]};
}

const FunctionRegistration registration({"expression", nullptr, nullptr, nullptr, nullptr, check_expressed,
                                         evaluate_expressed, differentiate_expressed});

}  // namespace

ExpressedFunction::ExpressedFunction(const Graph& from, std::span<const Ref> forms, std::span<const Ref> inputs)
    : program_(lower(from, forms, inputs)) {
    for (const Ref input : inputs) {
        const Symbol symbol = from.symbol_of(input);
        inputs_.push_back(graph_.symbol(symbol.name, symbol.range));
    }
    value_ = transferred(from, forms[0], inputs, graph_, inputs_)[0];
}

Expression ExpressedFunction::at(Graph& graph, std::span<const Ref> inputs) const {
    return {&graph, transferred(graph_, value_, inputs_, graph, inputs)[0]};
}

}  // namespace bellcrank
