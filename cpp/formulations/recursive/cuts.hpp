// Where to cut loops: the spanning tree on which the fewest rows are open at once.
#pragma once

#include "trees/joint_tree.hpp"

namespace bellcrank::recursive {

// Operations that the open rows of a tree cost beyond those of the tree itself, roughly.
double cost_of_cuts(const Model& model, const JointTree& tree);

// The cheapest of a few trees: that of the heaviest joints, one that is grown depth first, and two that are grown where
// most neighbours are reached already. Joints of the blocks `cut` are in none of them.
JointTree cut_tree(const Model& model, const std::vector<int>& cut = {});

}  // namespace bellcrank::recursive
