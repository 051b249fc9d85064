// D* (B. Guenter, Efficient symbolic differentiation for graphics applications, ACM Trans. Graph. 26(3), 2007), as a
// product form: where all paths from a node to a sink pass through a node in between, the derivative is the product of
// the two parts. Of the nodes that all paths from u to w share, the first is the immediate post-dominator of u against
// w, and the derivative of u by it, D(u, v), is the same for every w behind v.
#include <utility>

#include "expression/index.hpp"
#include "expression/linear.hpp"

namespace bellcrank {

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

}  // namespace bellcrank
