// Impulses of one time step with equality rows, limits and exact Coulomb friction (docs/theory/cones.md).
#pragma once

#include <vector>

#include "cones/interior.hpp"
#include "cones/proximal.hpp"

namespace bellcrank {

// Finds λ with u = S λ + q, u = 0 in equality rows, and in contacts 0 <= λ_n ⟂ u_n >= 0, |λ_t| <= μ λ_n with λ_t
// opposed to u_t where it slips; rolling and spinning resistance alike. Room grows with the largest problem and is
// kept.
class ConeSolver {
  public:
    // impulses: those to start from, all zero for none, and the solution. A solve that has not converged returns
    // the best impulses found. Throws std::invalid_argument if rows differ or a number is not finite.
    ConeReport solve(const ConeLayout& layout, ConeOperator& S, const double* q, double* impulses,
                     const ConeOptions& options = {});

  private:
    // An attempt of the interior method: by which rule, from which impulses, and how far these move from the boundaries
    // of the cones.
    enum class From { given, best, nothing };
    struct Attempt {
        InteriorRule rule;
        From from;
        double part;
    };
    static const Attempt kAttempts[7];
    void check(const ConeLayout& layout, const ConeOperator& S, const double* q, const double* impulses) const;
    bool keep(const ConeResidual& found, const std::vector<double>& impulses, ConeReport& report);
    ConeEnd search(const ConeOptions& options, ConeReport& report);
    bool attempt(const Attempt& next, const ConeOptions& options, ConeReport& report);
    bool attempt_proximal(ConeReport& report);
    bool finish_by_sweeps(const ConeOptions& options, ConeReport& report);
    ConeEnd search_from_given(const ConeOptions& options, bool warm, ConeReport& report);

    ConeProblem problem_;
    SemismoothNewton newton_;
    InteriorMethod interior_;
    ProximalPoints proximal_;
    std::vector<double> x_, best_, u_, given_;
    double tolerance_ = 0.0;
};

}  // namespace bellcrank
