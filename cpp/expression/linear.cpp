// D* (B. Guenter, Efficient symbolic differentiation for graphics applications, ACM Trans. Graph. 26(3), 2007), as a
// product form: where all paths from a node to a sink pass through a node in between, the derivative is the product of
// the two parts. Of the nodes that all paths from u to w share, the first is the immediate post-dominator of u against
// w, and the derivative of u by it, D(u, v), is the same for every w behind v.
#include "expression/linear.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

#include "expression/index.hpp"
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

namespace {

// Derivatives found so far, D(u, w), in a table with open addressing.
class Found {
  public:
    const Ref* find(std::uint32_t u, std::uint32_t w) const {
        const Entry& e = entries_[place(entries_, u, w)];
        return e.u == kNowhere ? nullptr : &e.value;
    }
    void insert(std::uint32_t u, std::uint32_t w, Ref value) {
        if (2 * ++count_ > entries_.size()) {
            std::vector<Entry> wider(2 * entries_.size());
            for (const Entry& e : entries_) {
                if (e.u != kNowhere) wider[place(wider, e.u, e.w)] = e;
            }
            entries_ = std::move(wider);
        }
        entries_[place(entries_, u, w)] = {u, w, value};
    }

  private:
    struct Entry {
        std::uint32_t u = kNowhere, w = 0;
        Ref value;
    };
    static std::size_t place(const std::vector<Entry>& entries, std::uint32_t u, std::uint32_t w) {
        std::size_t at = mix(std::uint64_t{u} << 32 | w);
        for (;; ++at) {
            const Entry& e = entries[at & (entries.size() - 1)];
            if (e.u == kNowhere || (e.u == u && e.w == w)) return at & (entries.size() - 1);
        }
    }

    std::vector<Entry> entries_ = std::vector<Entry>(64);
    std::size_t count_ = 0;
};

class Factored {
  public:
    Factored(Graph& graph, const Linear& linear)
        : graph_(graph), linear_(linear), next_(linear.size()), jump_(linear.size()), depth_(linear.size()) {}

    // Immediate post-dominators against the sink, which form a tree: that of u is where its operands meet (K. Cooper,
    // T. Harvey and K. Kennedy, A simple, fast dominance algorithm, 2001; one pass where there are no cycles). Then
    // D(u, next of u) of every node that has a path.
    void prepare(std::uint32_t sink) {
        std::fill(next_.begin(), next_.end(), kNowhere);
        next_[sink] = jump_[sink] = sink;
        depth_[sink] = 0;
        for (std::uint32_t u = sink + 1; u < linear_.size(); ++u) {
            std::uint32_t meeting = kNowhere;
            for (const Edge& e : linear_.of(u)) {
                if (next_[e.to] != kNowhere) meeting = meeting == kNowhere ? e.to : common(meeting, e.to);
            }
            if (meeting == kNowhere) continue;
            hang(u, meeting);
            part(u);
        }
    }

    // D(u, w) for w on the chain of post-dominators of u: the parts multiplied, from w up.
    Ref derivative(std::uint32_t u, std::uint32_t w) {
        if (next_[u] == kNowhere) return Ref();
        chain_.clear();
        Ref product = graph_.constant(1.0);
        std::uint32_t x = u;
        for (; x != w; x = next_[x]) {
            if (const Ref* known = found_.find(x, w)) {
                product = *known;
                break;
            }
            chain_.push_back(x);
        }
        for (; !chain_.empty(); chain_.pop_back()) {
            x = chain_.back();
            product = graph_.multiply(*found_.find(x, next_[x]), product);
            found_.insert(x, w, product);
        }
        return product;
    }

  private:
    // Hangs u under v. Jumps of skew binary lengths make the way up logarithmic (E. Myers, An applicative random-access
    // stack, Inf. Process. Lett. 17, 1983).
    void hang(std::uint32_t u, std::uint32_t v) {
        next_[u] = v;
        depth_[u] = depth_[v] + 1;
        const std::uint32_t j = jump_[v];
        jump_[u] = depth_[v] - depth_[j] == depth_[j] - depth_[jump_[j]] ? jump_[j] : v;
    }

    std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
        if (depth_[a] < depth_[b]) std::swap(a, b);
        while (depth_[a] > depth_[b]) a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : next_[a];
        while (a != b) {  // equal depths have equal lengths of jumps
            const bool far = jump_[a] != jump_[b];
            a = far ? jump_[a] : next_[a];
            b = far ? jump_[b] : next_[b];
        }
        return a;
    }

    void part(std::uint32_t u) {
        const std::uint32_t v = next_[u];
        if (found_.find(u, v) != nullptr) return;
        Ref sum;
        for (const Edge& e : linear_.of(u)) {
            if (next_[e.to] != kNowhere) sum = graph_.add(sum, graph_.multiply(e.weight, derivative(e.to, v)));
        }
        found_.insert(u, v, sum);
    }

