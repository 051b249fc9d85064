// What is measured of bodies (Derivatives::Measured) along directions, in any coordinates, and the transpose.
#pragma once

#include <vector>

#include "model/ports.hpp"
#include "tangents/equations_tangent.hpp"

namespace bellcrank {

// Of equations with all rows, at a motion and along directions of bodies; changes: that are used.
void measured_along(const Model& model, EquationsTangent& equations, const MotionPoint& at,
                    const EquationsTangent::Directions& directions, const ModelTangent& numbers,
                    EquationsTangent::Changes& changes, Derivatives::Measured& out);
void measured_transposed(const Model& model, EquationsTangent& equations, const MotionPoint& at,
                         const Derivatives::Measured& seeds, const std::vector<NumberPlace>& further,
                         EquationsTangent::Gradient& out, ModelGradient& by_numbers);

}  // namespace bellcrank
