// Derivatives of each operation by its operands.
#pragma once

#include "expression/graph.hpp"

namespace bellcrank {

// An operand of a node and the derivative of the node by it. A product with 1/b is a quotient: its second operand is b,
// with the derivative −y/b of y = a/b (symbolic arithmetic then shares 1/b).
struct Partial {
    Ref operand;  // unsigned
    Ref derivative;
};

// The partial derivatives of a node, at most two, of which the count is returned. Not of minimum, maximum and select:
// these choose between the derivatives of their operands. Throws std::invalid_argument for the second derivative of a
// table, which has no further one.
int partials(Graph& graph, Ref node, Partial (&out)[2]);

// Where a choosing node takes its second operand or, failing the condition, its third.
struct Choice {
    Ref condition, yes, no;
};
bool is_choice(Op op);
Choice choice_of(Graph& graph, Ref node);

}  // namespace bellcrank
