// Kind "stepper": the torque with which a hybrid stepper pulls its rotor to the angle that its phases command.
// Parameters hold H, poles p (electrical angles in one turn), corner ωc, damping c; the function of time is the
// commanded φ:
//   τ = −H sin(p (φ − function(t)))/√(1 + (φ̇/ωc)²) − c φ̇.
// In phases of resistance R and inductance L at constant voltage the sinusoidal current falls as 1/√(1 + (p φ̇ L/R)²),
// so that ωc = R/(p L). Beyond a quarter of an electrical turn behind its command the rotor falls out of step.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Stepper {
    S hold, poles, corner, damping;
    BELLCRANK_FIELDS(Stepper, (hold), (poles), (corner), (damping))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        const S behind = in.value - function(in.time), fast = in.rate / corner;
        return -(hold * sin(poles * behind)) / sqrt(1.0 + fast * fast) - damping * in.rate;
    }

    void check(const Function* function) const {
        if (hold < 0.0 || damping < 0.0) throw std::invalid_argument("hold and damping must not be negative");
        if (poles == 0.0 || !(corner > 0.0)) throw std::invalid_argument("poles and corner must not be zero");
        if (function == nullptr) throw std::invalid_argument("needs a function of time, the commanded angle");
    }
};

const LawRegistration registration(law_kind_of<Stepper>("stepper"));

}  // namespace

}  // namespace bellcrank
