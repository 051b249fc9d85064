#include "expression/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bellcrank {

double value_of(Op op, double a) {
    switch (op) {
        case Op::reciprocal:
            return 1.0 / a;
        case Op::square_root:
            return std::sqrt(a);
        case Op::sine:
            return std::sin(a);
        case Op::cosine:
            return std::cos(a);
        case Op::tangent:
            return std::tan(a);
        case Op::arcsine:
            return std::asin(a);
        case Op::arccosine:
            return std::acos(a);
        case Op::arctangent:
            return std::atan(a);
        case Op::hyperbolic_sine:
            return std::sinh(a);
        case Op::hyperbolic_cosine:
            return std::cosh(a);
        case Op::hyperbolic_tangent:
            return std::tanh(a);
        case Op::exponential:
            return std::exp(a);
        case Op::logarithm:
            return std::log(a);
        case Op::absolute:
            return std::abs(a);
        case Op::sign:
            return static_cast<double>((a > 0.0) - (a < 0.0));
        case Op::floor:
            return std::floor(a);
        default:
            throw std::invalid_argument("not a function of one operand");
    }
}

double value_of(Op op, double a, double b) {
    switch (op) {
        case Op::arctangent_2:
            return std::atan2(a + 0.0, b + 0.0);  // zero has no sign here
        case Op::power:
            return std::pow(a, b);
        case Op::minimum:
            return std::min(a, b);
        case Op::maximum:
            return std::max(a, b);
        case Op::less:
            return a < b ? 1.0 : 0.0;
        case Op::less_equal:
            return a <= b ? 1.0 : 0.0;
        default:
            throw std::invalid_argument("not a function of two operands");
    }
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;

double down(double x) { return std::nextafter(x, -kInfinity); }
double up(double x) { return std::nextafter(x, kInfinity); }

// A value from the mathematical library, which may be off by an ulp or two but has the right sign.
double below(double x) { return x - 1e-15 * std::abs(x); }
double above(double x) { return x + 1e-15 * std::abs(x); }

double sum_down(double a, double b) {
    const double s = a + b;
    if (std::isnan(s)) return -kInfinity;
    return s - a == b && s - b == a ? s : down(s);  // exact sums are kept
}

double product_low(double a, double b) {
    if (a == 0.0 || b == 0.0) return 0.0;  // a bound of infinity is not reached
    const double p = a * b;
    return std::fma(a, b, -p) == 0.0 ? p : down(p);
}

double product_high(double a, double b) { return -product_low(-a, b); }

Interval increasing(double (*f)(double), const Interval& a) { return {below(f(a.low)), above(f(a.high)), false}; }

Interval absolute(const Interval& a) {
    if (a.low >= 0.0) return a;
    if (a.high <= 0.0) return {-a.high, -a.low, a.nonzero};
    return {0.0, std::max(-a.low, a.high), a.nonzero};
}

// cos over [low, high]: the extremes kπ inside decide. Slack for the rounding of shifted arguments.
Interval cosine(double low, double high) {
    if (!(high - low < 2.0 * kPi) || std::abs(low) > 1e3 || std::abs(high) > 1e3) return {-1.0, 1.0, false};
    const double first = std::cos(low), last = std::cos(high), slack = 1e-12;
    Interval range{std::min(first, last) - slack, std::max(first, last) + slack, false};
    for (double k = std::floor(low / kPi) - 1.0; k * kPi <= high + slack; k += 1.0) {
        if (k * kPi < low - slack) continue;
        if (std::fmod(std::abs(k), 2.0) == 0.0) {
            range.high = 1.0;
        } else {
            range.low = -1.0;
        }
    }
    const bool right = low >= -kPi / 2 && high <= kPi / 2;  // the double is less than π/2
    return {std::max(range.low, right ? 0.0 : -1.0), std::min(range.high, 1.0), right};
}

Interval sine(const Interval& a) {
    Interval range = cosine(a.low - kPi / 2, a.high - kPi / 2);
    if (a.low >= 0.0 && a.high <= kPi) range.low = std::max(range.low, 0.0);
    if (a.high <= 0.0 && a.low >= -kPi) range.high = std::min(range.high, 0.0);
    range.nonzero = a.is_nonzero() && a.high <= kPi && a.low >= -kPi;  // π itself is not a double
    return range;
}

double hyperbolic_tangent(double x) { return std::tanh(x); }

}  // namespace

