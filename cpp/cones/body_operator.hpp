// S = Ĵ Ĵᵀ + diag(ε) from rows that act on bodies, factored by bodies.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "cones/block_ldu.hpp"
#include "cones/operator.hpp"

namespace bellcrank {

// (B S + D) x = b becomes (1 + Ĵᵀ K Ĵ) y = Ĵᵀ D′⁻¹ b with K = D′⁻¹ B, D′ = D + B diag(ε), then x = D′⁻¹ b − K Ĵ y: one
// 6 × 6 block per body, coupled where rows act on two bodies, however many rows there are between them.
class BodyConeOperator final : public ConeOperator {
  public:
    static constexpr int kRow = BlockLdu::kRow;
    struct Side {
        int block, body;
        friend bool operator==(const Side&, const Side&) = default;
    };

    // Which bodies each block acts on, by ascending block; bodies that do not move have no side. Whether the pattern is
    // another one than before. Where pairs of bodies are coupled that were not, or no more, the factors are analysed
    // anew, which allocates. Throws std::invalid_argument for blocks out of order, bodies out of range and a body twice
    // in a block.
    bool set_pattern(const ConeLayout& layout, int bodies, std::span<const Side> sides);
    // What callers fill before a solve: Ĵ of a side, (rows of its block, 8), the last two columns zero; ε, one per row.
    double* jacobian(int side) { return &jacobians_[sides_[side].jacobian]; }
    double* compliance() { return compliance_.data(); }

    // Ĵ v̂ of bodies' scaled velocities, six for each, and Ĵᵀ x.
    void to_rows(const double* bodies, double* rows);
    void to_bodies(const double* impulses, double* bodies);

    int rows() const override { return rows_; }
    void multiply(const double* x, double* y) override;
    void diagonal(double* d) const override;
    bool factor(const ConeLayout& layout, const double* B, const double* D) override;
    void solve(double* b) override;
    void begin_sweeps(const ConeLayout& layout, const double* x) override;
    void product_of(const ConeBlock& block, double* y) override;
    void change(const ConeBlock& block, const double* dx) override;

  private:
    struct Stored {
        int body, jacobian, target;  // target: of targets_, the blocks of its pairs with all sides of its block
    };
    struct Rows {
        int row, size, begin, end, values;  // sides
    };
    void push(const double* x);            // velocities_ = Ĵᵀ x
    void pull(double f, double* y) const;  // y += f Ĵ velocities_
    void push_block(const Rows& block, const double* x);
    void pull_block(const Rows& block, double f, double* y) const;
    bool same_pattern(const ConeLayout& layout, int bodies, std::span<const Side> sides) const;
    void analyse();

    int rows_ = 0, bodies_ = 0;
    std::vector<Side> pattern_;
    std::vector<Rows> blocks_;
    std::vector<Stored> sides_;
    std::vector<int> targets_;
    std::vector<std::pair<int, int>> couplings_, analysed_;  // pairs of bodies; those that ldu_ knows
    BlockLdu ldu_;
    AlignedVector jacobians_, velocities_;
    std::vector<double> compliance_, inverse_, stiffness_, work_, impulses_;
};

}  // namespace bellcrank
