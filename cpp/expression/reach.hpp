// The nodes that some roots need, and their numbers in a row: work on a part of a graph then takes memory and time for
// that part alone (one bit for each other node).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace bellcrank {

// The operands of a node: 0 for constants and symbols, whose fields mean something else.
inline int operand_count(Op op) {
    switch (op) {
        case Op::constant:
        case Op::symbol:
            return 0;
        case Op::add:
        case Op::multiply:
        case Op::arctangent_2:
        case Op::power:
        case Op::minimum:
        case Op::maximum:
        case Op::less:
        case Op::less_equal:
            return 2;
        case Op::select:
            return 3;
        default:
            return 1;
    }
}

inline Ref operand(const Node& node, int i) { return i == 0 ? node.a : i == 1 ? node.b : node.c; }

class Reach {
  public:
    // Operands of `ends` are not needed.
    Reach(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> ends = {});

    // Ascending, and so every operand before its user.
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }
    std::size_t size() const { return nodes_.size(); }
    bool contains(std::uint32_t index) const {
        return index / 64 < words_.size() && (words_[index / 64] >> index % 64 & 1) != 0;
    }
    bool contains(Ref r) const { return contains(r.index()); }
    // The place of a contained node in nodes().
    std::size_t place(std::uint32_t index) const {
        const std::uint64_t below = words_[index / 64] & ((std::uint64_t{1} << index % 64) - 1);
        return before_[index / 64] + static_cast<std::size_t>(std::popcount(below));
    }
    std::size_t place(Ref r) const { return place(r.index()); }

  private:
    std::vector<std::uint64_t> words_;   // one bit a node
    std::vector<std::uint32_t> before_;  // contained nodes before each word
    std::vector<std::uint32_t> nodes_;
};

}  // namespace bellcrank
