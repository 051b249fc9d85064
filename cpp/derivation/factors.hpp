// A rigid transform that formulas give, taken apart into motions that cost less.
#pragma once

#include <vector>

#include "derivation/numbers.hpp"

namespace bellcrank::symbolic {

// A motion about and along a fixed axis: exp(coordinate · twist).
struct Screw {
    int coordinate;        // among those of the transform
    Vec3 angular, linear;  // the twist, about the origin, in the axes of the frame before the motion
};

// The transform is  Π outer · middle · Π inner, each product from the outside inwards.
struct TransformFactors {
    std::vector<Screw> outer;
    std::vector<JointTransform> middle;  // one after the other; a transform of numbers alone is one of them
    std::vector<Screw> inner;
};

// `symbols`: so many coordinates, then what else the transform depends on; near `start` it is regular.
TransformFactors factors_of(Graph& graph, const JointTransform& transform, const std::vector<Expression>& symbols,
                            const std::vector<double>& start, std::size_t coordinates);

bool is_number(const JointTransform& transform);
// The numbers of a transform that is_number.
Mat3 rotation_number(const JointTransform& transform);
Vec3 position_number(const JointTransform& transform);

}  // namespace bellcrank::symbolic
