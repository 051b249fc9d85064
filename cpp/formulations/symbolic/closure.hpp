// Small dense systems with rows: M a = b + Jᵀ λ, J a = c, by the Schur complement S = J M⁻¹ Jᵀ.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

namespace bellcrank::symbolic {

class ClosureSolver {
  public:
    void resize(int speeds, int rows);

    Eigen::MatrixXd M, J;  // M: lower triangle
    Eigen::VectorXd b, gamma, C, drift;
    Eigen::VectorXd natural;  // what the diagonal of S would be for free bodies

    // Factors M and S; rows whose pivot falls below `tolerance` of their own diagonal entry are dropped.
    void factor(double tolerance);
    // λ with S λ = right side, zero in dropped rows.
    void solve_rows(Eigen::Ref<Eigen::VectorXd> rhs) const;
    // M⁻¹ v in place.
    void solve_mass(Eigen::Ref<Eigen::VectorXd> v) const;

    const std::vector<int>& dropped() const { return dropped_; }
    bool is_dropped(int row) const { return is_dropped_[row]; }
    double smallest_pivot() const { return smallest_; }

  private:
    Eigen::LLT<Eigen::MatrixXd> mass_;
    Eigen::MatrixXd S_, L_;  // L_: factor of the kept rows, in their order
    Eigen::VectorXd scale_;
    std::vector<int> kept_, dropped_;
    std::vector<bool> is_dropped_;
    double smallest_ = 1.0;
};

}  // namespace bellcrank::symbolic
