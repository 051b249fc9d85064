// The order in which a linkage is assembled: a binary tree of connected sets of bodies, each with at most two boundary
// bodies, of logarithmic depth for a tree of bodies of any shape and any degree (docs/theory/adaptive.md).
#pragma once

#include <cstdint>
#include <vector>

namespace bellcrank {

// Heavy paths partition the bodies: a body is followed by its child with the largest subtree, all other children carry
// side branches. So does a body that is a stretch of its path by itself, where all that follows is the other: what
// follows is one branch more.
enum class NodeKind : std::uint8_t {
    body,  // `link` with its branches, whose sum is `left` (−1: it has none)
    join,  // two neighbouring stretches of a heavy path, joined by the joint of `link`, the first body of `right`
    rake,  // the whole branch behind the joint of `link` as a force law of the body that carries it
    sum,   // two such laws of one body, added
};

struct AssemblyNode {
    NodeKind kind;
    bool ends;  // body, join: a stretch that reaches the end of its path, so that its only handle is its first body
    int left, right, parent;  // −1: none
    int link;                 // −1 for a sum
    int level;                // of the root: 0
    int slot;                 // its number among the joins, among the rakes and sums, or among bodies with branches
};

enum class TreeShape : std::uint8_t {
    balanced,     // of logarithmic depth
    articulated,  // bodies, rakes and sums alone, as deep as the linkage: no branch is inverted
};

struct AssemblyTree {
    // parents: per link that of its joint, −1 for the ground; a link's is lower than its own number.
    explicit AssemblyTree(const std::vector<int>& parents, TreeShape shape = TreeShape::balanced);

    const TreeShape shape;

    int links() const { return static_cast<int>(body_of.size()); }
    int levels() const;

    // Children before their parents, subtrees side by side; the root is the last. Links have new numbers in them, in
    // the order of the nodes that their joints assemble, so that what lies side by side in memory is used together.
    std::vector<AssemblyNode> nodes;
    std::vector<int> given;     // per link its number in `parents`
    std::vector<int> body_of;   // per link the node that is its body
    std::vector<int> joint_of;  // per link the node that its joint assembles: a join or a rake
    int joins = 0, laws = 0, branched = 0;
};

}  // namespace bellcrank
