// A number as the sum of two doubles, the second no more than the rounding of the first: 32 digits (T. J. Dekker, A
// Floating-Point Technique for Extending the Available Precision, 1971).
#pragma once

#include <cmath>

namespace bellcrank::recursive {

struct Twofold {
    double high = 0.0, low = 0.0;
    Twofold() = default;
    Twofold(double value) : high(value) {}
    Twofold(double h, double l) : high(h), low(l) {}

    // a + b for |a| ≥ |b|, with its rounding
    static Twofold ordered_sum(double a, double b) {
        const double sum = a + b;
        return {sum, b - (sum - a)};
    }
    static Twofold sum(double a, double b) {
        const double total = a + b, other = total - a;
        return {total, (a - (total - other)) + (b - other)};
    }

    friend Twofold operator-(const Twofold& a) { return {-a.high, -a.low}; }
    friend Twofold operator+(const Twofold& a, const Twofold& b) {
        const Twofold s = sum(a.high, b.high), t = sum(a.low, b.low), u = ordered_sum(s.high, s.low + t.high);
        return ordered_sum(u.high, u.low + t.low);
    }
    friend Twofold operator-(const Twofold& a, const Twofold& b) { return a + (-b); }
    friend Twofold operator*(const Twofold& a, const Twofold& b) {
        const double product = a.high * b.high, rounding = std::fma(a.high, b.high, -product);
        return ordered_sum(product, rounding + (a.high * b.low + a.low * b.high));
    }
    Twofold& operator+=(const Twofold& other) { return *this = *this + other; }
};

}  // namespace bellcrank::recursive
