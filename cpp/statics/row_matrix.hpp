// The constraint rows as statics sees them: gradients in the metric of statics, each of length one.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/constraint_rows.hpp"
#include "statics/loads.hpp"

namespace bellcrank {

class RowMatrix {
  public:
    RowMatrix(const Model& model, const AngleBranches& branches, const Metric& metric);

    int rows() const { return rows_.rows(); }
    // C and gradients of all rows at x.
    void evaluate(double t, const double* x);
    // Which rows hold from here on.
    void hold(const std::vector<std::uint8_t>& held) { held_ = held; }
    // C alone, of all rows, scaled as the gradients were last.
    void evaluate_errors(double t, const double* x);
    double error(int row) const { return rows_.C[row] * scale_[row]; }
    // The multiplier of a row in its own unit, per unit of its multiplier here: λ_row = scale · λ.
    double scale(int row) const { return scale_[row]; }
    const std::vector<std::uint8_t>& held() const { return held_; }

    struct Entry {
        int row, body;
        std::array<double, 6> gradient;
    };
    const std::vector<Entry>& entries() const { return entries_; }
    std::pair<int, int> entries_of(int row) const { return {begin_[row], begin_[row + 1]}; }
    // a · v of one row
    double along(int row, const Eigen::VectorXd& v) const;

    // Rows that hold on one side only, in storage, and rows in storage by those of the model.
    const std::vector<int>& one_sided() const { return one_sided_; }
    int storage_row(int model_row) const { return rows_.storage_row(model_row); }

  private:
    const Metric& metric_;
    ConstraintRows rows_;
    std::vector<double> sqrt_mass_;
    std::vector<Entry> entries_;  // by row
    std::vector<int> begin_;
    std::vector<double> scale_;
    std::vector<std::uint8_t> held_;
    std::vector<int> one_sided_;
};

}  // namespace bellcrank
