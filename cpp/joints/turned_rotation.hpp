// Components of a rotation vector that is followed past half a turn. All three of a pair are coordinates side by side,
// and each is evaluated with parameters: where the three of them were.
#pragma once

#include "joints/coordinate.hpp"

namespace bellcrank {

// Which component a kind is, 0 to 2; −1 for other kinds.
int turned_axis(const CoordinateKind& kind);

}  // namespace bellcrank
