// Whole turns of angles whose relations are not satisfied yet, because bodies are still to be moved.
#pragma once

#include "model/whole_turns.hpp"

namespace bellcrank {

// From angles that are prescribed, then from slow ones, along the relations to fast ones: each is taken on the branch
// nearest to what its relation makes it. What follows from prescribed values alone counts as prescribed.
// start: the angles [rad]. low, high: their turns from there.
std::vector<double> propagated_turns(const std::vector<TurnProblem::Relation>& relations,
                                     const std::vector<double>& start, const std::vector<double>& low,
                                     const std::vector<double>& high);

}  // namespace bellcrank
