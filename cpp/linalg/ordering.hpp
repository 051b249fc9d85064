// Elimination order of a sparse symmetric block matrix from its graph.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace bellcrank {

struct Elimination {
    std::vector<int> order;               // order[k]: block eliminated at step k
    std::vector<int> position;            // inverse of order
    std::vector<std::vector<int>> below;  // below[k]: steps > k coupled to k once fill is counted, ascending
};

// Approximate minimum degree order, then a postorder of its elimination tree: the same fill, but every subtree is one
// contiguous stretch of memory and a chain is passed from one end to the other.
Elimination minimum_degree(int blocks, std::span<const std::pair<int, int>> couplings);

}  // namespace bellcrank
