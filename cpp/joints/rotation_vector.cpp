// Components rot_x, rot_y, rot_z of the rotation vector φ = log q on its principal branch, |φ| < π.
//
// For ω in marker-1 axes (q = exp φ, q̇ = ½ ω q) the differential of the logarithm gives, with a = |φ|,
//   φ̇ = ω − ½ φ×ω + c φ×(φ×ω),   c(a) = (1 − (a/2) cot(a/2))/a²,
// Bortz's equation with the sign of the middle term for axes that do not turn. Its row k is, moved onto ω,
//   domega = i_k + ½ φ×i_k + c φ×(φ×i_k).
// The quadratic part is the derivative of that map along the motion, applied to ω:
//   −½ φ̇×ω + d (φ·ω) φ×(φ×ω) + c (φ̇×(φ×ω) + φ×(φ̇×ω)),   d = c'(a)/a,
// where ȧ = φ·ω/a was used (φ·φ̇ = φ·ω).
// Near a = 0 both c and d come from  c = Σ_n 2ζ(2n)/(2π)^{2n} a^{2n−2}, the cotangent's series; at a = π c is 1/π².
#include "joints/coordinate.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

// c(a) and d(a) = c'(a)/a as functions of a².
void log_coefficients(double a2, double& c, double& d) {
    // 2ζ(2n)/(2π)^{2n}, n = 1..11. Terms fall by a²/39 each: below a = 1 the tail is under 1e-18.
    static constexpr double series[] = {8.3333333333333333e-2,  1.3888888888888889e-3,  3.3068783068783069e-5,
                                        8.2671957671957672e-7,  2.0876756987868099e-8,  5.2841901386874932e-10,
                                        1.3382536530684679e-11, 3.3896802963225829e-13, 8.5860620562778446e-15,
                                        2.1748686985580619e-16, 5.5090028283602295e-18};
    if (a2 < 1.0) {
        c = d = 0.0;
        for (int n = 10; n >= 1; --n) {
            c = c * a2 + series[n];
            d = d * a2 + 2.0 * n * series[n];
        }
        c = c * a2 + series[0];
        return;
    }
    const double a = std::sqrt(a2), s = std::sin(0.5 * a), g = 0.5 * a * std::cos(0.5 * a) / s;
    const double slope = g / a - 0.25 * a / (s * s);  // dg/da
    c = (1.0 - g) / a2;
    d = -(slope / a + 2.0 * c) / a2;
}

template <int axis>
void rotation_vector(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    const Vec3 i{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
    const Vec3 phi = quaternion_log(m.q);
    double c, d;
    log_coefficients(dot(phi, phi), c, d);
    const Vec3 w = cross(phi, m.omega), ww = cross(phi, w);
    const Vec3 rate = m.omega - 0.5 * w + c * ww;
    const Vec3 turned = cross(phi, i);
    out.value = dot(phi, i);
    out.dr = {0.0, 0.0, 0.0};
    out.domega = i + 0.5 * turned + c * cross(phi, turned);
    out.quadratic = dot(i, -0.5 * cross(rate, m.omega) + (d * dot(phi, m.omega)) * ww +
                               c * (cross(rate, w) + cross(phi, cross(rate, m.omega))));
}

// φ = 2 atan2(n, e0) v/n with n = |v|, the sign of q such that e0 ≥ 0; near n = 0 by the series of arcsin n / n.
template <int axis>
Expression rotation_vector_formula(SymbolicPose& pose, std::span<const Expression>) {
    const QuatT<Expression>& q = pose.quaternion();
    const Expression sign = where_less(q.w, 0.0, -1.0, 1.0);
    const Expression n2 = q.x * q.x + q.y * q.y + q.z * q.z, n = sqrt(n2);
    // (2k)!/(4^k k!² (2k + 1)), highest first; below n² = 0.01 the terms left out are under 1e-17.
    double coefficient[10], central = 1.0;
    for (int k = 0; k < 10; ++k) {
        coefficient[k] = central / (2 * k + 1);
        central *= (2.0 * k + 1.0) / (2.0 * k + 2.0);
    }
    Expression series = coefficient[8] + coefficient[9] * n2;
    for (int k = 7; k >= 0; --k) series = series * n2 + coefficient[k];
    const Expression ratio = where_less(n2, 0.01, series, atan2(n, sign * q.w) / n);
    return 2.0 * (sign * ratio * pose.quaternion(axis + 1));
}

const CoordinateRegistration rot_x({"rot_x", rotation_vector<0>, rotation_vector_formula<0>});
const CoordinateRegistration rot_y({"rot_y", rotation_vector<1>, rotation_vector_formula<1>});
const CoordinateRegistration rot_z({"rot_z", rotation_vector<2>, rotation_vector_formula<2>});

}  // namespace

}  // namespace bellcrank
