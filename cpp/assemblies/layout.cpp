// Where everything of an assembly lies in memory, and which nodes threads may work on apart.
#include <algorithm>
#include <numeric>

#include "assemblies/assembly.hpp"
#include "assemblies/front.hpp"
#include "assemblies/parts.hpp"

namespace bellcrank {

namespace {

// Nodes of a task at least, and tasks at most, whatever the number of threads: results do not depend on it.
constexpr int kLeastNodes = 64, kMostTasks = 32;

}  // namespace

Assembly::Assembly(const Model& model, const ConstraintRows& rows, int most_joints) : rows_(rows.rows()) {
    const AssemblyParts parts(model, rows, most_joints);
    hubs_ = parts.hubs;
    plan_ = plan_assembly(parts.graph);
    std::vector<int> place(parts.graph.size.size());
    for (const Subassembly& made : plan_.nodes) add_node(made, parts, rows, place);
    for (auto* v : {&pivot_, &inverse_, &value_}) v->assign(rows_ + 6 * hubs_, 0.0);
    divide();
}

// place: per handle, where its first unknown stands in the node at hand.
void Assembly::add_node(const Subassembly& made, const AssemblyParts& parts, const ConstraintRows& rows,
                        std::vector<int>& place) {
    const auto count = [](const auto& v) { return static_cast<int>(v.size()); };
    Node n{};
    n.unknown_begin = count(unknowns_);
    for (const auto* handles : {&made.joined, &made.ends})
        for (const int h : *handles) {
            const int size = parts.graph.size[h];
            const int first = h < parts.blocks ? rows.blocks()[h].row : rows_ + 6 * (h - parts.blocks);
            place[h] = n.size;
            for (int k = 0; k < size; ++k) unknowns_.push_back(first + k);
            n.size += size;
            if (handles == &made.joined) n.joined = n.size;
        }
    n.stride = front::padded(n.size);
    n.factor = count(factors_);
    factors_.resize(factors_.size() + static_cast<size_t>(n.joined) * n.stride, 0.0);
    n.child_begin = count(children_);
    for (const int c : made.children) {
        Child child{c, count(pieces_), 0};
        int from = 0;
        for (const int h : plan_.nodes[c].ends) {
            pieces_.push_back({parts.graph.size[h], from, place[h]});
            from += parts.graph.size[h];
        }
        child.piece_end = count(pieces_);
        children_.push_back(child);
    }
    n.child_end = count(children_);
    n.gram_begin = count(grams_), n.coupling_begin = count(couplings_), n.hub_begin = count(hub_places_);
    for (const int p : made.parts) {
        const AssemblyPart& part = parts.parts[p];
        for (const int i : part.blocks)
            for (const BlockSide& side : rows.sides(rows.blocks()[i]))
                if (side.body == part.body) grams_.push_back({side.rows, part.body, place[i], rows.blocks()[i].row});
        for (const auto& [i, side] : part.hubs)
            couplings_.push_back({side.rows, place[i], place[parts.handle_of_hub(side.body)], rows.blocks()[i].row});
        if (part.hub >= 0) hub_places_.push_back(place[parts.blocks + part.hub]);
    }
    n.gram_end = count(grams_), n.coupling_end = count(couplings_), n.hub_end = count(hub_places_);
    nodes_.push_back(n);
}

// Subtrees below a size become tasks; neighbours share one as long as it stays below that size.
void Assembly::divide() {
    const int count = static_cast<int>(nodes_.size()), most = std::max(kLeastNodes, count / kMostTasks);
    std::vector<int> owner(count, -1), above;
    for (int i = count - 1; i >= 0;) {
        const int begin = plan_.nodes[i].begin;
        if (i + 1 - begin > most) {
            above.push_back(i--);
            continue;
        }
        if (!tasks_.empty() && tasks_.back().begin == i + 1 && tasks_.back().end - begin <= most)
            tasks_.back().begin = begin;
        else
            tasks_.push_back({begin, i + 1});
        i = begin - 1;
    }
    std::reverse(above.begin(), above.end());
    above_ = above;
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 0);
    for (size_t t = 0; t < tasks_.size(); ++t)
        std::fill(owner.begin() + tasks_[t].begin, owner.begin() + tasks_[t].end, static_cast<int>(t));
    for (Task& task : tasks_) make_room(std::span(all).subspan(task.begin, task.end - task.begin), owner, task);
    make_room(above_, owner, top_);
}

// Ends of children lie in a stack until the parent has taken them, then the parent's lie there.
void Assembly::make_room(std::span<const int> nodes, std::span<const int> owner, Task& task) {
    int matrix = static_cast<int>(matrices_.size()), vector = static_cast<int>(vectors_.size());
    int matrices = matrix, vectors = vector, widest = front::padded(1);
    for (const int i : nodes) {
        Node& n = nodes_[i];
        n.matrix = matrix, n.vector = vector;
        for (int k = n.child_begin; k < n.child_end; ++k) {
            const int c = children_[k].node;
            if (owner[c] != owner[i]) continue;
            n.matrix = std::min(n.matrix, nodes_[c].matrix), n.vector = std::min(n.vector, nodes_[c].vector);
        }
        const int stride = front::padded(ends(n));
        matrix = n.matrix + ends(n) * stride, vector = n.vector + stride;
        matrices = std::max(matrices, matrix), vectors = std::max(vectors, vector);
        widest = std::max(widest, n.stride);
    }
    // Threads do not share lines of the cache.
    matrices_.resize((matrices + 7) / 8 * 8, 0.0);
    vectors_.resize((vectors + 7) / 8 * 8, 0.0);
    task.front.assign(static_cast<size_t>(widest) * widest, 0.0);
    task.row.assign(6 * static_cast<size_t>(widest), 0.0);
}

}  // namespace bellcrank
