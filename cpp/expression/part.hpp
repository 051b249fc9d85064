// A part of a graph as a graph of its own, node by node as it is: in the same order, without any rule of
// simplification.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "expression/graph.hpp"
#include "expression/reach.hpp"

namespace bellcrank {

class GraphPart {
  public:
    GraphPart(const Graph& from, std::span<const Ref> roots);

    const std::shared_ptr<Graph>& graph() const { return graph_; }
    bool contains(Ref r) const { return reach_.contains(r); }
    // A contained node of the old graph in the new one, with the sign of r.
    Ref image(Ref r) const;

  private:
    Reach reach_;
    std::shared_ptr<Graph> graph_;
    std::vector<std::uint32_t> made_;  // index in the new graph, by place in reach_
};

// Copies a part of a graph into another.

// The roots of `from`, built anew in `to`. A pair (node of `from`, node of `to`) tells the image of a symbol, or of
// any other node; other symbols are made anew, with their names and ranges, in the order in which they were made.
// `from` and `to` may be one graph.
std::vector<Ref> transfer(const Graph& from, std::span<const Ref> roots, Graph& to,
                          std::span<const std::pair<Ref, Ref>> images);

// A node built anew from images of its operands.
Ref rebuilt(Graph& to, const Node& node, Ref a, Ref b, Ref c);

}  // namespace bellcrank
