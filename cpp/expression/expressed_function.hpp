// Functions of one variable that users write as expressions: the kind "expression" of functions.
#pragma once

#include <span>
#include <vector>

#include "expression/expression.hpp"
#include "programs/compiled_program.hpp"

namespace bellcrank {

// What a function of the kind "expression" holds: its expression, for those who derive equations from it, and its
// program, for those who evaluate it. It never changes.
class ExpressedFunction {
  public:
    // forms: value, first and second derivative. inputs: symbols, the variable first, then the parameters. All in one
    // graph, from which the value is copied. Throws std::invalid_argument where lower() does.
    ExpressedFunction(const Graph& from, std::span<const Ref> forms, std::span<const Ref> inputs);

    // The value at expressions of another graph, one for each input.
    Expression at(Graph& graph, std::span<const Ref> inputs) const;
    const CompiledProgram& program() const { return program_; }
    CompiledProgram& program() { return program_; }

  private:
    Graph graph_;
    std::vector<Ref> inputs_;
    Ref value_;
    CompiledProgram program_;
};

}  // namespace bellcrank
