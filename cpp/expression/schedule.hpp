// Which nodes of a graph a program computes, which of them disappear into their users, and in what order the others
// are computed.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

inline std::array<Ref, 3> operands_of(const Node& node) { return {node.a, node.b, node.c}; }

class Schedule {
  public:
    // `leaves`: nodes that are given, by node index; nothing below them is computed.
    Schedule(const Graph& graph, std::span<const Ref> roots, const std::vector<bool>& leaves);

    // Indices of the nodes to compute, operands first. Symbols, constants, leaves and fused nodes are not in it.
    const std::vector<std::uint32_t>& order() const { return order_; }
    // A product that is computed within the sum, a reciprocal within the product, that alone uses it.
    bool fused(std::uint32_t node) const { return fused_[node]; }
    // More of the users that cannot take a sign in want the node's negative.
    bool better_negative(std::uint32_t node) const { return sign_balance_[node] < 0; }

  private:
    void count_uses(std::span<const Ref> roots, const std::vector<bool>& leaves);
    void choose_fused();
    void measure();
    void arrange(std::span<const Ref> roots);
    void visit(std::uint32_t root, std::vector<std::uint32_t>& stack);
    int unit_operands(std::uint32_t node, std::array<std::uint32_t, 4>& out) const;

    const Graph& graph_;
    std::vector<std::uint32_t> inner_;  // nodes below the roots that are no leaf, symbol or constant; operands first
    std::vector<std::uint32_t> uses_;
    std::vector<std::int32_t> sign_balance_;
    std::vector<bool> is_inner_, fused_, done_;
    std::vector<std::uint16_t> registers_, weight_;
    std::vector<std::uint32_t> order_;
};

}  // namespace bellcrank
