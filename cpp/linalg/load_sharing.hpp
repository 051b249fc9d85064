// How many redundant rows share what they exert together: multipliers of least norm, by a factorization over the
// bodies, whose size does not grow with the number of redundant rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/normal_matrix.hpp"
#include "model/constraint_rows.hpp"

namespace bellcrank {

// With A = D⁻¹ Ĵ of the rows that take part, D the moment or force per unit of a multiplier, the least ‖D λ‖ with
// Ĵᵀ λ = F̂ is λ = D⁻¹ A y with Aᵀ A y = F̂. The mechanism's freedoms make Aᵀ A singular: y is approached with a shift,
// y ← y + (Aᵀ A + shift)⁻¹ (F̂ − Aᵀ A y), which leaves alone what A does not see (iterated Tikhonov regularization:
// J. King, D. Chillingworth, Approximation of generalized inverses by iterated regularization, 1979).
class LoadSharing {
  public:
    LoadSharing(const Model& model, const ConstraintRows& rows);

    // Takes up the current Jacobian. weight: D per storage row, 0 for rows that take no part.
    void form(std::span<const double> weight);
    // λ per storage row from F̂, records of what the rows exert together, scaled by M^(−1/2). False where the rows'
    // singular values reach down too far (about 1e-5 of the largest) for the multipliers to balance F̂.
    bool share(std::span<const double> load, std::vector<double>& lambda);
    // Multipliers that exert what `lambda` does on the rows that take part, of least ‖D λ‖, and samples of those that
    // exert nothing. weight: D. False as share(), and nothing changed.
    bool share_all(std::span<const std::uint8_t> takes_part, std::span<const double> weight,
                   std::vector<double>& lambda, std::vector<std::vector<double>>& nothing);
    // Samples of multipliers that exert nothing, the largest moment or force of each one, per storage row: where all of
    // them are zero, the multiplier is determined. False as share().
    bool sample(std::vector<std::vector<double>>& out);

  private:
    void factor();
    bool approach(std::span<const double> load, std::vector<double>& lambda);
    double load_size() const;

    const ConstraintRows& rows_;
    NormalMatrix normal_;
    double relative_shift_ = 1e-11;                  // of the diagonal entries
    std::vector<double> weight_, squares_, scaled_;  // of the rows: D, D⁻², a change of λ
    std::vector<double> diagonal_, shift_;           // of the bodies
    std::vector<double> step_, load_, sampled_;      // of the bodies
};

}  // namespace bellcrank
