// Real eigenvalues of matrices that are not symmetric.
#pragma once

#include <vector>

namespace bellcrank {

// The largest real one of a square matrix given by rows; −∞ if all are complex, or there is none.
double largest_real_eigenvalue(const std::vector<double>& matrix);

}  // namespace bellcrank
