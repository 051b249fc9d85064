// Kind "linear": spring and damper. Parameters stiffness k, damping c, rest φ0, preload F0; function optional.
//   τ = −k (φ − φ0) − c φ̇ + F0 (+ function(t)),   V = ½ k (φ − φ0)² − F0 (φ − φ0).
// The function of time is a prescribed effort and has no potential.
#include "forces/law.hpp"

namespace bellcrank {

namespace {

double effort(const LawInput& in, std::span<const double> p, const Function* function) {
    const double tau = -p[0] * (in.value - p[2]) - p[1] * in.rate + p[3];
    return function != nullptr ? tau + (*function)(in.time).f : tau;
}

double potential(const LawInput& in, std::span<const double> p, const Function*) {
    const double s = in.value - p[2];
    return (0.5 * p[0] * s - p[3]) * s;
}

void check(std::span<const double> p, const Function*) {
    require_parameters(p, 4, "stiffness, damping, rest, preload");
}

const LawRegistration registration({"linear", effort, potential, check});

}  // namespace

}  // namespace bellcrank
