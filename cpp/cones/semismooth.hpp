// Semismooth Newton's method: quadratic convergence near a solution.
#pragma once

#include <vector>

#include "cones/regularized.hpp"

namespace bellcrank {

// On the map of P. Alart, A. Curnier, A mixed formulation for frictional contact problems prone to Newton like solution
// methods, 1991: λ_n = max(0, λ_n − u_n/d), each disc's impulses projected on the disc of that normal impulse.
class SemismoothNewton {
  public:
    // Added where points stick, as a part of the contact's diagonal entry; a larger one keeps impulses nearer to the
    // given.
    static constexpr double kProximal = 1e-8, kLargeProximal = 1e-6;

    void resize(const ConeLayout& layout);
    // Moves the impulses until the natural residual is at most `tolerance`, `steps` are taken or nothing improves.
    // Returns the residual of where they are; counts in the report.
    ConeResidual run(const ConeProblem& problem, double* impulses, int steps, double tolerance, ConeReport& report,
                     double proximal = kProximal);

  private:
    double evaluate(const ConeProblem& problem, const double* x, const double* u, double* F) const;
    double search(const ConeProblem& problem, const double* x, double merit, double allowed);
    void linearize(const ConeProblem& problem, const double* x, const double* u);

    double proximal_ = kProximal;
    RegularizedSystem system_;
    std::vector<double> u_, step_, change_, F_, x_try_, u_try_, best_;
};

}  // namespace bellcrank
