#include "linalg/ordering.hpp"

#include <algorithm>
#include <numeric>

#include "matrices/minimum_degree.hpp"
#include "model/topology.hpp"

namespace bellcrank {

namespace {

using Adjacency = std::vector<std::vector<int>>;

Adjacency permuted(int blocks, std::span<const std::pair<int, int>> couplings, const std::vector<int>& position) {
    Adjacency upper(blocks);
    for (const auto& [i, j] : couplings) {
        const int a = std::min(position[i], position[j]), b = std::max(position[i], position[j]);
        if (a != b) upper[a].push_back(b);
    }
    return upper;
}

// Fill by the elimination tree: the pattern of a step is its own couplings and its children's patterns without it.
std::vector<int> symbolic(Adjacency& upper) {
    const int n = static_cast<int>(upper.size());
    std::vector<int> parent(n, -1);
    Adjacency children(n);
    for (int k = 0; k < n; ++k) {
        auto& pattern = upper[k];
        for (int c : children[k])
            for (int j : upper[c])
                if (j != k) pattern.push_back(j);
        std::sort(pattern.begin(), pattern.end());
        pattern.erase(std::unique(pattern.begin(), pattern.end()), pattern.end());
        if (!pattern.empty()) {
            parent[k] = pattern.front();
            children[parent[k]].push_back(k);
        }
    }
    return parent;
}

// Here a parent is a later step than what hangs on it.
std::vector<int> postorder(const std::vector<int>& parent) {
    std::vector<int> order(parent.size());
    std::iota(order.rbegin(), order.rend(), 0);
    const auto roots = std::stable_partition(order.begin(), order.end(), [&](int k) { return parent[k] < 0; });
    std::reverse(order.begin(), roots);
    return depth_first(parent, order, true);
}

std::vector<int> inverse(const std::vector<int>& order) {
    std::vector<int> position(order.size());
    for (size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int>(k);
    return position;
}

// Maximum cardinality search of a chordal graph: visits next a vertex with most visited neighbours. The reverse of the
// visits is an elimination order without fill, the vertex visited first in each part going last.
std::vector<int> ends_at(const Adjacency& upper, const std::vector<int>& rank) {
    const int n = static_cast<int>(upper.size());
    const Lists neighbours(n, [&](const auto& put) {
        for (int k = 0; k < n; ++k)
            for (int j : upper[k]) {
                put(k, j);
                put(j, k);
            }
    });
    std::vector<int> starts(n), weight(n, 0), visits;
    for (int k = 0; k < n; ++k) starts[k] = k;
    std::stable_sort(starts.begin(), starts.end(), [&](int a, int b) { return rank[a] > rank[b]; });
    std::vector<char> visited(n, 0);
    visits.reserve(n);
    Adjacency waiting;  // by weight; entries may be out of date
    for (int start : starts) {
        if (visited[start]) continue;
        waiting.assign(1, {start});
        while (!waiting.empty()) {
            if (waiting.back().empty()) {
                waiting.pop_back();
                continue;
            }
            const int k = waiting.back().back();
            waiting.back().pop_back();
            if (visited[k] || weight[k] + 1 != static_cast<int>(waiting.size())) continue;
            visited[k] = 1;
            visits.push_back(k);
            for (int j : neighbours[k]) {
                if (visited[j]) continue;
                if (++weight[j] >= static_cast<int>(waiting.size())) waiting.resize(weight[j] + 1);
                waiting[weight[j]].push_back(j);
            }
        }
    }
    std::reverse(visits.begin(), visits.end());
    return visits;
}

std::vector<int> compose(const std::vector<int>& first, const std::vector<int>& then) {
    std::vector<int> order(first.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = first[then[k]];
    return order;
}

}  // namespace

Elimination minimum_degree(int blocks, std::span<const std::pair<int, int>> couplings, std::span<const int> last) {
    Elimination e;
    if (blocks == 0) return e;
    std::vector<int> order = approximate_minimum_degree(blocks, couplings);
    Adjacency filled = permuted(blocks, couplings, inverse(order));
    symbolic(filled);
    std::vector<int> rank(blocks);
    for (int k = 0; k < blocks; ++k) rank[k] = last[order[k]];
    order = compose(order, ends_at(filled, rank));
    Adjacency upper = permuted(blocks, couplings, inverse(order));
    e.order = compose(order, postorder(symbolic(upper)));
    e.position = inverse(e.order);
    e.below = permuted(blocks, couplings, e.position);
    symbolic(e.below);
    return e;
}

}  // namespace bellcrank
