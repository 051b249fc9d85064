// Sums of products A Bᵀ of row blocks into dense blocks: how a sparse J M⁻¹ Jᵀ is formed, several products at a time.
#pragma once

#include <span>
#include <vector>

#include "spatial/lanes.hpp"

namespace bellcrank {

// Rows are records of eight doubles: three linear components, 0, three angular ones, 0. Only the first `linear` rows
// of a block have a linear part.
struct RowBlock {
    int offset, rows, linear;
};

class RowProducts {
  public:
    // values[target …] += weight · A Bᵀ, row-major; `step` orders the work in memory.
    void add(const RowBlock& a, const RowBlock& b, int target, double weight, int step);
    // Arranges the products; spill: offset of 36 doubles of the values that nobody reads.
    void arrange(int spill);
    // The first product into a target overwrites it, the others add.
    void evaluate(const double* rows, double* values) const;
    // Whether some product goes into the target.
    bool writes(int target) const;

  private:
    struct Product {
        RowBlock a, b;
        int target;
        double weight;
        int step, round;
    };
    struct Pack {
        int a[kLanes], b[kLanes], target[kLanes];
        double weight[kLanes];
    };
    // Packs of one kind that follow one another.
    struct Batch {
        int rows_a, linear_a, rows_b, linear_b;
        bool overwrite, weighted, square;  // square: A Aᵀ
        int begin, end;
    };
    std::vector<Product> products_;
    std::vector<Pack> packs_;
    std::vector<Batch> batches_;
    std::vector<int> targets_;  // sorted
};

}  // namespace bellcrank
