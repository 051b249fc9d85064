// From straight-line programs back to the graph: the opposite of lower().
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"
#include "programs/program.hpp"

namespace bellcrank {

// The outputs of a program as functions of the given inputs, one for each of its inputs. Multiply-adds become a product
// and a sum. Throws std::invalid_argument where the graph refuses a constant.
std::vector<Ref> raise(const Program& program, Graph& graph, std::span<const Ref> inputs);

}  // namespace bellcrank
