#include "expression/part.hpp"

#include <map>

#include "expression/reach.hpp"

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

namespace {

Ref signed_like(Ref image, Ref original) { return original.negative() ? -image : image; }

// Symbols and tables of one graph as those of another.
struct Leaves {
    const Graph& from;
    Graph& to;
    std::map<std::uint16_t, std::uint16_t> tables = {};

    Ref symbol(Ref r) const {
        if (&from == &to) return r;
        const Symbol copy = from.symbol_of(r);
        return to.symbol(copy.name, copy.range);
    }
    std::uint16_t table(std::uint16_t function) {
        if (&from == &to) return function;
        const auto [it, made] = tables.try_emplace(function, std::uint16_t{0});
        if (made) it->second = to.table(from.table_of(function));
        return it->second;
    }
};

}  // namespace

Ref rebuilt(Graph& to, const Node& node, Ref a, Ref b, Ref c) {
    switch (node.op) {
        case Op::constant:
            return to.constant(node.value);
        case Op::add:
            return to.add(a, b);
        case Op::multiply:
            return to.multiply(a, b);
        case Op::reciprocal:
            return to.reciprocal(a);
        case Op::power:
            return to.power(a, b);
        case Op::select:
            return to.select(a, b, c);
        case Op::table:
            return to.table_value(node.function, node.order, a);
        default:
            return operand_count(node.op) == 1 ? to.apply(node.op, a) : to.apply(node.op, a, b);
    }
}

std::vector<Ref> transfer(const Graph& from, std::span<const Ref> roots, Graph& to,
                          std::span<const std::pair<Ref, Ref>> images) {
    std::vector<Ref> ends;
    for (const auto& [source, image] : images) ends.push_back(source);
    const Reach reach(from, roots, ends);
    std::vector<Ref> made(reach.size());
    std::vector<bool> given(reach.size());
    for (const auto& [source, image] : images) {
        if (!reach.contains(source)) continue;
        made[reach.place(source)] = signed_like(image, source);
        given[reach.place(source)] = true;
    }
    Leaves leaves{from, to};
    const auto image = [&](Ref r) { return signed_like(made[reach.place(r)], r); };
    for (std::size_t i = 0; i < reach.size(); ++i) {
        if (given[i]) continue;
        Node node = from.node(reach.nodes()[i]);
        if (node.op == Op::symbol) {
            made[i] = leaves.symbol(Ref(reach.nodes()[i], false));
            continue;
        }
        if (node.op == Op::table) node.function = leaves.table(node.function);
        const int operands = operand_count(node.op);
        made[i] = rebuilt(to, node, operands > 0 ? image(node.a) : Ref(), operands > 1 ? image(node.b) : Ref(),
                          operands > 2 ? image(node.c) : Ref());
    }
    std::vector<Ref> out;
    for (const Ref r : roots) out.push_back(image(r));
    return out;
}

}  // namespace bellcrank
