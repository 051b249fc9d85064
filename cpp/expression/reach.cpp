#include "expression/reach.hpp"

#include <algorithm>

#include "interruption/interruption.hpp"

namespace bellcrank {

Reach::Reach(const Graph& graph, std::span<const Ref> roots, std::span<const Ref> ends) {
    std::vector<std::uint32_t> closed;
    for (const Ref r : ends) closed.push_back(r.index());
    std::sort(closed.begin(), closed.end());
    std::uint32_t last = 0;
    for (const Ref r : roots) last = std::max(last, r.index());
    words_.assign(last / 64 + 1, 0);
    std::vector<std::uint32_t> pending;
    std::size_t count = 0;
    const auto visit = [&](Ref r) {
        std::uint64_t& word = words_[r.index() / 64];
        const std::uint64_t bit = std::uint64_t{1} << r.index() % 64;
        if ((word & bit) != 0) return;
        word |= bit;
        ++count;
        pending.push_back(r.index());
    };
    for (const Ref r : roots) visit(r);
    while (!pending.empty()) {
        look_for_interrupts();
        const std::uint32_t index = pending.back();
        const Node& n = graph.node(index);
        pending.pop_back();
        if (std::binary_search(closed.begin(), closed.end(), index)) continue;
        for (int i = 0; i < operand_count(n.op); ++i) visit(operand(n, i));
    }
    nodes_.reserve(count);
    before_.reserve(words_.size());
    for (std::size_t w = 0; w < words_.size(); ++w) {
        before_.push_back(static_cast<std::uint32_t>(nodes_.size()));
        for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
            nodes_.push_back(static_cast<std::uint32_t>(64 * w + static_cast<std::size_t>(std::countr_zero(rest))));
        }
    }
}

}  // namespace bellcrank
