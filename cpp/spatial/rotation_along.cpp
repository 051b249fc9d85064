#include "spatial/rotation_along.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kReach = 2.0;  // rad: over a longer way terms of the series cancel
constexpr int kMostTerms = 40;
constexpr double kLastTerm = 1e-17;

double size_of(const Quat& q) { return std::abs(q.w) + std::abs(q.x) + std::abs(q.y) + std::abs(q.z); }

// The equation is linear in q: with ω = Σ θʲ ω_j the coefficients of q = Σ θᵐ q_m follow one from another,
//   q_{m+1} = Σ_j q_{m−j} ω_j / (2 (m+1)).
Quat summed_series(const Quat& start, const Vec3* rates, int degree) {
    Quat q[kMostTerms + 1], sum = start;
    double size[kMostTerms + 1], tail[kMostRates + 1];  // of q_m; of all ω from j on
    q[0] = start;
    size[0] = 1.0;
    tail[degree + 1] = 0.0;
    for (int j = degree; j >= 0; --j) tail[j] = tail[j + 1] + norm(rates[j]);
    for (int m = 0; m < kMostTerms; ++m) {
        Quat next{0, 0, 0, 0};
        double left = 0.0;  // what all that comes can be made of
        for (int j = 0; j <= std::min(m, degree); ++j) {
            const Quat step = q[m - j] * Quat{0, rates[j].x, rates[j].y, rates[j].z};
            next = {next.w + step.w, next.x + step.x, next.y + step.y, next.z + step.z};
            left += size[m - j] * tail[j];
        }
        const double f = 0.5 / (m + 1);
        if (!(f * left > kLastTerm)) break;
        q[m + 1] = {f * next.w, f * next.x, f * next.y, f * next.z};
        size[m + 1] = size_of(q[m + 1]);
        sum = {sum.w + q[m + 1].w, sum.x + q[m + 1].x, sum.y + q[m + 1].y, sum.z + q[m + 1].z};
    }
    return normalized(sum);
}

// The polynomial about θ = 1.
void shift_by_one(Vec3* rates, int degree) {
    for (int k = 0; k < degree; ++k)
        for (int j = degree - 1; j >= k; --j) rates[j] += rates[j + 1];
}

}  // namespace

// Far ways are cut into equal parts.
Quat advanced_along(const Quat& q, const Vec3* rates, int degree) {
    double reach = 0.0;
    for (int j = 0; j <= degree; ++j) reach += norm(rates[j]);
    if (!(reach > kReach)) return summed_series(q, rates, degree);
    constexpr double kMostParts = 1e5;
    const double parts = std::ceil(std::min(reach / kReach, kMostParts));
    Vec3 part[kMostRates];
    double scale = 1.0 / parts;
    for (int j = 0; j <= degree; ++j, scale /= parts) part[j] = scale * rates[j];
    Quat out = q;
    for (int i = 0; i < static_cast<int>(parts); ++i) {
        out = summed_series(out, part, degree);
        shift_by_one(part, degree);
    }
    return out;
}

}  // namespace bellcrank
