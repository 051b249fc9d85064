#include "integrate/adams_history.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "integrate/adams_coefficients.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

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

void advance_history(int order, double* history, const double* residual, const double* weight, int size) {
    kAdvance[order - 1](history, residual, weight, size);
}

}  // namespace bellcrank
