// A generated program with its workspace and outputs.
#pragma once

#include "formulations/symbolic.hpp"

namespace bellcrank {

// Inputs: those of the form, then what its prologue makes of the parameters, which is done here once for all.
struct Symbolic::Runner {
    Runner(Program lowered, OperationCount operations)
        : program(std::move(lowered)),
          count(operations),
          in(program.inputs()),
          out(program.outputs()),
          work(program.work_size()) {}
    void settle(const Program& prologue, const std::vector<double>& parameters) {
        const CompiledProgram first(prologue);
        std::vector<double> space(first.work_size());
        first.evaluate(parameters.data(), in.data() + in.size() - first.outputs(), space.data());
    }

    CompiledProgram program;
    OperationCount count;
    std::vector<double> in, out, work;
};

}  // namespace bellcrank
