// Kind "rubber": a string that pulls and never pushes, and pulls less while it shortens. Parameters stiffness k, rest
// φ0, restitution e, closing speed v0:
//   τ = −k d s(φ̇),   d = max(φ − φ0, 0),   V = ½ k d²,
// where s falls from 1 at φ̇ ≥ 0 to e at φ̇ ≤ −v0 along the cubic e + (1 − e)(3 − 2u) u², u = 1 + φ̇/v0, whose slope is 0
// at both ends: with a jump at φ̇ = 0 an integrator does not get through where a structure comes to rest (P. Schröder,
// The Virtual Erector Set, section 7.2). A string at rest has its full tension, and as s ≤ 1 while d shrinks and s = 1
// while it grows, the work that it gives back is never more than the V that it took.
#include <algorithm>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>&) {
    const S stretch = max(in.value - p[1], 0.0);
    return -(p[0] * stretch * (p[2] + (1.0 - p[2]) * smooth_step(1.0 + in.rate / p[3])));
}

double potential(double value, std::span<const double> p, const Function*) {
    const double stretch = std::max(value - p[1], 0.0);
    return 0.5 * p[0] * stretch * stretch;
}

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 4, "stiffness, rest, restitution, closing_speed");
    if (p[0] < 0.0) throw std::invalid_argument("the stiffness must not be negative: the string would push");
    if (!(p[2] >= 0.0 && p[2] <= 1.0)) throw std::invalid_argument("the restitution must lie between 0 and 1");
    if (!(p[3] > 0.0)) throw std::invalid_argument("the closing speed must be positive");
    if (function != nullptr) throw std::invalid_argument("takes no function");
}

const LawRegistration registration({"rubber", effort<double>, effort<Expression>, potential, check});

}  // namespace

}  // namespace bellcrank
