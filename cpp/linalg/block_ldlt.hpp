// Block LDLᵀ of a sparse symmetric positive semidefinite matrix with dense blocks of one to six rows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linalg/block_kernels.hpp"
#include "linalg/ordering.hpp"
#include "spatial/aligned.hpp"

namespace bellcrank {

// The pattern is analysed once; factor() and solve() allocate nothing.
//
// Rows are eliminated block by block in the given order. A row whose pivot vanishes against the diagonal entry it was
// formed from depends on rows eliminated before it: it is dropped (the limit of Tasora's pivot of 10³⁴, section 5),
// its unknown is zero and its equation has no effect.
//
// Elimination goes by stages of steps that fit into the nearest cache. Whoever fills the matrix may do so stage by
// stage just before it is factored, and substitute forward just after.
class BlockLdlt {
  public:
    // sizes[k]: rows of the block at elimination step k; elimination.below: its pattern with fill.
    BlockLdlt(std::span<const int> sizes, const Elimination& elimination);

    int rows() const { return static_cast<int>(scale_.size()); }
    int row_start(int step) const { return columns_[step].row; }
    int stages() const { return static_cast<int>(stages_.size()); }
    static int stage_of(int step) { return step / kStageSteps; }

    // Storage to fill before factor().
    double* values() { return values_.data(); }
    // A block's place and the first stage that reads or changes it.
    struct Stored {
        int offset, size, stage;
    };
    // Block (step, later) with step <= later: row-major, K_step × K_later.
    const Stored& block(int step, int later) const;
    // All blocks, fill included.
    std::span<const Stored> blocks() const { return stored_; }
    // Room for one block that is never read.
    int spill_offset() const { return spill_; }

    // Factors in place. enabled (may be empty): rows to take part; dropped rows are marked in dropped().
    // A pivot is taken to vanish at tolerance × its original diagonal entry.
    void factor(double tolerance, std::span<const std::uint8_t> enabled);
    // The same in parts: begin(), then the stages in turn, each once the blocks that it is first to use are filled.
    void begin(double tolerance, std::span<const std::uint8_t> enabled);
    void factor_stage(int stage);

    // b ← A⁺ b for the rows kept, 0 for the others.
    void solve(double* b) const;
    // The same in parts: forward in the order of stages, then backward in the opposite one.
    void forward_stage(int stage, double* b) const;
    void backward_stage(int stage, double* b) const;

    std::span<const std::uint8_t> dropped() const { return dropped_; }
    int dropped_count() const { return dropped_count_; }
    // Smallest kept pivot relative to its original diagonal entry, where that is below kSafePivot, else kSafePivot.
    double smallest_pivot() const { return smallest_pivot_; }

  private:
    static constexpr int kStageSteps = 64;
    struct Below {
        int step, size, row, offset;
    };
    struct Column {
        const BlockKernels* kernels;
        int size, row, diagonal, below_begin, below_end, target_begin;
    };
    struct Stage {
        int column_begin, column_end;
        int scale_begin, scale_end;  // of scaled_, the columns whose diagonal blocks it is first to use
    };
    int coupling(int step, int later) const;
    void find_targets();
    void find_stages();

    std::vector<Column> columns_;
    std::vector<Below> below_;
    std::vector<int> targets_;  // per column, for every ordered pair of its lower blocks: where their product goes
    std::vector<Stage> stages_;
    std::vector<int> scaled_;  // columns in the order in which their diagonal blocks are used
    std::vector<Stored> stored_;
    AlignedVector values_;         // diagonal blocks (their inverses P after factor), then couplings (P·coupling)
    std::vector<double> scale_;    // original diagonal entries
    std::vector<double> scratch_;  // P·couplings of one column
    std::vector<std::uint8_t> dropped_;
    double tolerance_ = 0.0;
    std::span<const std::uint8_t> enabled_;
    int spill_ = 0;
    int dropped_count_ = 0;
    double smallest_pivot_ = 1.0;
};

}  // namespace bellcrank
