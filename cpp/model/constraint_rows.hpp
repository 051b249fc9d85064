// The constraint rows of a model at a configuration: C, their Jacobian, and what velocity adds to C̈.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "constraints/lock_rows.hpp"
#include "model/branches.hpp"
#include "model/model.hpp"
#include "spatial/aligned.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

// A body that a block acts on and where the block's scaled Jacobian for it lies.
struct BlockSide {
    int body;
    BodyRows rows;
};

struct BlockLayout {
    int block;  // index in the model
    int row, size;
    int side_begin, side_end;
    int jacobian, jacobian_end;
};

// The order in which blocks are stored, and the stages of work in which their rows are evaluated and used.
struct RowOrder {
    std::vector<int> blocks;     // of the model
    std::vector<int> evaluated;  // stage of each, in that order
    std::vector<int> solved;     // stage of each, ascending, not before `evaluated`
    int stages = 0;
};
// Blocks in this order, that of the model, evaluated at once.
RowOrder order_of(std::vector<int> blocks);
RowOrder order_of(const Model& model);
// Moment or force for a multiplier of one: 1, or ½ for a locked quaternion component e_k, which turns half as fast as
// the angle it stands for.
double load_per_multiplier(const Model& model, const Row& row);
// Whether C is a length, as that of rows given by formulas is taken to be; otherwise it has no unit.
bool is_length(const Model& model, const Row& row);

// Rows are stored block by block in the order given at construction. Jacobians are scaled, Ĵ = J M^(−1/2), so that
// Ĵ Ĵᵀ = J M⁻¹ Jᵀ and the ground (infinite mass) has Ĵ = 0; vectors in the scaled space carry a hat: û = M^(1/2) u.
class ConstraintRows {
  public:
    ConstraintRows(const Model& model, const AngleBranches& branches, const RowOrder& order);
    ConstraintRows(const Model& model, const AngleBranches& branches);  // in the order of the model

    int rows() const { return static_cast<int>(C.size()); }
    std::span<const BlockLayout> blocks() const { return layout_; }
    std::span<const BlockSide> sides(const BlockLayout& b) const {
        return std::span(sides_).subspan(b.side_begin, b.side_end - b.side_begin);
    }
    // Appends constant rows to the Jacobian: the identity against one body, scaled and with a sign.
    BodyRows append_link(int body, double sign);
    // Row in storage of row i of the model.
    int storage_row(int model_row) const { return storage_row_[model_row]; }

    void evaluate_values(double t, const double* x);                   // C
    void evaluate_jacobians(double t, const double* x);                // C, J, Ct
    void evaluate_biases(double t, const double* x, const double* u);  // Qc, the right-hand side of J u̇ = Qc
    // residual = Qc − J u̇ = −C̈ at twists u and their rates u̇.
    void evaluate_residuals(double t, const double* x, const double* u, const double* udot, double* residual);
    // Parts of the above: the rows evaluated in a stage, for it or later ones. C and J may be known, residual be null.
    void evaluate_stage(int stage, double t, const double* x, bool jacobians, const double* u, const double* udot,
                        double* residual);
    int stages() const { return static_cast<int>(stages_.size()); }
    // Bodies that no stage before it asks for.
    std::span<const int> new_bodies(int stage) const {
        return std::span(bodies_).subspan(stages_[stage].body_begin,
                                          stages_[stage].body_end - stages_[stage].body_begin);
    }

    // out = Ĵ v̂ and v̂ += Ĵᵀ λ; vectors of kTwist records, the ground's included.
    void multiply(const double* v, double* out) const;
    void add_transposed(const double* lambda, double* v) const;
    // u̇ += M⁻¹ Jᵀ λ for the rows that are solved for in a stage, or all rows.
    void add_accelerations(int stage, const double* lambda, double* udot) const;
    void add_accelerations(const double* lambda, double* udot) const;
    // M^(−1/2) in records of kTwist, the ground's zero.
    std::span<const double> inverse_sqrt_mass() const { return inverse_sqrt_; }
    // M^(1/2) likewise; its entry for a component of a body's row.
    std::span<const double> sqrt_mass() const { return sqrt_; }
    double sqrt_mass(int body, int component) const { return sqrt_[kTwist * body + kComponent[component]]; }

    std::vector<double> C, Ct, Qc;
    AlignedVector J;

  private:
    void build_layout(const RowOrder& order);
    using Alike = std::map<std::vector<int>, std::vector<int>>;  // numbers locked, layout indices
    Alike sort_blocks(const RowOrder& order);
    void build_groups(const RowOrder& order, const Alike& alike);
    LockJoint lock_joint(const BlockLayout& b) const;
    void sort_bodies();
    void find_general_pairs();
    // What rows are evaluated at; udot: null where accelerations do not count.
    struct Motion {
        double t;
        const double *x, *u, *udot;
    };
    struct Stage {
        int block_begin = 0, block_end = 0;        // of layout_, solved for in it
        int constant_begin = 0, constant_end = 0;  // of lock_constants_, evaluated in it
        int body_begin = 0, body_end = 0;          // of bodies_
    };
    struct Constant {
        int stage, row;  // in storage
        double value;    // not 0
    };
    struct Group {
        LockGroup joints;
        std::vector<int> begin;  // packs of each stage
    };
    void evaluate_general(const Motion& m, bool jacobian, double* residual);
    void evaluate_general_row(const Motion& m, const BlockLayout& b, int r, bool jacobian, double* residual);
    void evaluate_formula(const Motion& m, const BlockLayout& b, const FormulaRows& formula, bool jacobian,
                          double* residual);
    void add_to_row(const BlockLayout& b, int r, int body, double factor, const double* gradient);

    const Model& model_;
    const AngleBranches& branches_;
    std::vector<BlockLayout> layout_;
    std::vector<BlockSide> sides_;
    std::vector<int> evaluated_;  // stage of each block
    std::vector<int> bodies_;     // by the stage that first asks for them
    std::vector<int> storage_row_;
    std::vector<double> sqrt_, inverse_sqrt_;
    std::vector<double> at_rest_;  // zero twists, where only the configuration counts
    std::vector<Stage> stages_;
    std::vector<Group> groups_;
    std::vector<int> general_;        // layout indices of blocks not in a group
    std::vector<int> general_pairs_;  // pairs they need, and the motions of these
    std::vector<int> motion_of_pair_;
    std::vector<RelativeMotion> motions_;
    std::vector<RelativeJacobian> motion_jacobians_;
    FormulaRows::Values formula_values_;
    std::vector<Constant> lock_constants_;  // by stage
};

}  // namespace bellcrank
