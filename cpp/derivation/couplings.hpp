// Equations between joint coordinates that give one of them as a function of the others: q_i = q_i(q). Such a
// coordinate is none of the equations of motion, and its equation holds by construction.
#pragma once

#include <vector>

#include "derivation/numbers.hpp"
#include "trees/joint_tree.hpp"

namespace bellcrank::symbolic {

struct Coupling {
    int row;         // of the model
    int coordinate;  // of the model, that which follows
    Ref value;       // of coordinates that come earlier in the tree and of time
};

struct Couplings {
    std::vector<Coupling> found;
    std::vector<Ref> symbols;       // stand for the coordinates of the model in the values
    Ref time;                       // likewise
    std::vector<int> redundant;     // rows that hold because those found do
    std::vector<int> closing_rows;  // of the plan, those that remain
};

Couplings find_couplings(Graph& graph, const Model& model, const Numbers& numbers, const JointTree& plan);

}  // namespace bellcrank::symbolic
