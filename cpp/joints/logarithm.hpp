// The logarithm of a relative pose (r, q): the twist (u, φ) that leads there in one unit of time.
//
// With φ the rotation vector, a = |φ|,
//   u = r − ½ φ×r + γ φ×(φ×r),   γ = (1 − (a/2) cot(a/2))/a²
// (J. M. Selig, Geometric Fundamentals of Robotics, 2005, section 4.4). With the quaternion (e0, v), C = v·v =
// sin²(a/2),
//   u = r − f (e0 v)×r + k v×(v×r),   φ = 2 f e0 v,   f = arcsin√C / √(C (1 − C)),   k = (1 − (1 − C) f)/C,
// in which no sign of the quaternion is left. Both f and k are analytic up to half a turn, C = 1, where there is no
// logarithm:
//   f = Σ f_n Cⁿ, f_0 = 1, f_{n+1} = f_n (2n + 2)/(2n + 3);   k = Σ f_n Cⁿ/(2n + 3);   2C(1 − C) f' = 1 − (1 − 2C) f.
#pragma once

#include <array>
#include <cmath>

#include "joints/formula.hpp"

namespace bellcrank {

// γ, as c(a), and d(a) = c'(a)/a as functions of a² below 1.
template <class S>
inline void log_series(const S& a2, S& c, S& d) {
    // 2ζ(2n)/(2π)^{2n}, n = 1..11. Terms fall by a²/39 each: below a = 1 the tail is under 1e-18.
    static constexpr double series[] = {8.3333333333333333e-2,  1.3888888888888889e-3,  3.3068783068783069e-5,
                                        8.2671957671957672e-7,  2.0876756987868099e-8,  5.2841901386874932e-10,
                                        1.3382536530684679e-11, 3.3896802963225829e-13, 8.5860620562778446e-15,
                                        2.1748686985580619e-16, 5.5090028283602295e-18};
    c = d = 0.0 * a2;
    for (int n = 10; n >= 1; --n) {
        c = c * a2 + series[n];
        d = d * a2 + 2.0 * n * series[n];
    }
    c = c * a2 + series[0];
}

// The same of any angle.
template <class S>
inline void log_coefficients(const S& a2, S& c, S& d) {
    using std::cos, std::sin, std::sqrt;
    if (a2 < 1.0) return log_series(a2, c, d);
    const S a = sqrt(a2), s = sin(0.5 * a), g = 0.5 * a * cos(0.5 * a) / s;
    const S slope = g / a - 0.25 * a / (s * s);  // dg/da
    c = (1.0 - g) / a2;
    d = -(slope / a + 2.0 * c) / a2;
}

inline constexpr int kTermsOfLog = 20;
inline constexpr double kSeriesOfLog = 0.1;   // C below which terms left out are under 1e-19
inline constexpr double kToHalfTurn = 1e-20;  // 1 − C at least

inline constexpr auto kSeriesF = [] {
    std::array<double, kTermsOfLog> series{1.0};
    for (int n = 0; n + 1 < kTermsOfLog; ++n) series[n + 1] = series[n] * (2.0 * n + 2.0) / (2.0 * n + 3.0);
    return series;
}();
inline constexpr auto kSeriesK = [] {
    auto series = kSeriesF;
    for (int n = 0; n < kTermsOfLog; ++n) series[n] /= 2.0 * n + 3.0;
    return series;
}();

// Value and two derivatives.
template <class S>
struct Derived {
    S h, h1, h2;
};

template <class S>
Derived<S> sum_of(const std::array<double, kTermsOfLog>& series, const S& C) {
    Derived<S> out{series.back(), 0.0, 0.0};
    for (int n = kTermsOfLog - 2; n >= 0; --n) {
        out.h2 = out.h2 * C + 2.0 * out.h1;
        out.h1 = out.h1 * C + out.h;
        out.h = out.h * C + series[n];
    }
    return out;
}

template <class S>
Derived<S> closed_f(const S& C) {
    using std::atan2, std::sqrt;
    const S rest = 1.0 - C + kToHalfTurn, root = sqrt(C), other = sqrt(rest), twice = 2.0 * C * rest,
            slope = 1.0 - 2.0 * C;
    const S f = atan2(root, other) / (root * other), f1 = (1.0 - slope * f) / twice;
    return {f, f1, (2.0 * f - 3.0 * slope * f1) / twice};
}

template <class S>
Derived<S> closed_k(const S& C) {
    const auto [f, f1, f2] = closed_f(C);
    const S rest = 1.0 - C, k = (1.0 - rest * f) / C, k1 = (f - rest * f1 - k) / C;
    return {k, k1, (2.0 * f1 - rest * f2 - 2.0 * k1) / C};
}

template <class S>
JetT<S> function_f(const JetT<S>& C) {
    const Derived<S> f = C.value < kSeriesOfLog ? sum_of(kSeriesF, C.value) : closed_f(C.value);
    return chain(C, f.h, f.h1, f.h2);
}
template <class S>
JetT<S> function_k(const JetT<S>& C) {
    const Derived<S> k = C.value < kSeriesOfLog ? sum_of(kSeriesK, C.value) : closed_k(C.value);
    return chain(C, k.h, k.h1, k.h2);
}

inline Expression sum_of(const std::array<double, kTermsOfLog>& series, const Expression& C) {
    Expression sum = series[kTermsOfLog - 2] + series[kTermsOfLog - 1] * C;
    for (int n = kTermsOfLog - 3; n >= 0; --n) sum = sum * C + series[n];
    return sum;
}
inline Expression closed_f(const Expression& C) {
    const Expression rest = 1.0 - C, root = sqrt(C), other = sqrt(rest);
    return atan2(root, other) / (root * other);
}
inline Expression function_f(const Expression& C) {
    return where_less(C, kSeriesOfLog, sum_of(kSeriesF, C), closed_f(C));
}
inline Expression function_k(const Expression& C) {
    return where_less(C, kSeriesOfLog, sum_of(kSeriesK, C), (1.0 - (1.0 - C) * closed_f(C)) / C);
}

}  // namespace bellcrank
