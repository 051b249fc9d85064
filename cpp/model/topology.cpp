#include "model/topology.hpp"

#include <stdexcept>
#include <string>

namespace bellcrank {

namespace {

void require_node(int node, int nodes) {
    if (node < 0 || node >= nodes)
        throw std::invalid_argument("node " + std::to_string(node) + " is none of " + std::to_string(nodes));
}

}  // namespace

// The larger set takes the smaller one up, and ways are halved as they are gone (R. Tarjan, J. van Leeuwen, Worst-case
// analysis of set union algorithms, 1984).
bool DisjointSets::join(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    if (above_[a] > above_[b]) std::swap(a, b);
    above_[a] += above_[b];
    above_[b] = a;
    return true;
}

int DisjointSets::find(int i) {
    while (above_[i] >= 0) {
        if (above_[above_[i]] >= 0) above_[i] = above_[above_[i]];
        i = above_[i];
    }
    return i;
}

std::vector<int> DisjointSets::numbers() {
    const int size = static_cast<int>(above_.size());
    std::vector<int> number(size, -1), out(size);
    int count = 0;
    for (int i = 0; i < size; ++i) {
        int& known = number[find(i)];
        if (known < 0) known = count++;
        out[i] = known;
    }
    return out;
}

Topology::Topology(int nodes, std::vector<Ends> given, int firm)
    : edges(std::move(given)),
      at(nodes,
         [&](const auto& put) {
             for (int e = 0; e < static_cast<int>(edges.size()); ++e) {
                 const auto [first, second] = edges[e];
                 require_node(first, nodes);
                 require_node(second, nodes);
                 put(first, e);
                 if (second != first) put(second, e);
             }
         }),
      parent(nodes, -1),
      parent_edge(nodes, -1),
      depth(nodes, -1) {
    order.reserve(nodes);
    std::vector<int> waiting;
    std::vector<bool> used(edges.size(), false);
    const auto follow = [&](int edge) {
        const auto [first, second] = edges[edge];
        if ((depth[first] < 0) == (depth[second] < 0)) return;
        const int node = depth[first] < 0 ? first : second;
        parent[node] = across(edge, node);
        parent_edge[node] = edge;
        depth[node] = depth[parent[node]] + 1;
        used[edge] = true;
        order.push_back(node);
    };
    size_t next = 0, next_waiting = 0;
    for (int i = 0; i < nodes; ++i) {
        const int root = i == 0 ? nodes - 1 : i - 1;
        if (depth[root] >= 0) continue;
        depth[root] = 0;
        order.push_back(root);
        while (next < order.size() || next_waiting < waiting.size()) {
            if (next == order.size()) {
                follow(waiting[next_waiting++]);
                continue;
            }
            for (const int edge : at[order[next++]]) edge < firm ? follow(edge) : waiting.push_back(edge);
        }
    }
    for (int e = 0; e < static_cast<int>(edges.size()); ++e)
        if (!used[e]) closures.push_back(e);
}

std::vector<int> Topology::loop(int closure) const {
    auto [a, b] = edges.at(closure);
    std::vector<int> out{closure}, back;
    while (a != b) {
        const bool first = depth[a] > depth[b];
        int& lower = first ? a : b;
        (first ? back : out).push_back(parent_edge[lower]);
        lower = parent[lower];
    }
    out.insert(out.end(), back.rbegin(), back.rend());
    return out;
}

std::vector<int> depth_first(std::span<const int> parent, std::span<const int> order, bool parents_last) {
    std::vector<int> size(parent.size(), 1), next(parent.size()), out(parent.size());
    for (auto node = order.rbegin(); node != order.rend(); ++node)
        if (parent[*node] >= 0) size[parent[*node]] += size[*node];
    int next_root = 0;
    for (const int node : order) {
        int& place = parent[node] < 0 ? next_root : next[parent[node]];
        out[parents_last ? place + size[node] - 1 : place] = node;
        next[node] = parents_last ? place : place + 1;
        place += size[node];
    }
    return out;
}

Components components(int nodes, const std::vector<std::vector<int>>& groups) {
    const int ground = nodes - 1;
    require_node(ground, nodes);
    DisjointSets sets(nodes);
    std::vector<int> first(groups.size(), -1);
    for (size_t g = 0; g < groups.size(); ++g)
        for (const int node : groups[g]) {
            require_node(node, nodes);
            if (node == ground) continue;
            if (first[g] < 0) first[g] = node;
            sets.join(first[g], node);
        }
    Components out{sets.numbers(), std::vector<int>(groups.size(), -1), {}};
    out.grounded.assign(out.of_node[ground], 0);  // the ground is alone and comes last
    out.of_node[ground] = -1;
    for (size_t g = 0; g < groups.size(); ++g) {
        if (first[g] < 0) continue;
        out.of_group[g] = out.of_node[first[g]];
        for (const int node : groups[g])
            if (node == ground) out.grounded[out.of_group[g]] = 1;
    }
    return out;
}

}  // namespace bellcrank
