#include "linalg/dense_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace bellcrank {

double eliminate_dense(std::span<double> a, std::span<double> b) {
    const std::size_t n = b.size();
    double determinant = 1.0;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
        if (a[pivot * n + k] == 0.0) return 0.0;
        if (pivot != k) {
            std::swap_ranges(&a[pivot * n], &a[pivot * n] + n, &a[k * n]);
            std::swap(b[pivot], b[k]);
            determinant = -determinant;
        }
        const double* above = &a[k * n];
        determinant *= above[k];
        for (std::size_t i = k + 1; i < n; ++i) {
            double* row = &a[i * n];
            const double factor = row[k] / above[k];
            row[k] = factor;
            for (std::size_t j = k + 1; j < n; ++j) row[j] -= factor * above[j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
    return determinant;
}

}  // namespace bellcrank
