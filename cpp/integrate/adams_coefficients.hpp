// Coefficients of Adams methods over steps of any lengths.
#pragma once

#include <array>

namespace bellcrank {

inline constexpr int kMaxAdamsOrder = 12;

// 1/k, as integrals of powers need it.
struct Inverses {
    double of[kMaxAdamsOrder + 5] = {};
    constexpr Inverses() {
        for (int k = 1; k < kMaxAdamsOrder + 5; ++k) of[k] = 1.0 / k;
    }
};
inline constexpr Inverses kInverse;

// Room for the coefficients of a polynomial of one degree more, in vectors of four.
inline constexpr int kAdamsStride = (kMaxAdamsOrder + 2 + 3) / 4 * 4;

// With s = (t − t_n)/h and ξ_i = (t_n − t_{n−i})/h, the polynomial that vanishes where accelerations are known,
//   Π_m(s) = Π_{i=1…m} (1 + s/ξ_i),
// is all that corrector, error estimates and change of order need (G. D. Byrne, A. C. Hindmarsh, A polyalgorithm for
// the numerical solution of ordinary differential equations, 1975, section 2).
class AdamsCoefficients {
  public:
    AdamsCoefficients();

    // For m = 0 … degree, from ξ_1 … ξ_degree.
    void update(const double* xi, int degree);

    // Coefficient k of Π_m.
    double coefficient(int m, int k) const { return pi_[m][k]; }
    // ∫ Π_m over the last step, that is, s from −1 to 0: what a unit residual adds to the velocity.
    double velocity(int m) const { return velocity_[m]; }
    // The same integrated twice: what it adds to the displacement, for h = 1.
    double position(int m) const { return position_[m]; }
    // Π ξ_i, i = 1 … m.
    double product(int m) const { return product_[m]; }

  private:
    int degree_ = 0;
    std::array<double, kMaxAdamsOrder + 2> xi_{};
    std::array<std::array<double, kAdamsStride>, kMaxAdamsOrder + 2> pi_{};
    std::array<double, kMaxAdamsOrder + 2> velocity_{}, position_{}, product_{};
};

// Scaled derivatives h^j u^(j)/j! go on by a step.
// Z_j ← Σ_k C(k, j) Z_k + weight_j r for j = 1 … order: the derivatives of the polynomial at the end of the step
// (Pascal's triangle), corrected. The Z_j are vectors of `size`, a multiple of four, one after another from Z_0.
void advance_history(int order, double* history, const double* residual, const double* weight, int size);

}  // namespace bellcrank