    Graph& graph_;
    const Linear& linear_;
    std::vector<std::uint32_t> next_, jump_, depth_;  // of the tree: one up, many up, how far down
    std::vector<std::uint32_t> chain_;
    Found found_;
};

}  // namespace

std::vector<Ref> factored_path_sums(Graph& graph, const Linear& linear, std::span<const std::uint32_t> tops,
                                    std::span<const std::uint32_t> sinks) {
    std::vector<Ref> out(tops.size() * sinks.size());
    Factored factored(graph, linear);
    for (std::size_t j = 0; j < sinks.size(); ++j) {
        if (sinks[j] == kNowhere) continue;
        factored.prepare(sinks[j]);
        for (std::size_t i = 0; i < tops.size(); ++i) {
            if (tops[i] != kNowhere) out[i * sinks.size() + j] = factored.derivative(tops[i], sinks[j]);
        }
    }
    return out;
}

// Elimination of vertices in the order of least Markowitz degree (A. Griewank and S. Reese, On the calculation of
// Jacobian matrices by the Markowitz rule, 1991): each node between outputs and symbols is taken out, its users being
// joined to its operands; the one with the fewest pairs first.

namespace {

class Elimination {
  public:
    Elimination(Graph& graph, const Linearised& l)
        : graph_(graph), operands_(l.linear.size()), users_(l.linear.size()) {
        for (std::uint32_t i = 0; i < l.linear.size(); ++i) {
            for (const Edge& e : l.linear.of(i)) join(i, e.to, e.weight);
        }
    }

    // Output k stands as a node of its own above its expression, for that may have other users.
    std::uint32_t add_output(std::uint32_t place) {
        const auto number = static_cast<std::uint32_t>(operands_.size());
        operands_.emplace_back();
        users_.emplace_back();
        join(number, place, graph_.constant(1.0));
        return number;
    }

    // Takes out every node that is not kept. False if that makes more than so many edges.
    bool run(std::vector<bool> kept, std::size_t most) {
        kept.resize(operands_.size(), true);
        for (std::uint32_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) queue_.emplace(degree(i), i);
        }
        while (!queue_.empty() && made_ <= most) {
            const auto [d, v] = queue_.top();
            queue_.pop();
            if (kept[v] || d != degree(v)) continue;  // gone, or queued again with what is now its degree
            kept[v] = true;
            eliminate(v, kept);
        }
        return queue_.empty();
    }

    Ref weight(std::uint32_t u, std::uint32_t v) const {
        const auto it = operands_[u].find(v);
        return it == operands_[u].end() ? Ref() : it->second;
    }

  private:
    std::size_t degree(std::uint32_t v) const { return operands_[v].size() * users_[v].size(); }

    void join(std::uint32_t u, std::uint32_t v, Ref weight) {
        ++made_;
        Ref& sum = operands_[u][v];
        sum = graph_.add(sum, weight);
        users_[v][u] = true;
    }

    void eliminate(std::uint32_t v, const std::vector<bool>& done) {
        for (const auto& [u, unused] : users_[v]) {
            const Ref above = operands_[u].at(v);
            operands_[u].erase(v);
            for (const auto& [w, below] : operands_[v]) join(u, w, graph_.multiply(above, below));
        }
        for (const auto& [w, below] : operands_[v]) users_[w].erase(v);
        for (const auto& [u, unused] : users_[v]) requeue(u, done);
        for (const auto& [w, below] : operands_[v]) requeue(w, done);
        operands_[v].clear();
        users_[v].clear();
    }

    void requeue(std::uint32_t v, const std::vector<bool>& done) {
        if (!done[v]) queue_.emplace(degree(v), v);
    }

    Graph& graph_;
    std::vector<std::map<std::uint32_t, Ref>> operands_;
    std::vector<std::map<std::uint32_t, bool>> users_;
    using Candidate = std::pair<std::size_t, std::uint32_t>;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
    std::size_t made_ = 0;
};

}  // namespace

std::vector<Ref> eliminated_path_sums(Graph& graph, const Linearised& l) {
    Elimination elimination(graph, l);
    const std::size_t n = l.linear.size();
    std::vector<bool> kept(n);
    for (const std::uint32_t s : l.symbols) {
        if (s != kNowhere) kept[s] = true;
    }
    std::map<std::uint32_t, std::uint32_t> tops;
    for (const std::uint32_t place : l.outputs) {
        if (place != kNowhere && !tops.contains(place)) tops[place] = elimination.add_output(place);
    }
    std::vector<Ref> out;
    if (!elimination.run(kept, 16 * l.linear.edges.size() + 4 * l.outputs.size() * l.symbols.size())) return out;
    for (const std::uint32_t i : l.outputs) {
        for (const std::uint32_t j : l.symbols) {
            out.push_back(i == kNowhere || j == kNowhere ? Ref() : elimination.weight(tops[i], j));
        }
    }
    return out;
}

}  // namespace bellcrank
