// Kind "rig_quadratic_drag": the resistance of a fluid. Parameters coefficient c, and the speed v0 below which it is
// linear:
//   τ = −c φ̇ sqrt(φ̇² + v0²).
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct QuadraticDrag {
    S coefficient, speed;
    BELLCRANK_FIELDS(QuadraticDrag, (coefficient), (speed))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const {
        return -(coefficient * in.rate * sqrt(in.rate * in.rate + speed * speed));
    }

    void check(const Function*) const {
        if (coefficient < 0.0 || !(speed > 0.0))
            throw std::invalid_argument("drag must not drive, and its speed be positive");
    }
};

LawKind drag_without_formula() {
    LawKind kind = law_kind_of<QuadraticDrag>("rig_drag_without_formula");
    kind.formula = nullptr;
    return kind;
}

const LawRegistration drag_registration(law_kind_of<QuadraticDrag>("rig_quadratic_drag"));
const LawRegistration undivided(drag_without_formula());

}  // namespace

}  // namespace bellcrank
