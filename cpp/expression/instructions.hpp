// One program from the graph: what lower() is made of.
#pragma once

#include <span>

#include "expression/graph.hpp"
#include "programs/program.hpp"

namespace bellcrank {

// The roots as functions of the given nodes, which are symbols or any others.
Program lower_given(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> given);

}  // namespace bellcrank
