// How easily bodies are moved.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace bellcrank {

// Distance of each body's farthest marker from its centre of mass; of bodies whose markers are all there, and of those
// that are out of all proportion, a part of the mechanism's largest.
std::vector<double> reaches(const Model& model);

// Largest over smallest of what a newton at a body's reach moves, of linear and angular inertia, among all bodies.
double spread_of_mobility(const Model& model);

}  // namespace bellcrank
