// Numbers that carry their derivatives along four directions, side by side: the scalar that makes of a formula its
// tangent (A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 3). Comparisons are those of values. Where a
// formula has a kink, the derivative is that of the branch that the value takes.
#pragma once

#include <cmath>

namespace bellcrank {

// Directions that are followed side by side, as many as a register of the widest common kind holds. Along them the
// changes of one number stand together: kDirections doubles.
inline constexpr int kDirections = 4;
using Four = double __attribute__((vector_size(kDirections * sizeof(double))));

// Aligned alike wherever it is compiled: without AVX compilers would ask for less.
struct alignas(32) Dual4 {
    double value = 0.0;
    Four d = {};

    Dual4() = default;
    Dual4(double constant) : value(constant) {}
    Dual4(double number, const Four& along) : value(number), d(along) {}
    // Number by number: else compilers copy the gap behind the value too, and wait until it can be loaded.
    Dual4(const Dual4& other) : value(other.value), d(other.d) {}
    Dual4& operator=(const Dual4& other) {
        value = other.value, d = other.d;
        return *this;
    }

    // h(a) from h and h' at a.
    static Dual4 chain(const Dual4& a, double h, double h1) { return {h, h1 * a.d}; }
    // h(a, b) from h and its partial derivatives.
    static Dual4 chain(const Dual4& a, const Dual4& b, double h, double by_a, double by_b) {
        return {h, by_a * a.d + by_b * b.d};
    }

    friend Dual4 operator-(const Dual4& a) { return chain(a, -a.value, -1.0); }
    friend Dual4 operator+(const Dual4& a, const Dual4& b) { return chain(a, b, a.value + b.value, 1.0, 1.0); }
    friend Dual4 operator-(const Dual4& a, const Dual4& b) { return chain(a, b, a.value - b.value, 1.0, -1.0); }
    friend Dual4 operator*(const Dual4& a, const Dual4& b) { return chain(a, b, a.value * b.value, b.value, a.value); }
    friend Dual4 operator/(const Dual4& a, const Dual4& b) {
        const double h = a.value / b.value;
        return chain(a, b, h, 1.0 / b.value, -h / b.value);
    }
    friend Dual4 operator+(const Dual4& a, double b) { return chain(a, a.value + b, 1.0); }
    friend Dual4 operator+(double a, const Dual4& b) { return b + a; }
    friend Dual4 operator-(const Dual4& a, double b) { return chain(a, a.value - b, 1.0); }
    friend Dual4 operator-(double a, const Dual4& b) { return chain(b, a - b.value, -1.0); }
    friend Dual4 operator*(const Dual4& a, double b) { return chain(a, a.value * b, b); }
    friend Dual4 operator*(double a, const Dual4& b) { return b * a; }
    friend Dual4 operator/(const Dual4& a, double b) { return chain(a, a.value / b, 1.0 / b); }
    friend Dual4 operator/(double a, const Dual4& b) { return chain(b, a / b.value, -a / (b.value * b.value)); }
    Dual4& operator+=(const Dual4& b) { return *this = *this + b; }
    Dual4& operator-=(const Dual4& b) { return *this = *this - b; }

    friend bool operator<(const Dual4& a, const Dual4& b) { return a.value < b.value; }
    friend bool operator>(const Dual4& a, const Dual4& b) { return a.value > b.value; }
    friend bool operator<=(const Dual4& a, const Dual4& b) { return a.value <= b.value; }
    friend bool operator>=(const Dual4& a, const Dual4& b) { return a.value >= b.value; }

    friend Dual4 max(const Dual4& a, const Dual4& b) { return a.value > b.value ? a : b; }
    friend Dual4 min(const Dual4& a, const Dual4& b) { return a.value < b.value ? a : b; }
    friend Dual4 sqrt(const Dual4& a) {
        const double h = std::sqrt(a.value);
        return chain(a, h, 0.5 / h);
    }
    friend Dual4 exp(const Dual4& a) {
        const double h = std::exp(a.value);
        return chain(a, h, h);
    }
    friend Dual4 log(const Dual4& a) { return chain(a, std::log(a.value), 1.0 / a.value); }
    friend Dual4 tanh(const Dual4& a) {
        const double h = std::tanh(a.value);
        return chain(a, h, 1.0 - h * h);
    }
    friend Dual4 sin(const Dual4& a) { return chain(a, std::sin(a.value), std::cos(a.value)); }
    friend Dual4 cos(const Dual4& a) { return chain(a, std::cos(a.value), -std::sin(a.value)); }
    friend Dual4 atan2(const Dual4& s, const Dual4& c) {
        const double square = s.value * s.value + c.value * c.value;
        return chain(s, c, std::atan2(s.value, c.value), c.value / square, -s.value / square);
    }
};

// The number without its derivatives.
inline double value_part(double a) { return a; }
inline double value_part(const Dual4& a) { return a.value; }

}  // namespace bellcrank
