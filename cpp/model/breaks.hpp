// Times at which what acts on a model is not smooth.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace bellcrank {

// Appends the times between from and to, neither included, at which a function of time of the model, or one of its
// first two derivatives, jumps.
void append_break_times(const Model& model, double from, double to, std::vector<double>& out);

}  // namespace bellcrank
