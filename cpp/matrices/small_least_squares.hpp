// Least squares of six equations, as the twists of a few columns against a twist, without allocation.
#pragma once

namespace bellcrank {

// The x of least ‖A x − b‖. A: (6, count) by columns, at most six of them, which may depend on one another; b: (6).
void solve_six(const double* A, int count, const double* b, double* x);
// The same for independent columns; not finite where they are not.
void solve_six_independent(const double* A, int count, const double* b, double* x);

// A = Q₁ R of independent columns, Q = (Q₁, N): pseudoinverse A⁺ = R⁻¹ Q₁ᵀ, (count, 6) by rows, and N, (6, 6 − count)
// by columns, an orthonormal basis of what A does not reach.
void decompose_six(const double* A, int count, double* pseudoinverse, double* N);

}  // namespace bellcrank
