// The matrix S = J M⁻¹ Jᵀ that is left of the KKT system (Tasora eq. 35) when every body is eliminated first.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "closing/precise_delassus.hpp"
#include "linalg/block_ldlt.hpp"
#include "linalg/row_products.hpp"
#include "model/constraint_rows.hpp"
#include "model/model.hpp"
#include "model/topology.hpp"

namespace bellcrank {

// A row as a combination of others: row number and factor.
struct Dependence {
    int row;
    std::vector<std::pair<int, double>> of;
};

// S couples blocks that share a body, so a body with many joints would couple them all. Such a hub is taken apart into
// copies, each with a share of its inertia and a few of its joints, held together by rigid links of six rows with no
// error to correct. S of the copies is sparse, has the same redundancy, and gives the same multipliers.
class Delassus {
  public:
    static constexpr int kAll = std::numeric_limits<int>::max();

    explicit Delassus(const Model& model);

    // Elimination order of the model's blocks, in which ConstraintRows must store them.
    const RowOrder& row_order() const { return row_order_; }
    void bind(ConstraintRows& rows);

    // Per storage row; of rows that have a compliance in the model.
    void set_compliances(std::span<const double> values);
    // S from the rows' current Jacobian, factored. enabled: per storage row, may be empty.
    void factor(const PivotRule& rule, std::span<const std::uint8_t> enabled);
    // b ← S⁺ b over the storage rows.
    void solve(double* b);
    // The same in parts, so that what a stage needs stays in the cache from its rows' evaluation on: begin(), then for
    // each stage factor_stage() and perhaps forward_stage(), then backward through the stages.
    void begin(const PivotRule& rule, std::span<const std::uint8_t> enabled);
    void factor_stage(int stage);
    void forward_stage(int stage, double* b);
    void backward_stage(int stage, double* b);
    // r −= S λ, without the factors; r −= ε λ alone.
    void subtract_product(const double* lambda, double* r);
    void subtract_compliance(const double* lambda, double* r) const;

    // The multipliers that exert nothing, a vector over the storage rows for each dropped row of those enabled: 1
    // there, what balances it on the rows kept. Of these the first `most`.
    void for_each_null_vector(const std::function<void(const std::vector<double>&)>& visit, int most = kAll);
    // The same by what factors say that have lost no digits.
    void for_each_balanced_row(const std::function<void(const std::vector<double>&)>& visit);
    int null_dimension() const;
    // Storage rows that depend on the others. Where a link of a hub was dropped, the row it stands for is the joint row
    // with the largest part in its null vector.
    std::vector<int> dependent_rows();
    // The first `most` of them with the rows that each is a combination of.
    std::vector<Dependence> dependences(int most);

    // Dropped rows whose pivots do not vanish, and rows kept with small ones; rows numbered as in the factors.
    std::span<const BlockLdlt::RowPivot> doubtful() const;
    std::span<const BlockLdlt::RowPivot> small() const;
    // What is left of a dropped row outside the span of the rows kept, its squared part, measured on the rows
    // themselves; its error is that of a pivot, squared. enough: a part below this need not be known any better.
    double part_outside(int row, double enough);
    // Rows that factorizations drop whatever their pivots, until the next call.
    void exclude(std::span<const int> rows);
    // The same for these and all that were dropped with pivots that vanish.
    void exclude_vanished(std::span<const int> rows);

    // Where doubles are short of digits. From the next factorization on rank, factors and solutions are those of
    // PreciseDelassus, or are so no more.
    void be_precise(bool precise) { precise_mode_ = precise; }
    bool is_precise() const { return precise_mode_; }
    // Whether as many rows are dropped as depend on others, and those kept depend on none. exclude_dependent() excludes
    // those that it has found to depend on rows before them.
    bool rank_is_right(double tolerance);
    void exclude_dependent();
    // û = û0 + Ĵᵀ λ with S λ = Qc − Ĵ û0 over the rows kept, in 32 digits; û0 in and u̇ = M^(−1/2) û out. Returns the
    // most that the rounding of Ĵ makes of u̇.
    double accelerate_precisely(std::span<const double> bias, std::span<const double> scaled, double* lambda,
                                double* udot);

    bool dropped(int row) const { return drops()[row_of_[row]] != 0; }
    int dropped_count() const { return precise_mode_ ? dropped_count_ : ldlt_->dropped_count(); }
    double smallest_pivot() const;

  private:
    std::span<const std::uint8_t> drops() const;
    double scale(int ldlt_row) const { return precise_mode_ ? precise_->scale(ldlt_row) : ldlt_->scale(ldlt_row); }
    void make_precise();
    void factor_precisely();
    void factor_kept_precisely();
    void factor_dynamics();
    void collect_compliances();
    void residual_of(std::span<const double> bias, std::span<const DoubleDouble> motion);
    void add_forces(std::span<DoubleDouble> motion) const;
    void round_forces(const double* lambda);

    // With the nodes of S that act on it: the model's blocks, then the links.
    struct Copy : BodyPart {
        std::vector<int> blocks;
        std::vector<std::pair<int, double>> links;  // node, sign
    };
    void for_each_dependent_row(const std::function<void(int, const std::vector<double>&)>& visit, int most = kAll);
    Dependence combination(int row, const std::vector<double>& w) const;
    bool solve_again(Dependence& found) const;
    void find_null_vector(int ldlt_row);
    double squared_force(const std::vector<double>& w);
    void find_precise_null_vector(int ldlt_row);
    bool refine_null_vector();
    void add_column(int ldlt_row, std::vector<double>& column) const;
    void split_hubs();
    void order_nodes();
    std::vector<int> block_sizes() const;
    std::vector<std::uint8_t> closing_steps() const;
    void order_rows();
    int stage_of_product(int step, int other) const;
    std::vector<int> distance_from_ground(int nodes, std::vector<Ends> couplings) const;

    const Model& model_;
    const ConstraintRows* rows_ = nullptr;
    std::vector<Copy> copies_;
    int links_ = 0;
    Elimination elimination_;
    RowOrder row_order_;
    std::unique_ptr<BlockLdlt> ldlt_;
    RowProducts products_;
    std::vector<BlockLdlt::Stored> unwritten_;  // blocks of S without a product (fill), by stage
    struct Compliance {
        int stage, offset, row;  // offset of a diagonal entry, storage row
        double value;
    };
    std::vector<Compliance> compliances_;  // by stage
    size_t next_unwritten_ = 0, next_compliance_ = 0;
    std::vector<int> row_of_;            // storage row → row of ldlt_
    std::vector<std::uint8_t> enabled_;  // rows of ldlt_ that take part
    std::vector<int> excluded_;
    bool precise_mode_ = false, dynamics_known_ = false;
    std::unique_ptr<PreciseDelassus> precise_;
    double tolerance_ = 0.0;                               // of the factorization at hand
    std::vector<double> row_compliance_;                   // rows of ldlt_
    std::vector<std::uint8_t> part_, kept_, dropped_now_;  // rows of ldlt_: in the rank; kept by it; the others
    int dropped_count_ = 0;
    std::vector<DoubleDouble> motion_;
    std::vector<double> no_bias_;
    std::vector<double> work_, body_work_;
    std::vector<double> null_vector_, product_, search_, direction_;  // storage rows
    std::vector<double> column_;                                      // rows of ldlt_
    std::vector<int> storage_of_;                                     // row of ldlt_ → storage row; −1 for a link
};

}  // namespace bellcrank
