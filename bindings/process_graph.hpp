// The graph of all expressions that users write.
#pragma once

#include <memory>

#include "expression/graph.hpp"

namespace bellcrank {

const std::shared_ptr<Graph>& process_graph();

}  // namespace bellcrank
