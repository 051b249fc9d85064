// Accelerations of large mechanisms, which are bound by memory.
#pragma once

#include "formulations/lagrange/delassus.hpp"
#include "model/constraint_rows.hpp"
#include "model/free_motion.hpp"

namespace bellcrank {

// Tasora's eq. 35 in one sweep through the mechanism and one back. Jacobians and pivots pass through a window that
// stays in the cache: only couplings and multipliers are kept for the way back, where what the multipliers exert is
// found from the configuration again. That is a third of what moves through memory where everything is kept.
class Sweep {
  public:
    Sweep(const Model& model, const AngleBranches& branches);

    // λ and u̇ = M⁻¹ (f + Jᵀ λ), given the motion of free bodies, begun. False, and without Jᵀ λ, where pivots are too
    // small for the factors to be used once and without a second look.
    bool accelerate(double t, const double* x, const double* u, const PivotRule& rule, const FreeMotion& free,
                    double* lambda, double* udot);

    // A row's diagonal entry of S.
    double diagonal(int row) const { return delassus_.diagonal(row); }

  private:
    Delassus delassus_;
    ConstraintRows rows_;
};

}  // namespace bellcrank
