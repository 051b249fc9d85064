// Proximal points: a problem with a regular S, again and again, each about the impulses of the one before.
#pragma once

#include <vector>

#include "cones/semismooth.hpp"

namespace bellcrank {

// S + diag(ρ d), by the factors of S.
class SoftenedOperator final : public ConeOperator {
  public:
    // All must last while the operator is used.
    void set(ConeOperator& S, const std::vector<double>& d, double softness);

    int rows() const override { return S_->rows(); }
    void multiply(const double* x, double* y) override;
    void diagonal(double* d) const override;
    bool factor(const ConeLayout& layout, const double* B, const double* D) override;
    void solve(double* b) override { S_->solve(b); }
    void begin_sweeps(const ConeLayout& layout, const double* x) override;
    void product_of(const ConeBlock& block, double* y) override;
    void change(const ConeBlock& block, const double* dx) override;

  private:
    ConeOperator* S_ = nullptr;
    const std::vector<double>* d_ = nullptr;
    double softness_ = 0.0;
    std::vector<double> D_, x_;
};

// The problem with u + ρ d (λ − λ_k) for u has one solution nearby while ρ is large, and the true one for any ρ once
// λ_k no longer moves (R. T. Rockafellar, Monotone operators and the proximal point algorithm, 1976). Newton's steps
// find λ_{k+1}; ρ falls while they do, and rises where they stall.
class ProximalPoints {
  public:
    void resize(const ConeLayout& layout);
    // Moves the impulses until the natural residual is at most `tolerance`, or gives up; those of the least residual
    // are left. Returns it; counts in the report.
    ConeResidual run(const ConeProblem& problem, SemismoothNewton& newton, double* impulses, double tolerance,
                     ConeReport& report);

  private:
    bool approach(const ConeProblem& problem, SemismoothNewton& newton, double* impulses, double wanted, double enough,
                  ConeReport& report);

    SoftenedOperator softened_;
    ConeProblem about_;  // the centre
    std::vector<double> q_, u_, centre_, best_;
    double softness_ = 0.0;
};

}  // namespace bellcrank
