// The same matrix as that of delassus.hpp in numbers of 32 digits.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linalg/precise_ldlt.hpp"
#include "model/constraint_rows.hpp"
#include "model/model.hpp"

namespace bellcrank {

// One copy of a body (docs/theory/lagrange.md, section 3) and the rows that act on it, by elimination step.
struct BodyPart {
    int body;
    double share;  // of its inertia
    std::vector<std::pair<int, BodyRows>> rows;
};

// S in numbers of 32 digits, for mechanisms and poses where doubles cannot hold it. Two factorizations with its
// pattern. That of the *rank* has every body's inertia replaced by one kilogramme and by that of its reach: which rows
// depend on others is a matter of geometry, and masses only hide it. That of the *dynamics* has the masses as they are,
// over the rows that the rank has kept.
class PreciseDelassus {
  public:
    PreciseDelassus(const Model& model, std::span<const int> sizes, const Elimination& elimination,
                    std::vector<BodyPart> parts, const ConstraintRows& rows);

    // Rows in the numbering of the factors. compliance: per row, 0 for those that hold rigidly; others have no part in
    // the rank. takes_part: 0 leaves a row out.
    void find_rank(double tolerance, std::span<const double> compliance, std::span<const std::uint8_t> takes_part);
    void factor_dynamics(std::span<const double> compliance, std::span<const std::uint8_t> takes_part);

    const PreciseLdlt& rank() const { return rank_; }
    // A row's diagonal entry in the metric of the rank.
    double scale(int row) const { return scale_[row]; }
    // b ← S⁺ b; dynamics.
    void solve(double* b);
    // The same for a right-hand side that the caller fills and the solution that it reads.
    std::span<DoubleDouble> work() { return work_; }
    void solve_work() { dynamics_.solve(work_.data()); }
    // What balances a row that the rank has dropped: w = 1 there, S w = 0 on the rows kept.
    void null_vector(int row, std::span<double> w);

  private:
    void form(PreciseLdlt& into, std::span<const double> weights, std::span<const double> compliance);
    void add_column(int row, std::span<DoubleDouble> column) const;

    const ConstraintRows& rows_;
    std::vector<BodyPart> parts_;
    std::vector<int> first_;           // row of each step
    std::vector<double> to_geometry_;  // per body six: inertia over that of the rank
    std::vector<double> ones_, scale_;
    PreciseLdlt rank_, dynamics_;
    std::vector<DoubleDouble> work_;
    std::vector<std::uint8_t> rigid_;
};

}  // namespace bellcrank
