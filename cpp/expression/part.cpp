#include "expression/part.hpp"

#include <map>

namespace bellcrank {

GraphPart::GraphPart(const Graph& from, std::span<const Ref> roots)
    : reach_(from, roots), graph_(std::make_shared<Graph>()) {
    graph_->rules = from.rules;
    graph_->reserve(reach_.size() + 2);
    made_.reserve(reach_.size());
    std::map<std::uint16_t, std::uint16_t> tables;
    for (const std::uint32_t index : reach_.nodes()) {
        Node node = from.node(index);
        Ref made;  // of node 0, the constant 0, which every graph has
        if (node.op == Op::symbol) {
            made = graph_->symbol(from.symbol_of(Ref(index, false)));
        } else if (index != 0) {
            const int operands = operand_count(node.op);
            if (operands > 0) node.a = image(node.a);
            if (operands > 1) node.b = image(node.b);
            if (operands > 2) node.c = image(node.c);
            if (node.op == Op::table) {
                const auto [it, is_new] = tables.try_emplace(node.function, std::uint16_t{0});
                if (is_new) it->second = graph_->table(from.table_of(node.function));
                node.function = it->second;
            }
            made = graph_->intern(node);
        }
        made_.push_back(made.index());
    }
}

Ref GraphPart::image(Ref r) const {
    const Ref found(made_[reach_.place(r)], false);
    return r.negative() ? -found : found;
}

}  // namespace bellcrank
