// Sums of products A Bᵀ of row blocks into dense blocks: how a sparse J M⁻¹ Jᵀ is formed, several products at a time.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "spatial/body_state.hpp"

namespace bellcrank {

class RowProducts {
  public:
    // values[target …] += weight · A Bᵀ, row-major, in a stage that is the same for all products into a target. Targets
    // of several stages may share a place.
    void add(const BodyRows& a, const BodyRows& b, int target, double weight, int stage);
    // Arranges the products; spill: offset of 36 doubles of the values that nobody reads.
    void arrange(int stages, int spill);
    // The products of a stage. The first one into a target overwrites it, the others add.
    void evaluate(int stage, const double* rows, double* values) const;
    // Whether some product goes into the target in that stage.
    bool writes(int target, int stage) const;

  private:
    struct Product {
        BodyRows a, b;
        int target;
        double weight;
        int stage, round;
    };
    struct Pack;  // products side by side, one per lane: row_products.cpp sees lanes
    // Packs of one kind that follow one another.
    struct Batch {
        int rows_a, linear_a, rows_b, linear_b;
        bool overwrite, weighted, square;  // square: A Aᵀ
        int begin, end, weights;
    };
    std::vector<Product> products_;
    std::shared_ptr<const std::vector<Pack>> packs_;
    std::vector<double> weights_;  // of the packs of weighted batches
    std::vector<Batch> batches_;
    std::vector<int> stage_begin_;              // batches of each stage
    std::vector<std::pair<int, int>> targets_;  // with their stages, sorted
};

}  // namespace bellcrank
