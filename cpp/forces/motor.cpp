// Kind "motor": a prescribed effort in time with a droop in speed. Parameter torque_slope s ≥ 0:
//   τ = function(t) − s φ̇.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>& function) {
    return function(in.time) - p[0] * in.rate;
}

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 1, "torque_slope");
    if (function == nullptr) throw std::invalid_argument("needs a function of time, the effort at rest");
}

const LawRegistration registration({"motor", effort<double>, effort<Expression>, nullptr, check});

}  // namespace

}  // namespace bellcrank
