#include "adaptive/assembly_tree.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <string>

namespace bellcrank {

namespace {

void check_parents(const std::vector<int>& parents) {
    if (parents.empty()) throw std::invalid_argument("a linkage needs at least one body");
    for (size_t i = 0; i < parents.size(); ++i)
        if (parents[i] < -1 || parents[i] >= static_cast<int>(i))
            throw std::invalid_argument("parents[" + std::to_string(i) +
                                        "] must be -1 or the number of a link before it, got " +
                                        std::to_string(parents[i]));
}

// Makes the nodes path by path, those with the deepest heads first, so that side branches are there when they are met.
class Planner {
  public:
    Planner(const std::vector<int>& parents, TreeShape shape, AssemblyTree& tree)
        : parents_(parents), shape_(shape), tree_(tree) {
        const int n = static_cast<int>(parents.size());
        size_.assign(n, 1);
        heavy_.assign(n, -1);
        laws_.resize(n + 1);
        tree_.body_of.assign(n, -1);
        tree_.nodes.reserve(3 * static_cast<size_t>(n));
        for (int i = n - 1; i >= 0; --i)
            if (parents[i] >= 0) size_[parents[i]] += size_[i];
        for (int i = 0; i < n; ++i) {
            const int p = parents[i];
            if (p >= 0 && (heavy_[p] < 0 || size_[i] > size_[heavy_[p]])) heavy_[p] = i;
        }
    }

    // The node of the whole linkage, seen from the ground.
    int plan() {
        const int n = static_cast<int>(parents_.size());
        for (int i = n - 1; i >= 0; --i)
            if (parents_[i] < 0 || heavy_[parents_[i]] != i) add_path(i);
        return sum(laws_[n]);
    }

  private:
    using Law = std::pair<int, int>;  // weight, node

    int add(NodeKind kind, bool ends, int left, int right, int link) {
        const int made = static_cast<int>(tree_.nodes.size());
        tree_.nodes.push_back({kind, ends, left, right, -1, link, 0, 0});
        for (const int child : {left, right})
            if (child >= 0) tree_.nodes[child].parent = made;
        return made;
    }

    void add_path(int head) {
        path_.clear();
        weight_.assign(1, 0);
        for (int v = head; v >= 0; v = heavy_[v]) {
            path_.push_back(v);
            weight_.push_back(weight_.back() + size_[v] - (heavy_[v] < 0 ? 0 : size_[heavy_[v]]));
        }
        if (shape_ == TreeShape::articulated)
            for (int place = static_cast<int>(path_.size()) - 1; place > 0; --place)
                rake(place, laws_[path_[place - 1]]);
        rake(0, parents_[head] < 0 ? laws_.back() : laws_[parents_[head]]);
    }

    // What follows from a place of the path on, as a law.
    void rake(int first, std::vector<Law>& laws) {
        const int end = static_cast<int>(path_.size());
        const int cluster = join(first, shape_ == TreeShape::articulated ? first + 1 : end);
        laws.emplace_back(weight_[end] - weight_[first], add(NodeKind::rake, true, cluster, -1, path_[first]));
    }

    int body(int place) { return add(NodeKind::body, true, sum(laws_[path_[place]]), -1, path_[place]); }

    // The stretch of the path from place `first` to before `end`, cut where its heavier part is lightest.
    int join(int first, int end) {
        if (end == first + 1) return body(first);
        const auto heavier = [&](int cut) {
            return std::max(weight_[cut] - weight_[first], weight_[end] - weight_[cut]);
        };
        const auto half = std::lower_bound(weight_.begin() + first + 1, weight_.begin() + end - 1,
                                           weight_[first] + (weight_[end] - weight_[first] + 1) / 2);
        int cut = static_cast<int>(half - weight_.begin());
        if (cut > first + 1 && heavier(cut - 1) <= heavier(cut)) --cut;
        const bool ends = end == static_cast<int>(path_.size());
        if (ends && cut == first + 1) {
            rake(cut, laws_[path_[first]]);
            return body(first);
        }
        const int left = join(first, cut), right = join(cut, end);
        return add(NodeKind::join, ends, left, right, path_[cut]);
    }

    // Huffman's tree, the lightest first; −1 where there is nothing to add.
    int sum(std::vector<Law>& laws) {
        if (laws.empty()) return -1;
        if (laws.size() > 1) {
            std::priority_queue<Law, std::vector<Law>, std::greater<>> queue(std::greater<>(), std::move(laws));
            while (queue.size() > 1) {
                const Law a = queue.top();
                queue.pop();
                const Law b = queue.top();
                queue.pop();
                queue.emplace(a.first + b.first, add(NodeKind::sum, true, a.second, b.second, -1));
            }
            return queue.top().second;
        }
        return laws[0].second;
    }

    const std::vector<int>& parents_;
    const TreeShape shape_;
    AssemblyTree& tree_;
    std::vector<int> size_, heavy_, path_;
    std::vector<int> weight_;             // of the bodies of a path before a place, with their side branches
    std::vector<std::vector<Law>> laws_;  // per link, the ground last
};

// Nodes in the order in which a walk leaves them, so that each subtree lies in one piece.
void renumber(AssemblyTree& tree, int root) {
    std::vector<int> number(tree.nodes.size(), -1), open{root};
    std::vector<AssemblyNode> sorted;
    sorted.reserve(tree.nodes.size());
    while (!open.empty()) {
        const int at = open.back();
        if (number[at] < 0) {
            number[at] = 0;  // its children are on the stack
            for (const int child : {tree.nodes[at].right, tree.nodes[at].left})
                if (child >= 0) open.push_back(child);
            continue;
        }
        open.pop_back();
        number[at] = static_cast<int>(sorted.size());
        sorted.push_back(tree.nodes[at]);
    }
    for (AssemblyNode& node : sorted)
        for (int* other : {&node.left, &node.right, &node.parent})
            if (*other >= 0) *other = number[*other];
    tree.nodes = std::move(sorted);
}

}  // namespace

AssemblyTree::AssemblyTree(const std::vector<int>& parents, TreeShape of) : shape(of) {
    check_parents(parents);
    renumber(*this, Planner(parents, of, *this).plan());
    std::vector<int> number(parents.size());
    joint_of.clear();
    for (size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].kind == NodeKind::join || nodes[i].kind == NodeKind::rake) {
            number[nodes[i].link] = static_cast<int>(given.size());
            given.push_back(nodes[i].link);
            joint_of.push_back(static_cast<int>(i));
        }
    for (size_t i = 0; i < nodes.size(); ++i) {
        AssemblyNode& node = nodes[i];
        if (node.link >= 0) node.link = number[node.link];
        if (node.kind == NodeKind::body) {
            body_of[node.link] = static_cast<int>(i);
            node.slot = node.left < 0 ? -1 : branched++;
        } else
            node.slot = node.kind == NodeKind::join ? joins++ : laws++;
    }
    for (size_t i = nodes.size(); i-- > 0;)
        if (nodes[i].parent >= 0) nodes[i].level = nodes[nodes[i].parent].level + 1;
}

int AssemblyTree::levels() const {
    int deepest = 0;
    for (const AssemblyNode& node : nodes) deepest = std::max(deepest, node.level);
    return deepest + 1;
}

}  // namespace bellcrank
