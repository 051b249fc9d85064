#include "expression/numbers.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace bellcrank
