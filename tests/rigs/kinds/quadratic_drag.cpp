// Kind "rig_quadratic_drag": the resistance of a fluid. Parameters coefficient c, and the speed v0 below which it is
// linear:
//   τ = −c φ̇ sqrt(φ̇² + v0²).
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S drag(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>&) {
    return -(p[0] * in.rate * sqrt(in.rate * in.rate + p[1] * p[1]));
}

void check_drag(std::span<const double> p, const Function*) {
    require_parameters(p, 2, "coefficient, speed");
    if (p[0] < 0.0 || !(p[1] > 0.0)) throw std::invalid_argument("drag must not drive, and its speed be positive");
}

const LawRegistration drag_registration({"rig_quadratic_drag", drag<double>, drag<Expression>, nullptr, check_drag});
const LawRegistration undivided({"rig_drag_without_formula", drag<double>, nullptr, nullptr, check_drag});

}  // namespace

}  // namespace bellcrank
