// Functions of numbers, by their names in the graph: what constants fold to.
#pragma once

#include "expression/graph.hpp"

namespace bellcrank {

double value_of(Op op, double a);
double value_of(Op op, double a, double b);

}  // namespace bellcrank
