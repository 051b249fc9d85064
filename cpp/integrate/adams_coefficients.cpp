#include "integrate/adams_coefficients.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

struct Inverses {
    double of[kMaxAdamsOrder + 5] = {};
    constexpr Inverses() {
        for (int k = 1; k < kMaxAdamsOrder + 5; ++k) of[k] = 1.0 / k;
    }
};
constexpr Inverses kInverse;

}  // namespace

void AdamsCoefficients::update(const double* xi, int degree) {
    int m = 0;  // up to there nothing changes
    while (m < degree && m < degree_ && xi[m] == xi_[m]) ++m;
    pi_[0][0] = 1.0;
    product_[0] = velocity_[0] = 1.0;
    position_[0] = 0.5;
    for (; m < degree; ++m) {
        const double inverse = 1.0 / xi[m];
        xi_[m] = xi[m];
        product_[m + 1] = product_[m] * xi[m];
        double *next = pi_[m + 1].data(), *pi = pi_[m].data();
        next[0] = 1.0;
        for (int k = 1; k <= m; ++k) next[k] = pi[k] + inverse * pi[k - 1];
        next[m + 1] = inverse * pi[m];
        // ∫ s^k = (−1)^k/(k+1) and ∫ −s·s^k = (−1)^k/(k+2), s from −1 to 0.
        double velocity = 0.0, position = 0.0;
        for (int k = 0; k <= m + 1; ++k) {
            const double a = k % 2 == 0 ? next[k] : -next[k];
            velocity += a * kInverse.of[k + 1];
            position += a * kInverse.of[k + 2];
        }
        velocity_[m + 1] = velocity;
        position_[m + 1] = position;
    }
    degree_ = degree;
}

}  // namespace bellcrank
