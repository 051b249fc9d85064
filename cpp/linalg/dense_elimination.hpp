// Gaussian elimination of a dense matrix, as textbooks have it: for few unknowns, and for benchmarks to compare
// the sparse solver with.
#pragma once

#include <span>

namespace bellcrank {

// Solves A x = b with row pivoting. a: (n, n) by rows; it holds the factors afterwards. b: (n), the solution
// afterwards. Returns the determinant; zero, with both half done, if a pivot is.
double eliminate_dense(std::span<double> a, std::span<double> b);

}  // namespace bellcrank
