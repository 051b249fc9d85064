// Gradients by the numbers of a law.
#pragma once

#include <vector>

#include "tangents/model_tangent.hpp"

namespace bellcrank {

// Adds `along` times the gradient of a law's effort by time and its parameters. room: that is used.
void add_law_numbers(const Model& model, int law, const LawInput<double>& at, const LawFunction<Dual4>& function,
                     double along, std::vector<Dual4>& room, double& by_time, ModelGradient& by_numbers);

}  // namespace bellcrank
