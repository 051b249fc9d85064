// LDLᵀ of a sparse symmetric positive semidefinite matrix in numbers of 32 digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/ordering.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank {

// The pattern and the order are those of BlockLdlt; rows are numbered alike. Some ten to thirty times the work, for
// matrices that doubles cannot hold: a pivot that should vanish is left with 1e-32 of what cancels in it instead of
// 1e-16, so that rows formed with 16 digits are told apart as well as by any method that does not square them.
class PreciseLdlt {
  public:
    PreciseLdlt(std::span<const int> sizes, const Elimination& elimination);

    int rows() const { return static_cast<int>(dropped_.size()); }
    // Where entry (row, other) of the blocks (step, later) is, step <= later; rows count within their blocks. Of a
    // diagonal block only the upper triangle is used.
    int place(int step, int later, int row, int other) const;
    // Storage to fill before factor(); cleared to zero.
    std::span<DoubleDouble> clear();

    // Factors in place. Rows with takes_part 0 are left out; others with pivots not above this part of their diagonal
    // entries are dropped.
    void factor(double tolerance, std::span<const std::uint8_t> takes_part);
    // b ← A⁺ b for the rows kept, 0 for the others.
    void solve(DoubleDouble* b) const;

    // Whether a row was left out or dropped.
    std::span<const std::uint8_t> dropped() const { return dropped_; }
    int dropped_count() const { return dropped_count_; }
    // Smallest kept pivot relative to its diagonal entry; 1 if there is none.
    double smallest_pivot() const { return smallest_pivot_; }

  private:
    struct Column {
        int size, row, width, begin;         // rows; their first; entries of a row in store; where they begin
        int below_begin, below_end, member;  // of below_; of members_
    };
    struct Below {
        int step, size, at;  // first column in the rows of the block
    };
    void eliminate(const Column& c, double tolerance, std::span<const std::uint8_t> takes_part);
    void update(const Column& c);

    std::vector<Column> columns_;
    std::vector<Below> below_;
    std::vector<int> members_;  // row of each column of a block's rows
    std::vector<DoubleDouble> values_, scratch_;
    std::vector<double> scale_;  // original diagonal entries
    std::vector<std::uint8_t> dropped_;
    int dropped_count_ = 0;
    double smallest_pivot_ = 1.0;
};

}  // namespace bellcrank