Interval interval_sum(const Interval& a, const Interval& b) {
    const bool one_sign = (a.low >= 0.0 && b.low >= 0.0) || (a.high <= 0.0 && b.high <= 0.0);
    return {sum_down(a.low, b.low), -sum_down(-a.high, -b.high), one_sign && (a.is_nonzero() || b.is_nonzero())};
}

Interval interval_product(const Interval& a, const Interval& b, bool same) {
    const bool nonzero = a.is_nonzero() && b.is_nonzero();
    if (same) {
        const Interval m = absolute(a);
        return {product_low(m.low, m.low), product_high(m.high, m.high), nonzero};
    }
    return {std::min({product_low(a.low, b.low), product_low(a.low, b.high), product_low(a.high, b.low),
                      product_low(a.high, b.high)}),
            std::max({product_high(a.low, b.low), product_high(a.low, b.high), product_high(a.high, b.low),
                      product_high(a.high, b.high)}),
            nonzero};
}

Interval interval_reciprocal(const Interval& a) {
    if (a.low > 0.0 || a.high < 0.0) return {down(1.0 / a.high), up(1.0 / a.low), true};
    if (a.low >= 0.0) return {std::max(0.0, down(1.0 / a.high)), kInfinity, true};
    if (a.high <= 0.0) return {-kInfinity, std::min(0.0, up(1.0 / a.low)), true};
    return {-kInfinity, kInfinity, true};
}

Interval interval_of_function(Op op, const Interval& a) {
    switch (op) {
        case Op::square_root: {
            const double high = a.high <= 0.0 ? 0.0 : up(std::sqrt(a.high));
            return {a.low <= 0.0 ? 0.0 : down(std::sqrt(a.low)), high, a.is_nonzero()};
        }
        case Op::sine:
            return sine(a);
        case Op::cosine:
            return cosine(a.low, a.high);
        case Op::tangent:
            return {-kInfinity, kInfinity, a.is_nonzero() && a.high <= kPi / 2 && a.low >= -kPi / 2};
        case Op::arcsine:
            return {a.low >= 0.0 ? 0.0 : -kPi / 2, a.high <= 0.0 ? 0.0 : up(kPi / 2), a.is_nonzero()};
        case Op::arccosine:
            return {0.0, up(kPi), a.high < 1.0};
        case Op::arctangent: {
            const Interval range = increasing(std::atan, a);
            return {range.low, range.high, a.is_nonzero()};
        }
        case Op::hyperbolic_sine:
            return {a.low >= 0.0 ? 0.0 : -kInfinity, a.high <= 0.0 ? 0.0 : kInfinity, a.is_nonzero()};
        case Op::hyperbolic_cosine:
            return {1.0, kInfinity, true};
        case Op::hyperbolic_tangent: {
            const Interval range = increasing(hyperbolic_tangent, a);
            return {std::max(-1.0, range.low), std::min(1.0, range.high), a.is_nonzero()};
        }
        case Op::exponential:
            return {std::max(0.0, below(std::exp(a.low))), above(std::exp(a.high)), true};
        case Op::logarithm:
            return {a.low > 0.0 ? below(std::log(a.low)) : -kInfinity,
                    a.high > 0.0 ? above(std::log(a.high)) : kInfinity, false};
        case Op::absolute:
            return absolute(a);
        case Op::sign:
            return {a.low > 0.0    ? 1.0
                    : a.low >= 0.0 ? 0.0
                                   : -1.0,
                    a.high < 0.0    ? -1.0
                    : a.high <= 0.0 ? 0.0
                                    : 1.0,
                    a.is_nonzero()};
        case Op::floor:
            return {std::floor(a.low), std::floor(a.high), false};
        default:
            return {};
    }
}

Interval interval_of_function(Op op, const Interval& a, const Interval& b) {
    switch (op) {
        case Op::arctangent_2:
            return {a.low >= 0.0 ? 0.0 : down(-kPi), a.high < 0.0 ? 0.0 : up(kPi), a.is_nonzero() || b.is_negative()};
        case Op::power:
            if (a.low >= 0.0) return {0.0, kInfinity, a.is_nonzero()};
            return {};
        case Op::minimum:
            return {std::min(a.low, b.low), std::min(a.high, b.high), a.is_nonzero() && b.is_nonzero()};
        case Op::maximum:
            return {std::max(a.low, b.low), std::max(a.high, b.high), a.is_nonzero() && b.is_nonzero()};
        case Op::less:
        case Op::less_equal:
            return {0.0, 1.0, false};
        default:
            return {};
    }
}

Interval interval_union(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.is_nonzero() && b.is_nonzero()};
}

}  // namespace bellcrank
