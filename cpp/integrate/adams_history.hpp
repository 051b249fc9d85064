// Scaled derivatives h^j u^(j)/j! and how they go on by a step.
#pragma once

namespace bellcrank {

// Z_j ← Σ_k C(k, j) Z_k + weight_j r for j = 1 … order: the derivatives of the polynomial at the end of the step
// (Pascal's triangle), corrected. The Z_j are vectors of `size`, a multiple of four, one after another from Z_0.
void advance_history(int order, double* history, const double* residual, const double* weight, int size);

}  // namespace bellcrank
