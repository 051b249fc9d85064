// Kind "motor": a prescribed effort in time with a droop in speed. Parameter torque_slope s ≥ 0:
//   τ = function(t) − s φ̇.
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Motor {
    S torque_slope;
    BELLCRANK_FIELDS(Motor, (torque_slope))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        return function(in.time) - torque_slope * in.rate;
    }

    void check(const Function* function) const {
        if (function == nullptr) throw std::invalid_argument("needs a function of time, the effort at rest");
    }
};

const LawRegistration registration(law_kind_of<Motor>("motor"));

}  // namespace

}  // namespace bellcrank
