// Which joints of a model become transforms of the tree, and which rows remain to be met by multipliers.
#pragma once

#include "trees/joint_tree.hpp"

namespace bellcrank::symbolic {

using bellcrank::TreeJoint;
using bellcrank::Turning;
using Plan = JointTree;

inline Plan make_plan(const Model& model, const std::vector<int>& cut) { return joint_tree(model, cut); }

}  // namespace bellcrank::symbolic
