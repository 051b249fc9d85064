// Sparse LDU with blocks of 6 × 6: a symmetric pattern, values without symmetry.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linalg/ordering.hpp"
#include "spatial/aligned.hpp"

namespace bellcrank {

// Blocks have rows of eight doubles, the last two of them zero, so that they fill vector registers.
class BlockLdu {
  public:
    static constexpr int kRow = 8, kBlock = 6 * kRow;

    // Analyses a pattern: nodes, and the pairs of them that are coupled. Allocates.
    void analyse(int nodes, std::span<const std::pair<int, int>> couplings);

    int nodes() const { return static_cast<int>(position_.size()); }
    // All blocks zero, the diagonal ones the identity.
    void reset();
    // Where block (row, column) of coupled nodes lies in values().
    int block(int row, int column) const;
    double* values() { return values_.data(); }

    // In place; false where a pivot block is singular.
    bool factor();
    // x: six numbers per node, and two more that are read and count for nothing.
    void solve(double* x) const;

  private:
    struct Column {
        int node, begin, end, target;
    };
    int slot(int step, int later) const;

    std::vector<Column> columns_;
    std::vector<int> position_;
    std::vector<int> later_;    // steps coupled to each column's, ascending
    std::vector<int> targets_;  // offsets that the products of each column go to
    AlignedVector values_;      // diagonal blocks, then of each coupling the upper and the lower one
};

}  // namespace bellcrank
