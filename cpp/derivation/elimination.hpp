// Linear equations between coordinates, solved for the last of their coordinates by pivots.
#pragma once

#include <vector>

#include "derivation/algebra.hpp"

namespace bellcrank::symbolic {

// A pivot is good from this part of what it was formed from: then it has lost four digits at most. What is left of an
// entry below `kNothing` is rounding.
inline constexpr double kGoodPivot = 1e-4;
inline constexpr double kNothing = 1e-12;

// Σ coefficients q + rest = 0.
struct LinearEquation {
    int row;
    std::vector<double> coefficients;  // per coordinate
    std::vector<double> sizes;  // per coordinate, the sum of what the coefficient was formed from, as if none cancelled
    Expression rest;            // of time and parameters
    double rest_size = 0.0;     // likewise, where it is a number
};

struct Eliminated {
    struct Solved {
        LinearEquation equation;
        int coordinate;
    };
    std::vector<Solved> solved;            // by coordinate; each follows from those of higher numbers
    std::vector<LinearEquation> nothing;   // what follows from the others, coefficients zero
    std::vector<LinearEquation> doubtful;  // which neither follow from the others nor have a good pivot
};

// Coordinates are numbered such that each follows from later numbers. The rank is judged entry by entry: by what is
// left of an entry against what it was formed from, so that neither units nor the factor of an equation matter.
Eliminated eliminate(std::vector<LinearEquation> equations, int coordinates);

}  // namespace bellcrank::symbolic
