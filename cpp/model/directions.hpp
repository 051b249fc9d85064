// The directions that a model's rows are made of.
#pragma once

#include <vector>

#include "joints/pole.hpp"
#include "model/model.hpp"

namespace bellcrank {

// An angle in a row that no joint keeps from its pole.
struct RowDirection {
    int row, coordinate;  // of the model; the first row that it is in
    const DirectionKind* kind;
    AtPole at_pole;  // in that row
};

// Each coordinate once. Stops have none: they are open where they jump.
std::vector<RowDirection> directions_of_rows(const Model& model);

}  // namespace bellcrank
