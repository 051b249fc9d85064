// Kind "table": a nonlinear spring. Parameter damping c; the function of φ is the effort itself.
//   τ = function(φ) − c φ̇,   V = −∫₀^φ function.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>& function) {
    return function(in.value) - p[0] * in.rate;
}

double potential(double value, std::span<const double>, const Function* function) { return -function->integral(value); }

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 1, "damping");
    if (function == nullptr) throw std::invalid_argument("needs a function of the coordinate, the effort");
    if (!function->integrable())
        throw std::invalid_argument("its function has no integral and hence no potential; use a piecewise one");
}

const LawRegistration registration({"table", effort<double>, effort<Expression>, potential, check});

}  // namespace

}  // namespace bellcrank
