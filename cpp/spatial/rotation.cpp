#include "spatial/rotation.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

Quat normalized(const Quat& q) {
    const double s = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {s * q.w, s * q.x, s * q.y, s * q.z};
}

Quat quaternion_exp(const Vec3& phi) {
    const double a2 = dot(phi, phi);
    // sin(a/2)/a and cos(a/2); the series is exact to rounding below a = 0.05.
    double s, c;
    if (a2 < 2.5e-3) {
        const double h = 0.25 * a2;
        s = 0.5 * (1.0 - h / 6.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0 * (1.0 - h / 72.0))));
        c = 1.0 - h / 2.0 * (1.0 - h / 12.0 * (1.0 - h / 30.0 * (1.0 - h / 56.0 * (1.0 - h / 90.0))));
    } else {
        const double a = std::sqrt(a2);
        s = std::sin(0.5 * a) / a;
        c = std::cos(0.5 * a);
    }
    return {c, s * phi.x, s * phi.y, s * phi.z};
}

Vec3 quaternion_log(const Quat& q) {
    const Vec3 u{q.x, q.y, q.z};
    const double n = norm(u);
    if (n == 0.0) return {0.0, 0.0, 0.0};
    const double sign = q.w < 0.0 ? -1.0 : 1.0;
    const double angle = 2.0 * std::atan2(n, sign * q.w);
    return (sign * angle / n) * u;
}

Quat quaternion_from_matrix(const Mat3& r) {
    const double* m = r.m;
    const double trace = m[0] + m[4] + m[8];
    Quat q;
    if (trace >= m[0] && trace >= m[4] && trace >= m[8]) {
        q = {1.0 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    } else if (m[0] >= m[4] && m[0] >= m[8]) {
        q = {m[7] - m[5], 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]};
    } else if (m[4] >= m[8]) {
        q = {m[2] - m[6], m[1] + m[3], 1.0 + m[4] - m[0] - m[8], m[5] + m[7]};
    } else {
        q = {m[3] - m[1], m[2] + m[6], m[5] + m[7], 1.0 + m[8] - m[0] - m[4]};
    }
    if (q.w < 0.0) q = {-q.w, -q.x, -q.y, -q.z};
    return normalized(q);
}

Vec3 rotation_vector_rate(const Vec3& phi, const Vec3& omega) {
    const double a2 = dot(phi, phi);
    double c;
    if (a2 < 1e-2) {
        c = 1.0 / 12.0 + a2 / 720.0 * (1.0 + a2 / 42.0 * (1.0 + a2 / 40.0));
    } else {
        const double half = 0.5 * std::sqrt(a2);
        c = (1.0 - half / std::tan(half)) / a2;
    }
    const Vec3 w = cross(phi, omega);
    return omega + 0.5 * w + c * cross(phi, w);
}

namespace {

// A and B of ω = φ̇ − A φ×φ̇ + B φ×(φ×φ̇) and their derivatives by |φ|², from |φ|².
struct ExponentialCoefficients {
    double A, B, dA, dB;
};

ExponentialCoefficients exponential_coefficients(double a2) {
    if (a2 < 0.25) {  // series to 1e-17
        const double x = a2;
        return {0.5 - x / 24 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90 * (1 - x / 132)))),
                1.0 / 6 - x / 120 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110 * (1 - x / 156)))),
                -1.0 / 24 + x / 360 * (1 - x * 3 / 112 * (1 - x * 4 / 270 * (1 - x * 5 / 528))),
                -1.0 / 120 + x / 2520 * (1 - x * 3 / 144 * (1 - x * 4 / 330 * (1 - x * 5 / 624)))};
    }
    const double a = std::sqrt(a2), s = std::sin(a), c = std::cos(a);
    const double A = (1.0 - c) / a2, B = (a - s) / (a2 * a);
    return {A, B, (0.5 * s / a - A) / a2, (0.5 * (1.0 - c) / a2 - 1.5 * B) / a2};
}

}  // namespace

Vec3 angular_velocity(const Vec3& phi, const Vec3& rate) {
    const ExponentialCoefficients k = exponential_coefficients(dot(phi, phi));
    const Vec3 w = cross(phi, rate);
    return rate - k.A * w + k.B * cross(phi, w);
}

Vec3 rotation_vector_acceleration(const Vec3& phi, const Vec3& rate, const Vec3& omega_dot) {
    const ExponentialCoefficients k = exponential_coefficients(dot(phi, phi));
    const double growth = 2.0 * dot(phi, rate);  // d|φ|²/dt
    const Vec3 w = cross(phi, rate);
    const Vec3 known = (-growth * k.dA) * w + (growth * k.dB) * cross(phi, w) + k.B * cross(rate, w);
    return rotation_vector_rate(phi, omega_dot - known);
}

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
