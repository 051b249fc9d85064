// Straight-line programs from the graph: an order that keeps few values alive, multiply-adds, sine and cosine of one
// angle together, slots used again, what depends on parameters alone in a program of its own.
#pragma once

#include <span>

#include "expression/derivative.hpp"
#include "expression/graph.hpp"
#include "programs/program.hpp"

namespace bellcrank {

// The roots as functions of the inputs, which are symbols. Throws std::invalid_argument for an input that is no symbol
// or is given twice, and names the symbols that the roots need and that are not among the inputs.
Program lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs);

// In two parts: `prologue` takes the parameters and gives what depends on nothing else; `main` takes the inputs and
// after them the outputs of the prologue.
struct LoweredParts {
    Program prologue, main;
};
LoweredParts lower(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> inputs,
                   std::span<const Ref> parameters);

// Counts by the rule for graphs: a multiply-add is a product and a sum, signs and copies are free. A reciprocal that
// was used once became a division together with its product, which is then one operation less than in the graph.
OperationCount count_operations(const Program& program);

}  // namespace bellcrank
