// Numbers of about 32 digits, as sums of two doubles: T. Dekker, A floating-point technique for extending the available
// precision (1971); Y. Hida, X. Li, D. Bailey, Algorithms for quad-double precision floating point arithmetic (2001).
#pragma once

#include <cmath>

namespace bellcrank {

// hi + lo with |lo| at most half a unit in the last place of hi. Sums have an error relative to their terms.
struct DoubleDouble {
    double hi = 0.0, lo = 0.0;

    DoubleDouble() = default;
    DoubleDouble(double value) : hi(value) {}  // NOLINT: any double is one
    DoubleDouble(double high, double low) : hi(high), lo(low) {}
    explicit operator double() const { return hi; }
};

// a + b exactly, where |a| ≥ |b| or a = 0.
inline DoubleDouble ordered_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}

inline DoubleDouble exact_sum(double a, double b) {
    const double s = a + b, other = s - a;
    return {s, (a - (s - other)) + (b - other)};
}

inline DoubleDouble exact_product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble s = exact_sum(a.hi, b.hi);
    return ordered_sum(s.hi, s.lo + (a.lo + b.lo));
}

inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble p = exact_product(a.hi, b.hi);
    return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator*(const DoubleDouble& a, double b) {
    const DoubleDouble p = exact_product(a.hi, b);
    return ordered_sum(p.hi, p.lo + a.lo * b);
}

inline DoubleDouble operator*(double a, const DoubleDouble& b) { return b * a; }

// One step of Newton's method from the reciprocal in double, and another for its last digits.
inline DoubleDouble reciprocal(const DoubleDouble& a) {
    const double r = 1.0 / a.hi;
    const DoubleDouble once = DoubleDouble(r) + (DoubleDouble(1.0) - a * r) * r;
    return once + (DoubleDouble(1.0) - a * once) * r;
}

inline DoubleDouble& operator+=(DoubleDouble& a, const DoubleDouble& b) { return a = a + b; }
inline DoubleDouble& operator-=(DoubleDouble& a, const DoubleDouble& b) { return a = a - b; }

}  // namespace bellcrank
