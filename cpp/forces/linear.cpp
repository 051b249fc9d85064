// Kind "linear": spring and damper. Parameters stiffness k, damping c, rest φ0, preload F0; function optional.
//   τ = −k (φ − φ0) − c φ̇ + F0 (+ function(t)),   V = ½ k (φ − φ0)² − F0 (φ − φ0).
// The function of time is a prescribed effort and has no potential.
#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Linear {
    S stiffness, damping, rest, preload;
    BELLCRANK_FIELDS(Linear, (stiffness), (damping), (rest), (preload))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        const S tau = preload - stiffness * (in.value - rest) - damping * in.rate;
        return function ? tau + function(in.time) : tau;
    }

    double potential(double value, const Function*) const {
        const double s = value - rest;
        return (0.5 * stiffness * s - preload) * s;
    }
};

const LawRegistration registration(law_kind_of<Linear>("linear"));

}  // namespace

}  // namespace bellcrank
