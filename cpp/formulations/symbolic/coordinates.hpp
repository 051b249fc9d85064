// Coordinates of a model as expressions of the tree's coordinates.
#pragma once

#include "formulations/symbolic/kinematics.hpp"

namespace bellcrank::symbolic {

class Coordinates {
  public:
    Coordinates(const MechanismTree& mechanism, Kinematics& kinematics);

    // Whether there is a formula for coordinates of this kind.
    static bool has_formula(const std::string& kind);
    Expression value(int coordinate);
    // Where an angle was last: its value is the one of its branches nearest to that. No graph: it is not asked for.
    const std::vector<Expression>& branches() const { return branches_; }

  private:
    Expression formula(const Coordinate& coordinate);
    Expression rotation_vector(const QuatT<Expression>& q, int axis) const;

    const MechanismTree& mechanism_;
    Kinematics& kinematics_;
    std::vector<Expression> values_, branches_;
};

}  // namespace bellcrank::symbolic
