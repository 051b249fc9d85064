// The oracle of the symbolic formulation: equation (13) of B. Guenter and S.-H. Lee, Symbolic Lagrangian Multibody
// Dynamics, literally, and the paper's own way from it to accelerations.
#pragma once

#include "derivation/equations.hpp"

namespace bellcrank::symbolic {

// Efforts of a tree by 4×4 transforms and traces, true masses, and derivatives by differentiation.
std::vector<Expression> efforts_of_equation_13(const LinkTree& tree);

class Equation13 {
  public:
    explicit Equation13(const std::shared_ptr<const Model>& model, const std::vector<int>& cut = {})
        : equations(model, nullptr, cut) {}

    std::vector<Expression> efforts();        // of motion and gravity alone
    std::vector<Expression> accelerations();  // u̇: M by `coefficients`, c by `substitute`; only without rows

    Equations equations;

  private:
    std::vector<Expression> applied_efforts() const;
};

}  // namespace bellcrank::symbolic
