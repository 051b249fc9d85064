// Changes of a model's numbers as changes of the parameters that they follow: programs have parameters among their
// inputs, and all other numbers in them.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "derivation/equations.hpp"
#include "programs/compiled_program.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank::symbolic {

// With numbers n(p) and slopes E = ∂n/∂p, what depends on n alone changes along δn = E δp by the same for every such
// δp; so δp = G δn for any G with E G E = E. Of a gradient g by the parameters, Gᵀ g is one by the numbers.
class ParameterChanges {
  public:
    explicit ParameterChanges(Equations& equations);

    int count() const { return static_cast<int>(from_numbers_.rows()); }
    // Parameters have other values.
    void renew();
    // Throws Refusal for numbers that follow no parameter.
    void check(std::span<const NumberPlace> places) const;
    // Throws Refusal for such numbers, and for changes that no parameters make.
    void along(const ModelTangent& numbers, std::vector<Four>& out) const;
    // Adds a gradient by the parameters.
    void add(std::span<const double> gradient, ModelGradient& by_numbers) const;

  private:
    const Numbers& numbers_;
    std::vector<NumberPlace> places_;       // of numbers that follow parameters
    CompiledProgram slopes_;                // row by row
    Eigen::MatrixXd slope_, from_numbers_;  // E and G
};

}  // namespace bellcrank::symbolic
