// Kind "one_sided": a spring and damper that acts on one side of a value only, and never pulls there. Parameters
// stiffness k, damping c, contact φ0, direction σ (+1: it acts below φ0 and pushes up; −1: the other way), depth δ:
//   τ = σ max(k d + c ḋ w(d/δ), 0),   d = max(σ (φ0 − φ), 0),   V = ½ k d²,
// where w(u) = (3 − 2u) u² rises from 0 to 1 on 0 ≤ u ≤ 1, so that the damper takes hold over a depth δ: a body that
// arrives at a speed meets no jump of the force.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>&) {
    const S depth = max(p[3] * (p[2] - in.value), 0.0);
    const S damped = p[1] * p[3] * in.rate * smooth_step(depth / p[4]);
    return p[3] * max(p[0] * depth - damped, 0.0);
}

double potential(double value, std::span<const double> p, const Function*) {
    const double depth = std::max(p[3] * (p[2] - value), 0.0);
    return 0.5 * p[0] * depth * depth;
}

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 5, "stiffness, damping, contact, direction, depth");
    if (p[0] < 0.0 || p[1] < 0.0) throw std::invalid_argument("stiffness and damping must not be negative");
    if (std::abs(p[3]) != 1.0) throw std::invalid_argument("the direction must be 1 or -1");
    if (!(p[4] > 0.0)) throw std::invalid_argument("the depth over which the damper takes hold must be positive");
    if (function != nullptr) throw std::invalid_argument("takes no function");
}

const LawRegistration registration({"one_sided", effort<double>, effort<Expression>, potential, check});

}  // namespace

}  // namespace bellcrank
