// Kind "servo": an effort that is demanded and delivered within the limits of an electric motor. Parameters stiffness
// k, damping c, peak P, stall T, no_load ω0; the function of time is the part of the demand that does not depend on
// motion:
//   d = function(t) − k φ − c φ̇,   p = min(max(d, −P), P),   τ = min(max(p, −T − s φ̇), T − s φ̇),   s = T/ω0.
// P is the limit of the current, T ∓ s φ̇ that of the voltage, whose part against the back EMF grows with speed: above
// ω0 a motor brakes whatever is demanded.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Servo {
    S stiffness, damping, peak, stall, no_load;
    BELLCRANK_FIELDS(Servo, (stiffness), (damping), (peak), (stall), (no_load))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        const S demand = function(in.time) - stiffness * in.value - damping * in.rate;
        const S held = min(max(demand, -peak), peak), lost = stall * (in.rate / no_load);
        return min(max(held, -stall - lost), stall - lost);
    }

    void check(const Function* function) const {
        if (stiffness < 0.0 || damping < 0.0) throw std::invalid_argument("stiffness and damping must not be negative");
        if (!(peak > 0.0 && stall > 0.0 && no_load > 0.0))
            throw std::invalid_argument("peak, stall and no_load must be positive");
        if (function == nullptr) throw std::invalid_argument("needs a function of time, the demand at rest");
    }
};

const LawRegistration registration(law_kind_of<Servo>("servo"));

}  // namespace

}  // namespace bellcrank
