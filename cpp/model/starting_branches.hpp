// The branches on which angles start where only poses are known.
#pragma once

#include "model/branches.hpp"

namespace bellcrank {

// Branches of all followed coordinates at poses x and time t, with which drives, couplings, screws and limits hold, and
// with the fewest whole turns otherwise (docs/theory/assembly.md, section 9). Rows whose constant is not a number are
// not yet known and take no part.
// known: values by coordinate that are kept, NaN for the others; null: none are known.
AngleBranches starting_branches(const Model& model, double t, const double* x, const double* known = nullptr);

}  // namespace bellcrank
