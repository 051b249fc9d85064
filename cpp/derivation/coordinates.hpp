// Coordinates of a model as expressions of the tree's coordinates.
#pragma once

#include "derivation/link_poses.hpp"

namespace bellcrank::symbolic {

class Coordinates {
  public:
    Coordinates(const MechanismTree& mechanism, LinkPoses& link_poses);

    Expression value(int coordinate);
    // Of marker 2 of a pair seen from marker 1; of q and −q the one that the components e0 to e3 are of.
    QuatT<Expression> quaternion(int pair);
    // Where an angle was last: its value is the one of its branches nearest to that. No graph: it is not asked for.
    const std::vector<Expression>& branches() const { return branches_; }

  private:
    Expression formula(int coordinate);
    Expression branch(int coordinate);

    const MechanismTree& mechanism_;
    LinkPoses& poses_of_links_;
    std::vector<Expression> values_, branches_;
};

}  // namespace bellcrank::symbolic
