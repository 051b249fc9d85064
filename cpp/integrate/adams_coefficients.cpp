#include "integrate/adams_coefficients.hpp"

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// ∫ s^k = (−1)^k/(k+1) and ∫ −s·s^k = (−1)^k/(k+2), s from −1 to 0.
struct Integrals {
    double once[kAdamsStride] = {}, twice[kAdamsStride] = {};
    constexpr Integrals() {
        for (int k = 0; k < kAdamsStride; ++k) {
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            once[k] = sign / (k + 1);
            twice[k] = sign / (k + 2);
        }
    }
};
constexpr Integrals kIntegrals;

double sum(const Lane& v) {
    double total = 0.0;
    for (int l = 0; l < kLanes; ++l) total += lane_get(v, l);
    return total;
}

}  // namespace

AdamsCoefficients::AdamsCoefficients() {
    pi_[0][kAdamsPad] = product_[0] = velocity_[0] = 1.0;
    position_[0] = 0.5;
}

void AdamsCoefficients::update(const double* xi, int degree) {
    int m = 0;  // up to there nothing changes
    while (m < degree && m < degree_ && xi[m] == xi_[m]) ++m;
    for (; m < degree; ++m) {
        const double inverse = 1.0 / xi[m];
        xi_[m] = xi[m];
        product_[m + 1] = product_[m] * xi[m];
        double* next = pi_[m + 1].data() + kAdamsPad;
        const double* pi = pi_[m].data() + kAdamsPad;
        Lane velocity = broadcast(0.0), position = velocity;
        for (int k = 0; k <= m + 1; k += kLanes) {
            const Lane c = load_lane(pi + k) + inverse * load_lane(pi + k - 1);
            store_lane(next + k, c);
            velocity += c * load_lane(kIntegrals.once + k);
            position += c * load_lane(kIntegrals.twice + k);
        }
        velocity_[m + 1] = sum(velocity);
        position_[m + 1] = sum(position);
    }
    degree_ = degree;
}

}  // namespace bellcrank
