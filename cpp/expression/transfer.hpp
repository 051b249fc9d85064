// Copies a part of a graph into another.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

// The roots of `from`, built anew in `to`. A pair (node of `from`, node of `to`) tells the image of a symbol, or of
// any other node; other symbols are made anew, with their names and ranges, in the order in which they were made.
// `from` and `to` may be one graph.
std::vector<Ref> transfer(const Graph& from, std::span<const Ref> roots, Graph& to,
                          std::span<const std::pair<Ref, Ref>> images);

// A node built anew from images of its operands.
Ref rebuilt(Graph& to, const Node& node, Ref a, Ref b, Ref c);

}  // namespace bellcrank
