// Block LDLᵀ of a sparse symmetric positive semidefinite matrix with dense blocks of one to six rows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linalg/block_kernels.hpp"
#include "linalg/ordering.hpp"

namespace bellcrank {

// The pattern is analysed once; factor() and solve() allocate nothing.
//
// Rows are eliminated block by block in the given order. A row whose pivot vanishes against the diagonal entry it was
// formed from depends on rows eliminated before it: it is dropped (the limit of Tasora's pivot of 10³⁴, section 5),
// its unknown is zero and its equation has no effect.
class BlockLdlt {
  public:
    // sizes[k]: rows of the block at elimination step k; elimination.below: its pattern with fill.
    BlockLdlt(std::span<const int> sizes, const Elimination& elimination);

    int rows() const { return static_cast<int>(scale_.size()); }
    int row_start(int step) const { return columns_[step].row; }

    // Storage to fill before factor(): row-major blocks; coupling(i, j) with i < j is K_i × K_j.
    double* values() { return values_.data(); }
    int diagonal_offset(int step) const { return columns_[step].diagonal; }
    int coupling_offset(int step, int later) const;
    // Offset and size of every block, fill included.
    std::vector<std::pair<int, int>> block_offsets() const;
    // Room for one block that is never read.
    int spill_offset() const { return spill_; }

    // Factors in place. enabled (may be empty): rows to take part; dropped rows are marked in dropped().
    // A pivot is taken to vanish at tolerance × its original diagonal entry.
    void factor(double tolerance, std::span<const std::uint8_t> enabled);

    // b ← A⁺ b for the rows kept, 0 for the others.
    void solve(double* b) const;

    std::span<const std::uint8_t> dropped() const { return dropped_; }
    int dropped_count() const { return dropped_count_; }
    // Smallest kept pivot relative to its original diagonal entry, where that is below kSafePivot, else kSafePivot.
    double smallest_pivot() const { return smallest_pivot_; }

  private:
    struct Below {
        int step, size, row, offset;
    };
    struct Column {
        const BlockKernels* kernels;
        int size, row, diagonal, below_begin, below_end, target_begin;
    };

    std::vector<Column> columns_;
    std::vector<Below> below_;
    std::vector<int> targets_;     // per column, for every ordered pair of its lower blocks: where their product goes
    std::vector<double> values_;   // per column: diagonal block (its inverse after factor), then couplings (P·coupling)
    std::vector<double> scale_;    // original diagonal entries
    std::vector<double> scratch_;  // P·couplings of one column
    std::vector<std::uint8_t> dropped_;
    int spill_ = 0;
    int dropped_count_ = 0;
    double smallest_pivot_ = 1.0;
};

}  // namespace bellcrank
