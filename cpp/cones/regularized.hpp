// Linear systems of Newton's method, which are singular where contacts or equality rows are redundant.
#pragma once

#include <vector>

#include "cones/natural_map.hpp"

namespace bellcrank {

// (B S + D) x = b through the factors of B S + D + R: R makes it regular where rows that do not move depend on each
// other, and refinement takes it out again of what is determined.
class RegularizedSystem {
  public:
    std::vector<double> B, D, R;  // block-diagonal matrices, to fill before factor()

    void resize(const ConeLayout& layout);
    bool factor(const ConeProblem& problem);
    // x from b in `x`; at most so many corrections, fewer if the residual falls below `enough` of b's.
    void solve(const ConeProblem& problem, double* x, int corrections, double enough);

  private:
    std::vector<double> shifted_, b_, product_, residual_;
};

}  // namespace bellcrank
