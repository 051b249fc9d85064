// Numbers that carry their derivatives along a few directions, side by side: the scalar that makes of a formula its
// tangent (A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 3). Comparisons are those of values. Where a
// formula has a kink, the derivative is that of the branch that the value takes.
#pragma once

#include <cmath>

namespace bellcrank {

template <int N>
struct Dual {
    double value = 0.0;
    double d[N] = {};

    Dual() = default;
    Dual(double constant) : value(constant) {}

    // h(a) from h and h' at a.
    static Dual chain(const Dual& a, double h, double h1) {
        Dual out(h);
        for (int k = 0; k < N; ++k) out.d[k] = h1 * a.d[k];
        return out;
    }
    // h(a, b) from h and its partial derivatives.
    static Dual chain(const Dual& a, const Dual& b, double h, double by_a, double by_b) {
        Dual out(h);
        for (int k = 0; k < N; ++k) out.d[k] = by_a * a.d[k] + by_b * b.d[k];
        return out;
    }

    friend Dual operator-(const Dual& a) { return chain(a, -a.value, -1.0); }
    friend Dual operator+(const Dual& a, const Dual& b) { return chain(a, b, a.value + b.value, 1.0, 1.0); }
    friend Dual operator-(const Dual& a, const Dual& b) { return chain(a, b, a.value - b.value, 1.0, -1.0); }
    friend Dual operator*(const Dual& a, const Dual& b) { return chain(a, b, a.value * b.value, b.value, a.value); }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const double h = a.value / b.value;
        return chain(a, b, h, 1.0 / b.value, -h / b.value);
    }
    friend Dual operator+(const Dual& a, double b) { return chain(a, a.value + b, 1.0); }
    friend Dual operator+(double a, const Dual& b) { return b + a; }
    friend Dual operator-(const Dual& a, double b) { return chain(a, a.value - b, 1.0); }
    friend Dual operator-(double a, const Dual& b) { return chain(b, a - b.value, -1.0); }
    friend Dual operator*(const Dual& a, double b) { return chain(a, a.value * b, b); }
    friend Dual operator*(double a, const Dual& b) { return b * a; }
    friend Dual operator/(const Dual& a, double b) { return chain(a, a.value / b, 1.0 / b); }
    friend Dual operator/(double a, const Dual& b) { return chain(b, a / b.value, -a / (b.value * b.value)); }
    Dual& operator+=(const Dual& b) { return *this = *this + b; }
    Dual& operator-=(const Dual& b) { return *this = *this - b; }

    friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
    friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
    friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
    friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }

    friend Dual max(const Dual& a, const Dual& b) { return a.value > b.value ? a : b; }
    friend Dual min(const Dual& a, const Dual& b) { return a.value < b.value ? a : b; }
    friend Dual sqrt(const Dual& a) {
        const double h = std::sqrt(a.value);
        return chain(a, h, 0.5 / h);
    }
    friend Dual exp(const Dual& a) {
        const double h = std::exp(a.value);
        return chain(a, h, h);
    }
    friend Dual tanh(const Dual& a) {
        const double h = std::tanh(a.value);
        return chain(a, h, 1.0 - h * h);
    }
    friend Dual sin(const Dual& a) { return chain(a, std::sin(a.value), std::cos(a.value)); }
    friend Dual cos(const Dual& a) { return chain(a, std::cos(a.value), -std::sin(a.value)); }
    friend Dual atan2(const Dual& s, const Dual& c) {
        const double square = s.value * s.value + c.value * c.value;
        return chain(s, c, std::atan2(s.value, c.value), c.value / square, -s.value / square);
    }
};

// As many directions as a register of the widest common kind holds.
using Dual4 = Dual<4>;

// The number without its derivatives.
inline double value_part(double a) { return a; }
template <int N>
double value_part(const Dual<N>& a) {
    return a.value;
}

}  // namespace bellcrank
