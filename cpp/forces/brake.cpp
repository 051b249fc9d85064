// Kind "brake": regularised dry friction of a commanded level. Parameter regularisation velocity v0; the function of
// time is the level L:
//   τ = −max(L(t), 0) tanh(φ̇/v0).
// A level below 0, as an interpolating spline may undershoot, counts as a released brake: a brake never drives.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Brake {
    S regularisation_velocity;
    BELLCRANK_FIELDS(Brake, (regularisation_velocity))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        return -(max(function(in.time), 0.0) * tanh(in.rate / regularisation_velocity));
    }

    void check(const Function* function) const {
        if (!(regularisation_velocity > 0.0))
            throw std::invalid_argument("the regularisation velocity must be positive");
        if (function == nullptr) throw std::invalid_argument("needs a function of time, the friction level");
    }
};

const LawRegistration registration(law_kind_of<Brake>("brake"));

}  // namespace

}  // namespace bellcrank
