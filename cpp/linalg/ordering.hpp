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

// Approximate minimum degree order for little fill, turned so that within every connected part the block `last` ranks
// highest is eliminated last, then a postorder of the elimination tree: every subtree is one contiguous stretch of
// memory and a chain is passed from one end to the other. Turning costs no fill: a filled graph is chordal, and a
// chordal graph has an order without further fill that ends anywhere (D. Rose, R. Tarjan, G. Lueker, Algorithmic
// aspects of vertex elimination on graphs, 1976; R. Tarjan, M. Yannakakis, maximum cardinality search, 1984).
Elimination minimum_degree(int blocks, std::span<const std::pair<int, int>> couplings, std::span<const int> last);

}  // namespace bellcrank
