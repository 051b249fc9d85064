// S = J M⁻¹ Jᵀ + diag(ε) as the solver of cones sees it.
#pragma once

#include "cones/problem.hpp"

namespace bellcrank {

// Matrices of blocks lie one after another, row-major, at ConeBlock::values. Nothing allocates once an operator has its
// size.
class ConeOperator {
  public:
    virtual ~ConeOperator() = default;

    virtual int rows() const = 0;
    // y = S x.
    virtual void multiply(const double* x, double* y) = 0;
    // d: the diagonal of S.
    virtual void diagonal(double* d) const = 0;

    // B S + D with block-diagonal B and D, factored; D regular. False where it is singular.
    virtual bool factor(const ConeLayout& layout, const double* B, const double* D) = 0;
    // b ← (B S + D)⁻¹ b.
    virtual void solve(double* b) = 0;

    // For sweeps, which change one block of impulses at a time: begin with x, then read S x of a block's rows and
    // report changes of its x.
    virtual void begin_sweeps(const ConeLayout& layout, const double* x) = 0;
    virtual void product_of(const ConeBlock& block, double* y) = 0;
    virtual void change(const ConeBlock& block, const double* dx) = 0;
};

}  // namespace bellcrank
