// The linearised graph: nodes that lie between outputs and symbols, with an edge to each operand that carries the
// derivative by it. A derivative is a sum over paths of the products of their edges; what differs between the forms is
// how that sum is factored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

struct Edge {
    std::uint32_t to;
    Ref weight;
};

// Edges of node i: edges[first[i]] … edges[first[i + 1]]. They lead to smaller numbers only.
struct Linear {
    std::vector<std::uint32_t> first{0};
    std::vector<Edge> edges;

    std::size_t size() const { return first.size() - 1; }
    std::span<const Edge> of(std::size_t i) const { return {edges.data() + first[i], first[i + 1] - first[i]}; }
};

// All edges turned round; node i becomes size − 1 − i.
Linear transposed(const Linear& linear);

inline constexpr std::uint32_t kNowhere = 0xffffffffu;

// The linearised graph of some outputs, and where outputs and symbols are in it (kNowhere: the output depends on no
// symbol, or no output on the symbol). A node that chooses has its edges to the symbols at once, each with a choice for
// weight: derivatives on the side that was not taken need not be finite, and must not be multiplied by zero.
struct Linearised {
    Linear linear;
    std::vector<std::uint32_t> outputs, symbols;
};

// Throws std::invalid_argument unless the symbols are symbols.
Linearised linearise(Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols);

// For each node the sum over its edges of weight times value, from values given at some nodes.
std::vector<Ref> accumulate(Graph& graph, const Linear& linear, std::span<const std::uint32_t> places,
                            std::span<const Ref> values);

// Row by row the sums over all paths from tops[i] to sinks[j], expanded edge by edge from the sinks up…
std::vector<Ref> path_sums(Graph& graph, const Linear& linear, std::span<const std::uint32_t> tops,
                           std::span<const std::uint32_t> sinks);

// … or factored at the nodes that all paths share.
std::vector<Ref> factored_path_sums(Graph& graph, const Linear& linear, std::span<const std::uint32_t> tops,
                                    std::span<const std::uint32_t> sinks);

// The same for a whole linearised graph, by elimination of its nodes one by one; nothing if that fills up with edges.
std::vector<Ref> eliminated_path_sums(Graph& graph, const Linearised& linearised);

}  // namespace bellcrank
