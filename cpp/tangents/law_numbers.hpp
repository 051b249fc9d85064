// Gradients of the effort of a law.
#pragma once

#include <vector>

#include "model/forces.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank {

// `along` times the gradient of a law's effort: that by its parameters is added. room: that is used.
LawSlopes add_law_numbers(const Model& model, int law, const LawInput<double>& at, const LawFunction<Dual4>& function,
                          double along, std::vector<Dual4>& room, ModelGradient& by_numbers);

}  // namespace bellcrank
