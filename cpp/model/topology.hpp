// How nodes hang together: bodies by joints and constraints, blocks of a matrix by couplings
// (docs/decisions/0003-coordinates-and-bodies.md). All takes linear time, or nearly, and nothing recurses.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace bellcrank {

// A list of numbers for each node, in flat arrays: of node i the items from start[i] up to start[i + 1].
struct Lists {
    std::vector<int> start, items;

    // each(put) calls put(node, item) for all items, those of a list in its order, and twice the same.
    template <class Each>
    Lists(int nodes, const Each& each) : start(nodes + 1, 0) {
        each([this](int node, int) { ++start[node + 1]; });
        std::partial_sum(start.begin(), start.end(), start.begin());
        items.resize(start.back());
        std::vector<int> next = start;
        each([&](int node, int item) { items[next[node]++] = item; });
    }
    std::span<const int> operator[](int node) const {
        return {items.data() + start[node], items.data() + start[node + 1]};
    }
};

class DisjointSets {
  public:
    explicit DisjointSets(int size) : above_(size, -1) {}
    // Whether they were in two sets until now.
    bool join(int a, int b);
    // The element that stands for a set.
    int find(int i);
    // Per element the number of its set; sets are numbered by their first elements.
    std::vector<int> numbers();

  private:
    std::vector<int> above_;  // below zero: it stands for so many
};

using Ends = std::pair<int, int>;

// Edges between nodes, and a forest that spans them. The last node is the ground, the root of the first tree.
struct Topology {
    // The first `firm` edges carry a tree on before any of the others does. Throws std::invalid_argument for an edge to
    // no node.
    Topology(int nodes, std::vector<Ends> edges, int firm = std::numeric_limits<int>::max());

    std::vector<Ends> edges;
    Lists at;                              // per node its edges
    std::vector<int> parent, parent_edge;  // −1 at roots
    std::vector<int> depth;                // edges to the root
    std::vector<int> order;                // all nodes, breadth first
    std::vector<int> closures;             // edges that are none of the forest's: each closes one loop

    int across(int edge, int node) const { return edges[edge].first == node ? edges[edge].second : edges[edge].first; }
    // The edges round the loop that one of `closures` closes, that one first.
    std::vector<int> loop(int closure) const;
};

// The nodes of a forest so that all that hangs on a node comes right after it or, `parents_last`, right before it;
// children and roots as in `order`, where parents come first.
std::vector<int> depth_first(std::span<const int> parent, std::span<const int> order, bool parents_last = false);

// Nodes that groups tie together; the last node, the ground, ties none.
struct Components {
    std::vector<int> of_node, of_group;  // numbered by their first nodes; −1: the ground, a group of no other
    std::vector<std::uint8_t> grounded;  // per component: whether a group ties it to the ground
};
Components components(int nodes, const std::vector<std::vector<int>>& groups);

}  // namespace bellcrank
