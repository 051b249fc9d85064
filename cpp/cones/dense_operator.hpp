// S as a dense matrix: for few rows, and for formulations whose S is dense.
#pragma once

#include <vector>

#include "cones/operator.hpp"

namespace bellcrank {

class DenseConeOperator final : public ConeOperator {
  public:
    // S: (rows, rows), row-major, which must last while the operator is used.
    void set(const double* S, int rows);

    int rows() const override { return rows_; }
    void multiply(const double* x, double* y) override;
    void diagonal(double* d) const override;
    bool factor(const ConeLayout& layout, const double* B, const double* D) override;
    void solve(double* b) override;
    void begin_sweeps(const ConeLayout& layout, const double* x) override;
    void product_of(const ConeBlock& block, double* y) override;
    void change(const ConeBlock& block, const double* dx) override;

  private:
    const double* S_ = nullptr;
    int rows_ = 0;
    std::vector<double> factors_, product_;
    std::vector<int> pivots_;
};

}  // namespace bellcrank
