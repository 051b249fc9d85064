#include "assemblies/plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bellcrank {

namespace {

// Partners that a subassembly looks at, per handle: a body with many joints has many.
constexpr int kMostLookedAt = 4;

// Where fewer than one in so many finds a partner, more ends are allowed from then on: rows of coupled loops have four.
constexpr int kFew = 16;

class Planner {
  public:
    Planner(const AssemblyGraph& graph, int ends) : graph_(graph), allowed_(ends), open_(graph.size.size(), 0) {
        for (const auto& handles : graph.parts)
            for (const int h : handles) ++open_[h];
        for (int p = 0; p < static_cast<int>(graph.parts.size()); ++p) start(p);
    }

    AssemblyPlan plan() {
        while (true) {
            const size_t pieces = pieces_.size(), pairs = round();
            if (pairs == 0) {
                const int least = fewest_ends();
                if (least == kNone) return in_order();
                allowed_ = std::max(allowed_, least);
            } else if (pairs * kFew < pieces) {
                allowed_ += 6;
            }
        }
    }

  private:
    static constexpr int kNone = std::numeric_limits<int>::max();

    // Not yet put together with another: a node, or a part that is none yet.
    struct Piece {
        int node, part;
        std::vector<int> ends;
        int weight, depth;
        bool taken;
    };

    int sum(const std::vector<int>& handles) const {
        return std::accumulate(handles.begin(), handles.end(), 0, [&](int s, int h) { return s + graph_.size[h]; });
    }

    void start(int part) {
        Piece piece{-1, part, graph_.parts[part], 1, 0, false};
        std::sort(piece.ends.begin(), piece.ends.end());
        const bool own = std::any_of(piece.ends.begin(), piece.ends.end(), [&](int h) { return open_[h] == 1; });
        if (own) {
            Subassembly node{{}, {part}, {}, {}, 0, 1, 1};
            for (const int h : piece.ends) (open_[h] == 1 ? node.joined : node.ends).push_back(h);
            piece = {add(node), -1, node.ends, 1, 1, false};
        } else if (piece.ends.empty()) {
            return;
        }
        pieces_.push_back(std::move(piece));
    }

    int add(const Subassembly& node) {
        made_.push_back(node);
        return static_cast<int>(made_.size()) - 1;
    }

    // Unknowns at the ends of two pieces together.
    int ends_of(const Piece& a, const Piece& b) const {
        int both = sum(a.ends) + sum(b.ends);
        for (auto i = a.ends.begin(), j = b.ends.begin(); i != a.ends.end() && j != b.ends.end();) {
            if (*i == *j) both -= graph_.size[*i] * (open_[*i] == 2 ? 2 : 1);
            const int smaller = std::min(*i, *j);
            i += *i == smaller, j += *j == smaller;
        }
        return both;
    }

    bool may_join(const Piece& a, const Piece& b, int ends) const {
        return ends <= std::max({allowed_, sum(a.ends), sum(b.ends)});
    }

    // Calls visit(i, j, ends) for neighbours; visit may take both.
    template <class Visit>
    void for_each_candidate(int i, const Visit& visit) {
        for (const int h : pieces_[i].ends) {
            const std::vector<int>& there = at_[h];
            size_t& first = first_free_[h];
            while (first < there.size() && pieces_[there[first]].taken) ++first;
            int looked_at = 0;
            for (size_t k = first; k < there.size() && looked_at < kMostLookedAt; ++k) {
                const int j = there[k];
                if (j == i || pieces_[j].taken) continue;
                visit(j, ends_of(pieces_[i], pieces_[j]));
                ++looked_at;
            }
        }
    }

    void find_neighbours() {
        at_.assign(graph_.size.size(), {});
        first_free_.assign(at_.size(), 0);
        for (int i = 0; i < static_cast<int>(pieces_.size()); ++i)
            for (const int h : pieces_[i].ends) at_[h].push_back(i);
    }

