// Second-order cones |x₁| <= x₀ of one to three numbers, and Nesterov and Todd's scaling of a pair of interior points.
//
// F. Alizadeh, D. Goldfarb, Second-order cone programming, Math. Program. 95 (2003); M. S. Andersen et al., Interior-
// point methods for large-scale cone programming, 2011, sections 2.2 and 4.3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bellcrank {

using ConePoint = std::array<double, 3>;  // unused numbers are zero

inline double tail_norm(const ConePoint& x) { return std::sqrt(x[1] * x[1] + x[2] * x[2]); }
inline double cone_dot(const ConePoint& a, const ConePoint& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double determinant(const ConePoint& x) {
    const double t = std::sqrt(x[1] * x[1] + x[2] * x[2]);
    return (x[0] - t) * (x[0] + t);
}

// Jordan product and its inverse: divide(v, h) is the p with v ∘ p = h.
inline ConePoint jordan(const ConePoint& a, const ConePoint& b) {
    return {cone_dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]};
}
inline ConePoint divide(const ConePoint& v, const ConePoint& h) {
    const double p = (v[0] * h[0] - v[1] * h[1] - v[2] * h[2]) / determinant(v);
    return {p, (h[1] - p * v[1]) / v[0], (h[2] - p * v[2]) / v[0]};
}

// W with W z = W⁻¹ s, symmetric: η times a hyperbolic reflection given by a unit point w.
struct ConeScaling {
    double eta = 1.0;
    ConePoint w{1.0, 0.0, 0.0};

    void set(const ConePoint& s, const ConePoint& z) {
        const double ds = std::sqrt(determinant(s)), dz = std::sqrt(determinant(z));
        const double gamma = std::sqrt(0.5 * (1.0 + cone_dot(s, z) / (ds * dz)));
        w = {0.0, (s[1] / ds - z[1] / dz) / (2.0 * gamma), (s[2] / ds - z[2] / dz) / (2.0 * gamma)};
        w[0] = std::sqrt(1.0 + w[1] * w[1] + w[2] * w[2]);
        eta = std::sqrt(ds / dz);
    }
    ConePoint apply(const ConePoint& x) const { return reflect(x, 1.0, eta); }                 // W x
    ConePoint apply_inverse(const ConePoint& x) const { return reflect(x, -1.0, 1.0 / eta); }  // W⁻¹ x
    // Entry of W², or of W⁻² with w and η inverted: η² (2 w wᵀ − J).
    double square(int i, int j) const {
        return eta * eta * (2.0 * w[i] * w[j] - (i == j ? (i == 0 ? 1.0 : -1.0) : 0.0));
    }
    ConeScaling inverse() const { return {1.0 / eta, {w[0], -w[1], -w[2]}}; }

  private:
    ConePoint reflect(const ConePoint& x, double sign, double scale) const {
        const double d = sign * (w[1] * x[1] + w[2] * x[2]), f = sign * x[0] + sign * d / (1.0 + w[0]);
        return {scale * (w[0] * x[0] + d), scale * (x[1] + f * w[1]), scale * (x[2] + f * w[2])};
    }
};

// The largest step along dx that stays in the cone from an interior x, infinite if none leaves it.
inline double longest_step(const ConePoint& x, const ConePoint& dx) {
    const double none = std::numeric_limits<double>::infinity();
    const double a = determinant(dx), c = determinant(x);
    const double b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    double step = dx[0] < 0.0 ? -x[0] / dx[0] : none;
    const double discriminant = b * b - a * c;
    if (discriminant < 0.0) return step;
    const double root = std::sqrt(discriminant);
    // a t² + 2 b t + c = 0 in the stable form; the smallest positive root.
    const double q = -(b + (b >= 0.0 ? root : -root));
    if (a != 0.0 && q / a > 0.0) step = std::min(step, q / a);
    if (q != 0.0 && c / q > 0.0) step = std::min(step, c / q);
    return step;
}

}  // namespace bellcrank
