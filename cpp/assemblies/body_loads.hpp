// What multipliers exert on bodies, body by body: so that many threads may add it up, each for its own bodies, and
// always in the same order.
#pragma once

#include <vector>

#include "model/constraint_rows.hpp"

namespace bellcrank {

class BodyLoads {
  public:
    BodyLoads(const Model& model, const ConstraintRows& rows);

    // udot = M⁻¹ Jᵀ λ of bodies begin … end − 1.
    void accelerate(int begin, int end, const double* J, const double* lambda, double* udot) const;

  private:
    struct Rows {
        BodyRows rows;
        int row;  // storage row of the first
    };
    std::vector<Rows> rows_;
    std::vector<int> begin_;  // per body and one more
    const double* inverse_sqrt_mass_;
};

}  // namespace bellcrank
