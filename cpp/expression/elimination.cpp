// Elimination of vertices in the order of least Markowitz degree (A. Griewank and S. Reese, On the calculation of
// Jacobian matrices by the Markowitz rule, 1991): each node between outputs and symbols is taken out, its users being
// joined to its operands; the one with the fewest pairs first.
#include <map>
#include <queue>

#include "expression/linear.hpp"

namespace bellcrank {

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
