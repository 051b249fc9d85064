// What a choice of cuts would leave hanging on nothing.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace bellcrank {

// Bodies that no joint carries any more, and the blocks whose cuts part them from the others.
struct CutOff {
    std::vector<int> bodies, blocks;
};

// Parts of the model that hang on nothing once the joints of the blocks `cut` are left out of every tree, although
// something carried them before. First those behind one joint that is in no loop; then those that the other cuts part
// off together.
std::vector<CutOff> cut_off(const Model& model, const std::vector<int>& cut);

}  // namespace bellcrank
