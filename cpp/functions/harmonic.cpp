// Kind "harmonic": parameters offset, slope, amplitude, omega, phase;
//   f(x) = offset + slope x + amplitude sin(omega x + phase).
// Its integral from 0 to x is  offset x + slope x²/2 + amplitude (cos phase − cos(omega x + phase))/omega; the last
// term is written as amplitude x sin(phase + omega x/2) sinc(omega x/2), which holds for omega → 0 too.
#include <cmath>
#include <stdexcept>

#include "functions/function.hpp"

namespace bellcrank {

namespace {

using std::sin, std::cos;

template <class S>
FunctionValueT<S> evaluated(std::span<const S> p, const S& x) {
    const S s = sin(p[3] * x + p[4]), c = cos(p[3] * x + p[4]);
    return {p[0] + p[1] * x + p[2] * s, p[1] + p[2] * p[3] * c, -p[2] * p[3] * p[3] * s};
}

FunctionValue evaluate(std::span<const double> p, double x) { return evaluated(p, x); }

double integral(std::span<const double> p, double x) {
    const double half = 0.5 * p[3] * x;
    const double sinc = std::abs(half) < 1e-4 ? 1.0 - half * half / 6.0 : std::sin(half) / half;
    return x * (p[0] + 0.5 * p[1] * x + p[2] * std::sin(p[4] + half) * sinc);
}

void check(std::span<const double> p) {
    if (p.size() != 5)
        throw std::invalid_argument("harmonic function: 5 parameters (offset, slope, amplitude, omega, phase), " +
                                    std::to_string(p.size()) + " given");
    for (const double v : p)
        if (!std::isfinite(v)) throw std::invalid_argument("harmonic function: a parameter is not finite");
}

const FunctionRegistration registration({"harmonic", evaluate, evaluated<Dual4>, integral, check});

}  // namespace

}  // namespace bellcrank
