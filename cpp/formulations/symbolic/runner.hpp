// A generated program with its workspace and outputs.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "expression/lower.hpp"
#include "formulations/symbolic.hpp"

namespace bellcrank {

// Its inputs are those of the form, then what its prologue makes of the parameters.
struct Symbolic::Runner {
    Runner(Program lowered, OperationCount operations, const Program* first = nullptr)
        : program(std::move(lowered)),
          prologue(first == nullptr ? nullptr : std::make_unique<CompiledProgram>(*first)),
          count(operations),
          in(program.inputs()),
          out(program.outputs()),
          work(std::max(program.work_size(), prologue == nullptr ? 0 : prologue->work_size())) {}
    void set(const std::vector<double>& parameters) {
        if (prologue == nullptr) return;
        prologue->evaluate(parameters.data(), in.data() + in.size() - prologue_outputs(), work.data());
    }

    std::size_t prologue_outputs() const { return prologue == nullptr ? 0 : prologue->outputs(); }

    CompiledProgram program;
    std::unique_ptr<CompiledProgram> prologue;  // null: nothing follows parameters
    OperationCount count;
    std::vector<double> in, out, work;
};

}  // namespace bellcrank
