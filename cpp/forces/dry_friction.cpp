// Kinds "dry_friction" and "dry_brake": what slips with the sense σ = ±1 has the effort
//   τ = −b φ̇ − p σ (F(φ̇) + L),   F(φ̇) = Fc + (F0 − Fc) exp(−(φ̇/vs)²),
// with the load L that rows make (closing/friction_loads.hpp), and the part p, 1 but in friction along a sum of
// coordinates, where it is the factor of this one, and vs = 0. In F is a part max(c |φ̇|^(2/3), m) of what is churned,
// as lubricant in a bearing (Palmgren), whose least size m holds as well;
// of a brake τ = −σ max(L(t), 0) with its function of time L; what rests is held up to the effort Fs, or L(t).
// A freewheel has no effort in its direction, and holds against the other without limit. Parameter direction.
// Parameters viscous b, coulomb Fc, start F0, at which slipping begins, holding Fs, stribeck_velocity vs, zero where it
// falls at once or not at all, part p, churned c, least_churned m.
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

constexpr double kAtOnce = 1e-100;  // a speed: beyond it nothing is left of what falls at once

template <class S>
struct DryFriction {
    S viscous, coulomb, start, holding, stribeck_velocity, part, churned, least_churned;
    BELLCRANK_FIELDS(DryFriction, (viscous), (coulomb), (start), (holding), (stribeck_velocity), (part), (churned),
                     (least_churned))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const {
        const S ratio = in.rate / max(stribeck_velocity, kAtOnce);
        const S dry = in.load + coulomb + (start - coulomb) * exp(-(ratio * ratio));
        const S square = max(in.rate * in.rate, kAtOnce), power = churned * exp(log(square) / 3.0);
        return -(viscous * in.rate) - part * in.sense * (dry + max(power, least_churned));
    }

    double holds(const LawFunction<double>&, double, double) const { return holding + least_churned; }
    double fall() const { return stribeck_velocity; }

    void check(const Function* function) const {
        if (viscous < 0.0 || coulomb < 0.0) throw std::invalid_argument("viscous and coulomb must not be negative");
        if (churned < 0.0 || least_churned < 0.0) throw std::invalid_argument("what is churned must not be negative");
        if (start < coulomb || holding < start)
            throw std::invalid_argument("start must not be less than coulomb, nor holding less than start");
        if (stribeck_velocity < 0.0) throw std::invalid_argument("stribeck_velocity must not be negative");
        if (function != nullptr) throw std::invalid_argument("takes no function");
    }
};

// No number of its own, but structs of parameters have one at least.
template <class S>
struct DryBrake {
    S part;  // of the level that acts
    BELLCRANK_FIELDS(DryBrake, (part))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        return -in.sense * (part * max(function(in.time), 0.0));
    }

    double holds(const LawFunction<double>& function, double time, double) const {
        return part * std::max(function(time), 0.0);
    }

    void check(const Function* function) const {
        if (part < 0.0) throw std::invalid_argument("the part must not be negative");
        if (function == nullptr) throw std::invalid_argument("needs a function of time, the level");
    }
};

// A freewheel: nothing while it turns with a direction of 1 or −1, and as much as it takes against the other.
template <class S>
struct Freewheel {
    S direction;
    BELLCRANK_FIELDS(Freewheel, (direction))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const { return 0.0 * in.rate; }

    double holds(const LawFunction<double>&, double, double sense) const {
        return sense * direction < 0.0 ? HUGE_VAL : 0.0;
    }

    void check(const Function* function) const {
        if (std::abs(direction) != 1.0) throw std::invalid_argument("direction must be 1 or -1");
        if (function != nullptr) throw std::invalid_argument("takes no function");
    }
};

const LawRegistration freewheel(law_kind_of<Freewheel>("freewheel"));
const LawRegistration friction(law_kind_of<DryFriction>("dry_friction"));
const LawRegistration brake(law_kind_of<DryBrake>("dry_brake"));

}  // namespace

}  // namespace bellcrank
