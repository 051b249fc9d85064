// The matrix Ĵᵀ W Ĵ of the constraint rows over the bodies, sparse in blocks of six, and its damped factorization.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/block_ldlt.hpp"
#include "model/constraint_rows.hpp"

namespace bellcrank {

// Displacements are scaled, v̂ = M^(1/2) v (model/constraint_rows.hpp), so that a damping μ v̂ᵀ v̂ weighs by mass. One
// node per body that may move; bodies are coupled by the rows that touch both. Nothing is allocated after construction.
class NormalMatrix {
  public:
    // movable: per body; the others count as ground.
    NormalMatrix(const Model& model, const ConstraintRows& rows, std::span<const std::uint8_t> movable);

    // Ĵᵀ diag(weight) Ĵ from the rows' current Jacobian; weight per storage row.
    void form(const ConstraintRows& rows, std::span<const double> weight);
    // Adds a block (6, 6), row-major, over the displacement of one body to what was formed.
    void add(int body, const double* block);
    // Largest diagonal entry of what was formed.
    double largest_diagonal() const;
    // All of them, in records; zero for bodies that may not move.
    void diagonal(std::span<double> out) const;
    // Factors what was formed plus diag(shift), a vector of kTwist records with positive entries.
    void factor(std::span<const double> shift);
    // v ← (Ĵᵀ W Ĵ + diag(shift))⁻¹ v; zero for bodies that may not move.
    void solve(double* v);

  private:
    template <class Visit>
    void for_each_diagonal(Visit&& visit) const;

    struct Product {
        BodyRows a, b;
        int row, offset;
    };
    std::vector<int> step_;  // per body: elimination step, −1 if it may not move
    std::unique_ptr<BlockLdlt> ldlt_;
    std::vector<Product> products_;
    std::vector<double> formed_, work_;
};

}  // namespace bellcrank
