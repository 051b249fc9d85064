// A part of a graph as a graph of its own, node by node as it is: in the same order, without any rule of
// simplification.
#pragma once

#include <memory>
#include <span>
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

}  // namespace bellcrank
