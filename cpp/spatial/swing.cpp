#include "spatial/swing.hpp"

#include <cmath>

#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

// With h = |ξ|²/4 = r², r being the angle by which the shaft leans in the chart: β = sin r/r, C = (1 − β)/(4h),
// A = (1 − cos r)/h, and derivatives by h.
struct ShaftCoefficients {
    double beta, C, A, dbeta, dC;
};

ShaftCoefficients shaft_coefficients(double h) {
    if (h < 1.0) {  // series to 1e-17
        ShaftCoefficients k{0, 0, 0, 0, 0};
        double term = 1.0, before = 0.0;  // (−h)ⁿ/(2n + 1)!, and that by h
        for (int n = 0; n <= 8; ++n) {
            const double next = 1.0 / (2 * n + 2), after = next / (2 * n + 3);
            k.beta += term;
            k.C += 0.25 * after * term;
            k.A += next * term;
            k.dbeta += n * before;
            k.dC += 0.25 * n * after * before;
            before = -after * term;
            term = h * before;
        }
        return k;
    }
    const double r = std::sqrt(h), s = std::sin(r), c = std::cos(r), beta = s / r;
    const double C = 0.25 * (1.0 - beta) / h, dbeta = 0.5 * (c - beta) / h;
    return {beta, C, (1.0 - c) / h, dbeta, -(0.25 * dbeta + C) / h};
}

double square(const double* v) { return v[0] * v[0] + v[1] * v[1]; }
double product(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1]; }

}  // namespace

Quat shaft_of(const Quat& q, int k) {
    const double sign = q.w < 0.0 ? -1.0 : 1.0;
    double e[3] = {sign * q.x, sign * q.y, sign * q.z};
    e[k] = 0.0;
    return normalized({1.0 + sign * q.w, e[0], e[1], e[2]});
}

void shaft_speeds(const Quat& shaft, int k, const Vec3& omega, double* speeds) {
    const Vec3 w = transpose_times(rotation_matrix(shaft), omega);
    for (int i = 0; i < 2; ++i) speeds[i] = component(w, axis_across(k, i));
}

Quat shaft_advanced(const Quat& shaft, int k, const double* xi) {
    double half[3] = {0, 0, 0};
    for (int i = 0; i < 2; ++i) half[axis_across(k, i)] = 0.5 * xi[i];
    return advanced(shaft, load(half));
}

// The axis of the other is turned to from k by half of ξ.
void shaft_displacement(const Quat& shaft, int k, const Quat& to, double* xi) {
    const Mat3 F = rotation_matrix(shaft), G = rotation_matrix(to);
    const Vec3 p = transpose_times(F, Vec3{G.m[k], G.m[3 + k], G.m[6 + k]});
    const double first = component(p, axis_across(k, 0)), second = component(p, axis_across(k, 1)),
                 sine = std::hypot(first, second);
    const double factor = sine > 0.0 ? 2.0 * std::atan2(sine, component(p, k)) / sine : 0.0;
    xi[0] = -factor * second;
    xi[1] = factor * first;
}

double spin_between(const Quat& shaft, int k, const Quat& ahead) {
    const Quat d = conjugate(shaft) * ahead;
    return 2.0 * std::atan2(component({d.x, d.y, d.z}, k), d.w);
}

// The axis p moves on the unit sphere at half the speed. At the distance r from where the chart is centred it moves in
// the chart as it does along ξ, and r/sin r as fast across it.
void shaft_chart_rate(const double* xi, const double* speeds, double* rate) {
    const ShaftCoefficients k = shaft_coefficients(0.25 * square(xi));
    const double along = product(xi, speeds), f = 1.0 / k.beta;
    for (int i = 0; i < 2; ++i) rate[i] = f * (speeds[i] - k.C * along * xi[i]);
}

// σ = β ξ̇ + C ξ (ξ·ξ̇)
void shaft_chart_velocity(const double* xi, const double* rate, double* speeds) {
    const ShaftCoefficients k = shaft_coefficients(0.25 * square(xi));
    const double along = product(xi, rate);
    for (int i = 0; i < 2; ++i) speeds[i] = k.beta * rate[i] + k.C * along * xi[i];
}

void shaft_chart_acceleration(const double* xi, const double* rate, const double* acceleration, double* out) {
    const ShaftCoefficients k = shaft_coefficients(0.25 * square(xi));
    const double along = product(xi, rate), growth = 0.5 * along;  // dh/dt
    double speeds[2], left[2] = {acceleration[0], acceleration[1]};
    shaft_chart_velocity(xi, rate, speeds);
    add_chart_spin(xi, speeds, left);
    for (int i = 0; i < 2; ++i)
        left[i] -=
            k.dbeta * growth * rate[i] + k.dC * growth * along * xi[i] + k.C * (rate[i] * along + xi[i] * square(rate));
    shaft_chart_rate(xi, left, out);
}

// F0 exp(½ ξ) spins with −¼ A (ξ × ξ̇).
double chart_spin(const double* xi, const double* speeds) {
    double rate[2];
    shaft_chart_rate(xi, speeds, rate);
    return -0.25 * shaft_coefficients(0.25 * square(xi)).A * (xi[0] * rate[1] - xi[1] * rate[0]);
}

void add_chart_spin(const double* xi, const double* speeds, double* rates) {
    const double spin = chart_spin(xi, speeds);
    rates[0] += spin * speeds[1];
    rates[1] -= spin * speeds[0];
}

}  // namespace bellcrank
