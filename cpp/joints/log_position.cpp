// Components log_x, log_y, log_z of the logarithm of a relative pose, the translation of the twist that leads there in
// one unit of time: with rot_x, rot_y, rot_z they are the strain, times the length, of a rod that is bent alike
// everywhere.
//
// With φ the rotation vector, a = |φ|,
//   u = r − ½ φ×r + γ φ×(φ×r),   γ = (1 − (a/2) cot(a/2))/a²
// (J. M. Selig, Geometric Fundamentals of Robotics, 2005, section 4.4). With the quaternion (e0, v), C = v·v =
// sin²(a/2),
//   u = r − f (e0 v)×r + k v×(v×r),   f = arcsin√C / √(C (1 − C)),   k = (1 − (1 − C) f)/C,
// in which no sign of the quaternion is left. Both f and k are analytic up to half a turn, C = 1, where there is no
// logarithm:
//   f = Σ f_n Cⁿ, f_0 = 1, f_{n+1} = f_n (2n + 2)/(2n + 3);   k = Σ f_n Cⁿ/(2n + 3);   2C(1 − C) f' = 1 − (1 − 2C) f.
#include <algorithm>
#include <array>
#include <cmath>

#include "joints/formula.hpp"

namespace bellcrank {

namespace {

constexpr int kTermsOfLog = 20;
constexpr double kSeriesOfLog = 0.1;  // C below which terms left out are under 1e-19
constexpr double kHalfTurn = 1e-20;   // 1 − C at least

constexpr auto kSeriesF = [] {
    std::array<double, kTermsOfLog> series{1.0};
    for (int n = 0; n + 1 < kTermsOfLog; ++n) series[n + 1] = series[n] * (2.0 * n + 2.0) / (2.0 * n + 3.0);
    return series;
}();
constexpr auto kSeriesK = [] {
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
    const S rest = 1.0 - C + kHalfTurn, root = sqrt(C), other = sqrt(rest), twice = 2.0 * C * rest,
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

Expression sum_of(const std::array<double, kTermsOfLog>& series, const Expression& C) {
    Expression sum = series[kTermsOfLog - 2] + series[kTermsOfLog - 1] * C;
    for (int n = kTermsOfLog - 3; n >= 0; --n) sum = sum * C + series[n];
    return sum;
}
Expression closed_f(const Expression& C) {
    const Expression rest = 1.0 - C, root = sqrt(C), other = sqrt(rest);
    return atan2(root, other) / (root * other);
}
Expression function_f(const Expression& C) { return where_less(C, kSeriesOfLog, sum_of(kSeriesF, C), closed_f(C)); }
Expression function_k(const Expression& C) {
    return where_less(C, kSeriesOfLog, sum_of(kSeriesK, C), (1.0 - (1.0 - C) * closed_f(C)) / C);
}

// v×r, component `axis`.
template <int axis>
constexpr auto kAcross = [](auto&& pose) {
    constexpr int j = (axis + 1) % 3, k = (axis + 2) % 3;
    return pose.quaternion(j + 1) * pose.position(k) - pose.quaternion(k + 1) * pose.position(j);
};

template <int axis>
constexpr auto kLogPosition = [](auto&& pose, auto) {
    constexpr int j = (axis + 1) % 3, k = (axis + 2) % 3;
    const auto v = [&](int i) { return pose.quaternion(i + 1); };
    const auto C = v(0) * v(0) + v(1) * v(1) + v(2) * v(2);
    const auto twice = v(j) * kAcross<k>(pose) - v(k) * kAcross<j>(pose);
    return pose.position(axis) - function_f(C) * (pose.quaternion(0) * kAcross<axis>(pose)) + function_k(C) * twice;
};

const CoordinateRegistration log_x(kind_of<kLogPosition<0>>("log_x"));
const CoordinateRegistration log_y(kind_of<kLogPosition<1>>("log_y"));
const CoordinateRegistration log_z(kind_of<kLogPosition<2>>("log_z"));

}  // namespace

}  // namespace bellcrank
