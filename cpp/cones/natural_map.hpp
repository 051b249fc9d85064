// How far impulses are from solving a problem.
#pragma once

#include <vector>

#include "cones/operator.hpp"

namespace bellcrank {

// A problem at hand: u = S λ + q.
struct ConeProblem {
    const ConeLayout* layout = nullptr;
    ConeOperator* S = nullptr;
    const double* q = nullptr;
    std::vector<double>
        d;  // per row: the largest diagonal entry of S in its equality row, contact (normal and friction) or disc
    double scale = 0.0;  // the largest |q|, weighted

    void set(const ConeLayout& layout, ConeOperator& S, const double* q);
    double weight(int row) const { return layout->weights()[row]; }
    void velocities(const double* impulses, double* u) const;
};

struct ConeResidual {
    double value = 0.0;
    int worst = -1;
};

// The largest |λ − P(λ − (u + μ|u_t| n) / d)| d over |q|: P projects on the cone of friction of a contact, on the disc
// that its normal impulse leaves of rolling and spinning; |u| of equality rows. All are weighted by row. Not finite if
// any number is not.
ConeResidual natural_residual(const ConeProblem& problem, const double* impulses, const double* u);

// Projected sweeps: slow, but they need no factors and each of them keeps impulses in their cones.

// Block by block, the impulses projected as in SemismoothNewton's map. `u`: room for the rows.
ConeResidual sweep(const ConeProblem& problem, double* impulses, double* u, int sweeps, double tolerance,
                   ConeReport& report);

}  // namespace bellcrank