    // Puts together as many pairs as it finds, and returns their number.
    size_t round() {
        find_neighbours();
        std::vector<int> order(pieces_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return pieces_[a].ends.size() < pieces_[b].ends.size(); });
        std::vector<Piece> joined;
        for (const int i : order) {
            if (pieces_[i].taken) continue;
            int best = -1, fewest = kNone;
            for_each_candidate(i, [&](int j, int ends) {
                if (!may_join(pieces_[i], pieces_[j], ends)) return;
                if (ends < fewest || (ends == fewest && pieces_[j].weight < pieces_[best].weight))
                    best = j, fewest = ends;
            });
            if (best < 0) continue;
            pieces_[i].taken = pieces_[best].taken = true;
            joined.push_back(join(pieces_[i], pieces_[best]));
        }
        std::erase_if(pieces_, [](const Piece& p) { return p.taken; });
        pieces_.insert(pieces_.end(), joined.begin(), joined.end());
        return joined.size();
    }

    // The fewest ends that two neighbours would have together.
    int fewest_ends() {
        find_neighbours();
        int least = kNone;
        for (int i = 0; i < static_cast<int>(pieces_.size()); ++i)
            for_each_candidate(i, [&](int, int ends) { least = std::min(least, ends); });
        return least;
    }

    Piece join(const Piece& a, const Piece& b) {
        Subassembly node{{}, {}, {}, {}, 0, a.weight + b.weight, 1 + std::max(a.depth, b.depth)};
        const Piece &first = a.weight >= b.weight ? a : b, &second = &first == &a ? b : a;
        for (const Piece* p : {&first, &second})
            p->node >= 0 ? node.children.push_back(p->node) : node.parts.push_back(p->part);
        std::vector<int> handles;
        std::set_union(a.ends.begin(), a.ends.end(), b.ends.begin(), b.ends.end(), std::back_inserter(handles));
        for (const int h : handles) {
            const bool shared = std::binary_search(a.ends.begin(), a.ends.end(), h) &&
                                std::binary_search(b.ends.begin(), b.ends.end(), h);
            open_[h] -= shared;
            (open_[h] == 1 && shared ? node.joined : node.ends).push_back(h);
        }
        return {add(node), -1, node.ends, node.weight, node.depth, false};
    }

    // Depth first: the tree of a node is a range that ends with it.
    AssemblyPlan in_order() const {
        AssemblyPlan plan;
        std::vector<int> place(made_.size(), -1);
        std::vector<std::pair<int, bool>> stack;
        for (const Piece& root : pieces_)
            if (root.node >= 0) stack.push_back({root.node, false}), ++plan.components;
        while (!stack.empty()) {
            const auto [i, below_done] = stack.back();
            stack.pop_back();
            const Subassembly& node = made_[i];
            if (!below_done) {
                stack.push_back({i, true});
                for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) stack.push_back({*c, false});
                continue;
            }
            place[i] = static_cast<int>(plan.nodes.size());
            Subassembly placed = node;
            placed.begin = place[i];
            for (int& c : placed.children) c = place[c], placed.begin = std::min(placed.begin, plan.nodes[c].begin);
            plan.depth = std::max(plan.depth, node.depth);
            plan.widest = std::max(plan.widest, sum(node.joined) + sum(node.ends));
            plan.most_ends = std::max(plan.most_ends, static_cast<int>(node.ends.size()));
            plan.nodes.push_back(std::move(placed));
        }
        return plan;
    }

    const AssemblyGraph& graph_;
    int allowed_;
    std::vector<int> open_;  // per handle: pieces that have it
    std::vector<Piece> pieces_;
    std::vector<std::vector<int>> at_;  // per handle: these pieces
    std::vector<size_t> first_free_;    // of these, the first that is not taken
    std::vector<Subassembly> made_;
};

}  // namespace

AssemblyPlan plan_assembly(const AssemblyGraph& graph, int ends) { return Planner(graph, ends).plan(); }

}  // namespace bellcrank
