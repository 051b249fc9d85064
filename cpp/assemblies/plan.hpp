// The order in which a mechanism is put together from its bodies: a binary tree of subassemblies.
#pragma once

#include <vector>

#include "spatial/fields.hpp"

namespace bellcrank {

// Parts (bodies, mostly) meet at handles, through which alone they feel each other: the rows of a joint, or the motion
// of a body that many joints are on.
struct AssemblyGraph {
    std::vector<int> size;                // per handle: its unknowns
    std::vector<std::vector<int>> parts;  // per part: its handles, each once
};

// Two subassemblies or parts put together. The handles at which nothing else will be attached are joined: their
// unknowns are eliminated. The others are its ends.
struct Subassembly {
    std::vector<int> children, parts;  // two together, or one part with handles of its own
    std::vector<int> joined, ends;
    int begin;  // the first node below it: children come before parents, and a node's tree is a range
    int weight, depth;
    BELLCRANK_FIELDS(Subassembly, (children), (parts), (joined), (ends), (weight), (depth))
};

struct AssemblyCounts {
    int depth = 0;   // nodes on the longest way from a root to a part
    int widest = 0;  // unknowns of the largest node
    int most_ends = 0;
    int components = 0;  // roots

    BELLCRANK_FIELDS(AssemblyCounts, (depth), (widest), (most_ends), (components))
};

struct AssemblyPlan : AssemblyCounts {
    std::vector<Subassembly> nodes;

    BELLCRANK_MORE_FIELDS(AssemblyPlan, AssemblyCounts, (nodes))
};

// Neighbours are put together in rounds: of all pairs, those whose ends are fewest. A pair may have as many unknowns at
// its ends as `ends` allows, or as one of the two has: so chains stay chains with two ends, branches are taken in by
// the body that they are on, and loops close upon the body that carries them. In each round a part of all subassemblies
// that does not depend on their number finds a partner, hence a depth of O(log n) where no graph forbids it.
AssemblyPlan plan_assembly(const AssemblyGraph& graph, int ends = 12);

}  // namespace bellcrank
