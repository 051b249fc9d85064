// What users wrote as formulas, brought into the graph of the equations.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "derivation/numbers.hpp"
#include "model/formulas.hpp"

namespace bellcrank::symbolic {

// Symbols of formulas and what stands for them here.
using Images = std::vector<std::pair<Ref, Ref>>;

// The roots, with parameters that the model does not follow as numbers.
std::vector<Expression> brought(const Formulas& formulas, const Numbers& numbers, Graph& graph,
                                std::span<const Ref> roots, Images images);

// Marker 2 seen from marker 1; with `reversed`, marker 1 seen from marker 2.
struct JointTransform {
    Matrix rotation;
    Vector position;
};
JointTransform transform_of(const Formulas& formulas, const JointFormula& joint, const Numbers& numbers, Graph& graph,
                            const Images& images, bool reversed);

}  // namespace bellcrank::symbolic
