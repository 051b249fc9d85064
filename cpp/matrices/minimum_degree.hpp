// Order of elimination for little fill.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace bellcrank {

// For each step the node that is eliminated then.
std::vector<int> approximate_minimum_degree(int nodes, std::span<const std::pair<int, int>> couplings);

}  // namespace bellcrank
