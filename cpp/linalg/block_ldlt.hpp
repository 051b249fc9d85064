// Block LDLᵀ of a sparse symmetric positive semidefinite matrix with dense blocks of one to six rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linalg/block_kernels.hpp"
#include "linalg/ordering.hpp"
#include "spatial/aligned.hpp"

namespace bellcrank {

// How pivots are judged, all as parts of the diagonal entries they were formed from.
struct PivotRule {
    double tolerance = 0.0;  // a row with a pivot not above this is dropped
    double closing = 0.0;    // the same in blocks that close loops
    double vanishing = 0.0;  // a dropped pivot larger than this, of either sign, is doubtful
    double shift = 0.0;      // added to the diagonal entries
    bool list = false;       // whether small pivots that are kept are listed
};

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
    // sizes[k]: rows of the block at elimination step k; elimination.below: its pattern with fill. closes[k]: whether
    // its rows can depend on those of blocks before it; empty: PivotRule::tolerance is for all.
    BlockLdlt(std::span<const int> sizes, const Elimination& elimination, std::span<const std::uint8_t> closes = {});

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

    // Factors in place. enabled (empty: all take part): whether each row takes part, or does with a pivot that is taken
    // to vanish. Dropped rows are marked in dropped().
    static constexpr std::uint8_t kLeftOut = 0, kTakesPart = 1, kDropped = 2;
    void factor(const PivotRule& rule, std::span<const std::uint8_t> enabled);
    void factor(double tolerance, std::span<const std::uint8_t> enabled) { factor(PivotRule{tolerance}, enabled); }
    // The same in parts: begin(), then the stages in turn, each once the blocks that it is first to use are filled.
    void begin(const PivotRule& rule, std::span<const std::uint8_t> enabled);
    void factor_stage(int stage);

    // b ← A⁺ b for the rows kept, 0 for the others.
    void solve(double* b) const;
    // The same in parts: forward in the order of stages, then backward in the opposite one.
    void forward_stage(int stage, double* b) const;
    void backward_stage(int stage, double* b) const;

    // Of a dropped row whose pivot vanished what rows before it balance it: A x = 0 and x_row = 1.
    void balance(int row, double* x) const;

    // 0 for a row kept.
    static constexpr std::uint8_t kVanished = 1, kDoubtful = 2;
    std::span<const std::uint8_t> dropped() const { return dropped_; }
    int dropped_count() const { return dropped_count_; }
    // Smallest kept pivot relative to its original diagonal entry, where that is below kSafePivot, else kSafePivot.
    double smallest_pivot() const { return smallest_pivot_; }

    struct RowPivot {
        int row;
        double pivot;  // relative
    };
    // Those that took part and have a pivot that does not vanish, the largest first; of many, the largest.
    std::span<const RowPivot> doubtful() const { return std::span(doubtful_).first(doubtful_count_); }
    // If asked for: rows kept with pivots below kSafePivot in blocks that close loops, the smallest first; of many, the
    // smallest.
    std::span<const RowPivot> small() const { return std::span(small_).first(small_count_); }
    double scale(int row) const { return scale_[row]; }

    static constexpr int kMostListed = 16;

  private:
    static constexpr int kStageSteps = 64;
    struct Below {
        int step, size, row, offset;
    };
    struct Column {
        const BlockKernels* kernels;
        int size, row, diagonal, below_begin, below_end, target_begin;
        bool closes;
    };
    struct Stage {
        int column_begin, column_end;
        int scale_begin, scale_end;  // of scaled_, the columns whose diagonal blocks it is first to use
    };
    int coupling(int step, int later) const;
    void backward(const Column& c, double* b) const;
    void invert_pivot(const Column& c, double* P);
    void note_dropped(const Column& c, const double* pivot);
    void note_small(const Column& c, const double* pivot);
    void find_targets();
    void place_blocks();
    void find_stages();

    std::vector<Column> columns_;
    std::vector<Below> below_;
    std::vector<int> targets_;  // per column, for every ordered pair of its lower blocks: where their product goes
    std::vector<Stage> stages_;
    std::vector<int> scaled_;  // columns in the order in which their diagonal blocks are used
    std::vector<Stored> stored_;
    AlignedVector values_;         // diagonal blocks (their inverses P after factor), then couplings (P·coupling)
    AlignedVector left_;           // diagonal blocks with dropped rows as they were before they were inverted
    std::vector<double> scale_;    // original diagonal entries
    std::vector<double> scratch_;  // P·couplings of one column
    std::vector<std::uint8_t> dropped_;
    PivotRule rule_;
    std::array<RowPivot, kMostListed> doubtful_, small_;
    int doubtful_count_ = 0, small_count_ = 0;
    std::span<const std::uint8_t> enabled_;
    int spill_ = 0;
    int dropped_count_ = 0;
    double smallest_pivot_ = 1.0;
};

}  // namespace bellcrank
