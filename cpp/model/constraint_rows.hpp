// The constraint rows of a model at a configuration: C, their Jacobian, and what velocity adds to C̈.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "constraints/lock_rows.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"

namespace bellcrank {

// A body that a block acts on and where the block's scaled Jacobian for it lies: K rows in records of kTwist.
struct BlockSide {
    int body, jacobian;
};

struct BlockLayout {
    int block;  // index in the model
    int row, size;
    int linear;  // only this many of its first rows have a linear part
    int side_begin, side_end;
};

// Rows are stored block by block in the order given at construction. Jacobians are scaled, Ĵ = J M^(−1/2), so that
// Ĵ Ĵᵀ = J M⁻¹ Jᵀ and the ground (infinite mass) has Ĵ = 0; vectors in the scaled space carry a hat: û = M^(1/2) u.
class ConstraintRows {
  public:
    ConstraintRows(const Model& model, const AngleBranches& branches, std::span<const int> block_order);

    int rows() const { return static_cast<int>(C.size()); }
    std::span<const BlockLayout> blocks() const { return layout_; }
    std::span<const BlockSide> sides(const BlockLayout& b) const {
        return std::span(sides_).subspan(b.side_begin, b.side_end - b.side_begin);
    }
    // Appends constant rows to the Jacobian's storage; returns their offset.
    int append_jacobian(std::span<const double> rows);
    // Row in storage of row i of the model.
    int storage_row(int model_row) const { return storage_row_[model_row]; }

    void evaluate_values(double t, const double* x);                   // C
    void evaluate_jacobians(double t, const double* x);                // C, J, Ct
    void evaluate_biases(double t, const double* x, const double* u);  // Qc, the right-hand side of J u̇ = Qc

    // out = Ĵ v̂ and v̂ += Ĵᵀ λ; vectors of kTwist records, the ground's included.
    void multiply(const double* v, double* out) const;
    void add_transposed(const double* lambda, double* v) const;

    std::vector<double> C, Ct, Qc;
    std::vector<double> J;

  private:
    void build_layout(std::span<const int> block_order);
    void build_groups();
    void find_general_pairs();
    enum class Level { value, jacobian, bias };
    void evaluate_general(double t, const double* x, const double* u, Level level);
    void evaluate_general_row(double t, const BlockLayout& b, int r, Level level);
    void evaluate_formula(double t, const double* x, const double* u, const BlockLayout& b, const FormulaRows& formula,
                          Level level);

    const Model& model_;
    const AngleBranches& branches_;
    std::vector<BlockLayout> layout_;
    std::vector<BlockSide> sides_;
    std::vector<int> storage_row_;
    std::vector<double> inverse_sqrt_;  // M^(−1/2): [body][6], ground zero
    std::vector<double> at_rest_;       // zero twists, where only the configuration counts
    std::vector<LockGroup> groups_;
    std::vector<int> general_;        // layout indices of blocks not in a group
    std::vector<int> general_pairs_;  // pairs they need, and the motions of these
    std::vector<int> motion_of_pair_;
    std::vector<RelativeMotion> motions_;
    std::vector<RelativeJacobian> motion_jacobians_;
    FormulaRows::Values formula_values_;
    std::vector<std::pair<int, double>> lock_constants_;  // storage row, constant ≠ 0
};

}  // namespace bellcrank
