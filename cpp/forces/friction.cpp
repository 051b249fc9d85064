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
struct Friction {
    S viscous, coulomb, stiction, stribeck_velocity, regularisation_velocity;
    BELLCRANK_FIELDS(Friction, (viscous), (coulomb), (stiction), (stribeck_velocity), (regularisation_velocity))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const {
        const S ratio = in.rate / stribeck_velocity;
        const S level = coulomb + (stiction - coulomb) * exp(-(ratio * ratio));
        return -(viscous * in.rate) - level * tanh(in.rate / regularisation_velocity);
    }

    void check(const Function* function) const {
        if (viscous < 0.0 || coulomb < 0.0 || stiction < 0.0)
            throw std::invalid_argument("viscous, coulomb and stiction must not be negative: friction would drive");
        if (!(stribeck_velocity > 0.0)) throw std::invalid_argument("stribeck_velocity must be positive");
        if (!(regularisation_velocity > 0.0))
            throw std::invalid_argument("the regularisation velocity must be positive");
        if (function != nullptr) throw std::invalid_argument("takes no function");
    }
};

const LawRegistration registration(law_kind_of<Friction>("friction"));

}  // namespace

}  // namespace bellcrank
