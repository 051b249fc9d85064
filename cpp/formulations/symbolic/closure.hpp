// Small dense systems with rows: M a = f + Jᵀ λ, J a = r.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

namespace bellcrank::symbolic {

class ClosureSolver {
  public:
    // speaking: the rows of J that are not zero throughout.
    void resize(int speeds, int rows, std::vector<int> speaking);

    Eigen::MatrixXd M, J;  // M: lower triangle
    Eigen::VectorXd b, gamma, C, drift;
    Eigen::VectorXd natural;  // what the diagonal of J M⁻¹ Jᵀ would be for free bodies

    // Factors M and the rows; those whose pivot falls below `tolerance` of their own scale are dropped. The scale of a
    // row is the largest diagonal entry of J M⁻¹ Jᵀ that it has had, and a thousandth of `natural` at least.
    void factor(double tolerance);
    // a and λ; λ is zero in dropped rows.
    void solve(const Eigen::VectorXd& force, const Eigen::VectorXd& rate);
    Eigen::VectorXd a, lambda;

    const std::vector<int>& dropped() const { return dropped_; }
    bool is_dropped(int row) const { return is_dropped_[row]; }
    double smallest_pivot() const { return smallest_; }
    double largest_dropped() const { return largest_dropped_; }
    // Of M, by its own diagonal entries: what is left of a joint's inertia beside those that it carries.
    double smallest_inertia() const { return smallest_inertia_; }

  private:
    void keep(int column, Eigen::Index k);

    Eigen::LLT<Eigen::MatrixXd> mass_;
    std::vector<int> speaking_;  // their columns of L⁻¹ Jᵀ are those below
    Eigen::MatrixXd Q_, R_;      // Q_: first as many columns as rows are kept; R_: by kept row and column
    Eigen::MatrixXd A_;          // what is left of the columns
    Eigen::VectorXd largest_;    // diagonal entries, by `natural`
    Eigen::VectorXd scale_, left_, free_, z_;
    std::vector<int> kept_, open_, dropped_;
    std::vector<bool> is_dropped_;
    double smallest_ = 1.0, largest_dropped_ = 0.0, smallest_inertia_ = 1.0;
};

}  // namespace bellcrank::symbolic
