#include "expression/linear.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "expression/partials.hpp"
#include "expression/reach.hpp"

namespace bellcrank {

namespace {

class Builder {
  public:
    Builder(Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols)
        : graph_(graph), reach_(graph, outputs, symbols), place_(reach_.size(), kNowhere) {}

    Linearised build(std::span<const Ref> outputs, std::span<const Ref> symbols) {
        Linearised out;
        for (const Ref s : symbols) {
            if (graph_.node(s).op != Op::symbol || s.negative()) {
                throw std::invalid_argument("derivatives are by symbols, not by other expressions");
            }
            if (reach_.contains(s) && place(s) == kNowhere) close_node(s);
            out.symbols.push_back(reach_.contains(s) ? place(s) : kNowhere);
        }
        symbol_count_ = linear_.size();
        for (const std::uint32_t index : reach_.nodes()) {
            if (place(Ref(index, false)) != kNowhere) continue;
            add_edges(Ref(index, false));
            if (linear_.edges.size() > linear_.first.back()) close_node(Ref(index, false));
        }
        for (const Ref r : outputs) out.outputs.push_back(place(r));
        out.linear = std::move(linear_);
        prune(out);
        return out;
    }

  private:
    std::uint32_t& place(Ref r) { return place_[reach_.place(r)]; }

    void close_node(Ref r) {
        place(r) = static_cast<std::uint32_t>(linear_.size());
        linear_.first.push_back(static_cast<std::uint32_t>(linear_.edges.size()));
    }

    void add_edges(Ref r) {
        const Op op = graph_.node(r).op;
        if (is_choice(op)) return add_choice(r);
        bool active = false;  // partial derivatives of others are not even built
        const Node n = graph_.node(r);
        for (int i = 0; i < operand_count(op); ++i) active = active || depends(operand(n, i));
        if (!active) return;
        Partial partial[2];
        const int count = partials(graph_, r, partial);
        for (int i = 0; i < count; ++i) {
            const std::uint32_t to = place(partial[i].operand);
            if (to != kNowhere && partial[i].derivative.index() != 0) {
                linear_.edges.push_back({to, partial[i].derivative});
            }
        }
    }

    // 1/b stays active for its users though they reach past it.
    bool depends(Ref r) { return place(r) != kNowhere; }

    void add_choice(Ref r) {
        const Node n = graph_.node(r);
        const Ref a = n.op == Op::select ? n.b : n.a, b = n.op == Op::select ? n.c : n.b;
        if (!depends(a) && !depends(b)) return;
        const Choice choice = choice_of(graph_, r);
        std::map<std::uint32_t, std::pair<Ref, Ref>> both;
        for (const auto& [to, value] : gradient(choice.yes)) both[to].first = value;
        for (const auto& [to, value] : gradient(choice.no)) both[to].second = value;
        for (const auto& [to, sides] : both) {
            const Ref weight = graph_.select(choice.condition, sides.first, sides.second);
            if (weight.index() != 0) linear_.edges.push_back({to, weight});
        }
    }

    // Derivatives of an earlier node by the symbols, in reverse.
    std::vector<std::pair<std::uint32_t, Ref>> gradient(Ref r) {
        std::vector<std::pair<std::uint32_t, Ref>> out;
        if (!depends(r)) return out;
        std::map<std::uint32_t, Ref, std::greater<>> open{{place(r), r.negative() ? -Ref(1, false) : Ref(1, false)}};
        while (!open.empty()) {
            const auto [node, adjoint] = *open.begin();
            open.erase(open.begin());
            if (node < symbol_count_) {
                out.emplace_back(node, adjoint);
                continue;
            }
            for (const Edge& e : linear_.of(node)) {
                Ref& sum = open[e.to];
                sum = graph_.add(sum, graph_.multiply(adjoint, e.weight));
            }
        }
        return out;
    }

    // Leaves out what no output needs: reciprocals that quotients reach past, what lies under a choice.
    static void prune(Linearised& all) {
        const Linear& old = all.linear;
        std::vector<std::uint32_t> number(old.size(), kNowhere);
        for (const std::uint32_t i : all.outputs) {
            if (i != kNowhere) number[i] = 0;
        }
        for (std::size_t i = old.size(); i-- > 0;) {
            if (number[i] == kNowhere) continue;
            for (const Edge& e : old.of(i)) number[e.to] = 0;
        }
        Linear kept;
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (number[i] == kNowhere) continue;
            number[i] = static_cast<std::uint32_t>(kept.size());
            for (const Edge& e : old.of(i)) kept.edges.push_back({number[e.to], e.weight});
            kept.first.push_back(static_cast<std::uint32_t>(kept.edges.size()));
        }
        for (std::vector<std::uint32_t>* list : {&all.outputs, &all.symbols}) {
            for (std::uint32_t& i : *list) i = i == kNowhere ? i : number[i];
        }
        all.linear = std::move(kept);
    }

    Graph& graph_;
    Reach reach_;
    std::vector<std::uint32_t> place_;
    Linear linear_;
    std::size_t symbol_count_ = 0;
};

}  // namespace

Linear transposed(const Linear& linear) {
    const std::size_t n = linear.size();
    Linear out;
    out.first.assign(n + 1, 0);
    for (const Edge& e : linear.edges) ++out.first[n - e.to];
    for (std::size_t i = 0; i < n; ++i) out.first[i + 1] += out.first[i];
    out.edges.resize(linear.edges.size());
    std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
    for (std::size_t i = n; i-- > 0;) {  // descending, so that the latest user comes first
        for (const Edge& e : linear.of(i)) {
            out.edges[next[n - 1 - e.to]++] = {static_cast<std::uint32_t>(n - 1 - i), e.weight};
        }
    }
    return out;
}

Linearised linearise(Graph& graph, std::span<const Ref> outputs, std::span<const Ref> symbols) {
    return Builder(graph, outputs, symbols).build(outputs, symbols);
}

std::vector<Ref> accumulate(Graph& graph, const Linear& linear, std::span<const std::uint32_t> places,
                            std::span<const Ref> values) {
    std::vector<Ref> sums(linear.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] != kNowhere) sums[places[i]] = values[i];
    }
    std::size_t start = linear.size();
    for (const std::uint32_t p : places) start = std::min<std::size_t>(start, p);
    for (std::size_t i = start; i < linear.size(); ++i) {
        for (const Edge& e : linear.of(i)) {
            if (sums[e.to].index() != 0) sums[i] = graph.add(sums[i], graph.multiply(e.weight, sums[e.to]));
        }
    }
    return sums;
}

std::vector<Ref> path_sums(Graph& graph, const Linear& linear, std::span<const std::uint32_t> tops,
                           std::span<const std::uint32_t> sinks) {
    std::vector<Ref> out(tops.size() * sinks.size());
    const Ref one[] = {graph.constant(1.0)};
    for (std::size_t j = 0; j < sinks.size(); ++j) {
        if (sinks[j] == kNowhere) continue;
        const std::uint32_t place[] = {sinks[j]};
        const std::vector<Ref> sums = accumulate(graph, linear, place, one);
        for (std::size_t i = 0; i < tops.size(); ++i) {
            if (tops[i] != kNowhere) out[i * sinks.size() + j] = sums[tops[i]];
        }
    }
    return out;
}

}  // namespace bellcrank
