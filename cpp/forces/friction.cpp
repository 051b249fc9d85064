// Kind "friction": regularised dry friction with Stribeck's fall from stiction, and viscous friction. Parameters
// viscous b, coulomb Fc, stiction Fs, stribeck_velocity vs, regularisation velocity v0:
//   τ = −b φ̇ − F(φ̇) tanh(φ̇/v0),   F(φ̇) = Fc + (Fs − Fc) exp(−(φ̇/vs)²).
// The effort is smooth through φ̇ = 0 and creeps there: |τ| reaches F only at speeds of some v0, so that a body held by
// this law slides at up to about v0.
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>&) {
    const S ratio = in.rate / p[3];
    const S level = p[1] + (p[2] - p[1]) * exp(-(ratio * ratio));
    return -(p[0] * in.rate) - level * tanh(in.rate / p[4]);
}

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 5, "viscous, coulomb, stiction, stribeck_velocity, regularisation velocity");
    if (p[0] < 0.0 || p[1] < 0.0 || p[2] < 0.0)
        throw std::invalid_argument("viscous, coulomb and stiction must not be negative: friction would drive");
    if (!(p[3] > 0.0)) throw std::invalid_argument("stribeck_velocity must be positive");
    if (!(p[4] > 0.0)) throw std::invalid_argument("the regularisation velocity must be positive");
    if (function != nullptr) throw std::invalid_argument("takes no function");
}

const LawRegistration registration({"friction", effort<double>, effort<Expression>, nullptr, check});

}  // namespace

}  // namespace bellcrank
