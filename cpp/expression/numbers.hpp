// Functions of numbers, by their names in the graph: what constants fold to.
#pragma once

#include "expression/graph.hpp"

namespace bellcrank {

double value_of(Op op, double a);
double value_of(Op op, double a, double b);

// Interval arithmetic with outward rounding (R. E. Moore, Methods and Applications of Interval Analysis, 1979): what
// proves that a root's argument is a square of something positive, or that a divisor is not zero.

Interval interval_sum(const Interval& a, const Interval& b);
Interval interval_product(const Interval& a, const Interval& b, bool same);
Interval interval_reciprocal(const Interval& a);
Interval interval_of_function(Op op, const Interval& a);                     // functions of one operand
Interval interval_of_function(Op op, const Interval& a, const Interval& b);  // and of two
Interval interval_union(const Interval& a, const Interval& b);

}  // namespace bellcrank
