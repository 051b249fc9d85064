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
struct OneSided {
    S stiffness, damping, contact, direction, depth;
    BELLCRANK_FIELDS(OneSided, (stiffness), (damping), (contact), (direction), (depth))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const {
        const S inside = max(direction * (contact - in.value), 0.0);
        const S damped = damping * direction * in.rate * smooth_step(inside / depth);
        return direction * max(stiffness * inside - damped, 0.0);
    }

    double potential(double value, const Function*) const {
        const double inside = std::max(direction * (contact - value), 0.0);
        return 0.5 * stiffness * inside * inside;
    }

    void check(const Function* function) const {
        if (stiffness < 0.0 || damping < 0.0) throw std::invalid_argument("stiffness and damping must not be negative");
        if (std::abs(direction) != 1.0) throw std::invalid_argument("the direction must be 1 or -1");
        if (!(depth > 0.0)) throw std::invalid_argument("the depth over which the damper takes hold must be positive");
        if (function != nullptr) throw std::invalid_argument("takes no function");
    }
};

const LawRegistration registration(law_kind_of<OneSided>("one_sided"));

}  // namespace

}  // namespace bellcrank
