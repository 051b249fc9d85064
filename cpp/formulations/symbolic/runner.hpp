// A generated program with its workspace and outputs.
#pragma once

#include "formulations/symbolic.hpp"

namespace bellcrank {

struct Symbolic::Runner {
    Runner(Program lowered, OperationCount operations)
        : program(std::move(lowered)), count(operations), out(program.outputs()), work(program.work_size()) {}
    CompiledProgram program;
    OperationCount count;
    std::vector<double> out, work;
};

}  // namespace bellcrank
