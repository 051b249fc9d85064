// What is generated from a tree of links: generalized forces, mass matrix, accelerations (docs/theory/symbolic.md).
#pragma once

#include "derivation/links.hpp"

namespace bellcrank::symbolic {

// Generalized forces Q per speed that the motion needs beyond `applied` (empty, or one load per link, at its origin in
// its axes), from the lumped or the true mass properties. `rates` and `accelerations` are per axis.
struct AxisMotion {
    std::vector<Expression> rates, accelerations;
};
std::vector<Expression> inverse_dynamics(const LinkTree& tree, const AxisMotion& motion, bool lumped,
                                         const std::vector<Load>& applied = {});

AxisMotion full_motion(const LinkTree& tree);     // with the accelerations u̇
AxisMotion motion_at_rest(const LinkTree& tree);  // u̇ = 0

// The lower triangle of a symmetric matrix over speeds; entries that vanish are not there.
class LowerTriangle {
  public:
    explicit LowerTriangle(int size = 0) : size_(size), entries_(static_cast<size_t>(size) * (size + 1) / 2) {}
    int size() const { return size_; }
    Expression& at(int i, int j) { return entries_[static_cast<size_t>(i) * (i + 1) / 2 + j]; }
    const Expression& at(int i, int j) const { return entries_[static_cast<size_t>(i) * (i + 1) / 2 + j]; }
    bool has(int i, int j) const { return at(i, j).graph != nullptr && !is_zero(at(i, j)); }

  private:
    int size_;
    std::vector<Expression> entries_;
};

// M by composite inertias; where several axes move at one speed, the sum over pairs of axes.
LowerTriangle composite_mass_matrix(const LinkTree& tree, bool lumped = true);

// M x = b by M = Lᵀ D L, last speed first, so that a tree's zeros stay zeros.
std::vector<Expression> solve_tip_first(const LowerTriangle& M, const std::vector<Expression>& b);

// Accelerations by articulated inertias; links must turn or slide, and not share coordinates.
std::vector<Expression> articulated_accelerations(const LinkTree& tree, const std::vector<Expression>& forces,
                                                  const std::vector<Load>& applied = {});

}  // namespace bellcrank::symbolic
