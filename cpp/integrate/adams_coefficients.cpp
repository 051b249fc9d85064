#include "integrate/adams_coefficients.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

template <int Order>
void advance(double* history, const double* residual, const double* weight, int size) {
    Lane w[Order + 1];
    for (int j = 1; j <= Order; ++j) w[j] = broadcast(weight[j]);
    for (int i = 0; i < size; i += kLanes) {
        Lane z[Order + 1];
        for (int j = 1; j <= Order; ++j) z[j] = load_lane(history + static_cast<size_t>(j) * size + i);
#pragma GCC unroll 16
        for (int k = 0; k < Order; ++k)
#pragma GCC unroll 16
            for (int j = Order - 1; j >= std::max(k, 1); --j) z[j] += z[j + 1];
        const Lane r = load_lane(residual + i);
        for (int j = 1; j <= Order; ++j) store_lane(history + static_cast<size_t>(j) * size + i, z[j] + w[j] * r);
    }
}

using Advance = void (*)(double*, const double*, const double*, int);

template <int... Orders>
constexpr std::array<Advance, sizeof...(Orders)> advances(std::integer_sequence<int, Orders...>) {
    return {&advance<Orders + 1>...};
}

constexpr auto kAdvance = advances(std::make_integer_sequence<int, kMaxAdamsOrder + 1>{});

}  // namespace

AdamsCoefficients::AdamsCoefficients() {
    pi_[0][0] = product_[0] = velocity_[0] = 1.0;
    position_[0] = 0.5;
}

// Π_{m+1} = Π_m + s Π_m/ξ_{m+1}, all coefficients in registers.
void AdamsCoefficients::update(const double* xi, int degree) {
    constexpr int kVectors = kAdamsStride / kLanes;
    int m = 0;  // up to there nothing changes
    while (m < degree && m < degree_ && xi[m] == xi_[m]) ++m;
    Lane c[kVectors];
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) c[k] = load_lane(pi_[m].data() + kLanes * k);
    for (; m < degree; ++m) {
        const double inverse = 1.0 / xi[m];
        xi_[m] = xi[m];
        product_[m + 1] = product_[m] * xi[m];
        Lane velocity = broadcast(0.0), position = velocity;
#pragma GCC unroll 16
        for (int k = kVectors - 1; k >= 0; --k) {
            c[k] += inverse * shifted(c[k], k == 0 ? broadcast(0.0) : c[k - 1]);
            store_lane(pi_[m + 1].data() + kLanes * k, c[k]);
            velocity += c[k] * load_lane(kIntegrals.once + kLanes * k);
            position += c[k] * load_lane(kIntegrals.twice + kLanes * k);
        }
        velocity_[m + 1] = sum(velocity);
        position_[m + 1] = sum(position);
    }
    degree_ = degree;
}

void advance_history(int order, double* history, const double* residual, const double* weight, int size) {
    kAdvance[order - 1](history, residual, weight, size);
}

}  // namespace bellcrank
