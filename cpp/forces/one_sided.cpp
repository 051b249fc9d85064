// Kind "one_sided": what acts on one side of a value only, pushes away from it, and never pulls: soft stops, bump
// stops, bearings with clearance. Parameters stiffness k, damping c, contact φ0, direction σ (+1: it acts below φ0 and
// pushes up; −1: the other way), depth δ, exponent n, loss β, loss speed v0; F, its function of the depth d, may be
// missing:
//   τ = σ max((k dⁿ + F(d)) (1 + β g(ḋ/v0)) + c ḋ w(d/δ), 0),   d = max(σ (φ0 − φ), 0),   V = k dⁿ⁺¹/(n + 1) + ∫₀ᵈ F,
// where w(u) = (3 − 2u) u² rises from 0 to 1 on 0 ≤ u ≤ 1, so that the damper takes hold over a depth δ: a body that
// arrives at a speed meets no jump of the force; and g(u) = ½ u (3 − u²) rises from −1 to 1 on |u| ≤ 1: beyond the
// speed v0 the load is 1 + β of the elastic one on the way in and 1 − β on the way out, at any speed and depth, so that
// a stroke and its return lose 2 β V (hysteresis of rubber, of a loss factor 2 β V / 2π V = β/π), and at rest it is
// elastic.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

// dⁿ, for which a depth of 0 is as good as the least one.
template <class S>
S power(const S& depth, const S& exponent) {
    if constexpr (std::is_same_v<S, double>)
        if (exponent == 1.0) return depth;
    return depth * exp((exponent - 1.0) * log(max(depth, S(0.0 * depth + 1e-300))));
}

template <class S>
struct OneSided {
    S stiffness, damping, contact, direction, depth, exponent, loss, loss_speed;
    BELLCRANK_FIELDS(OneSided, (stiffness), (damping), (contact), (direction), (depth), (exponent), (loss),
                     (loss_speed))

    S effort(const LawInput<S>& in, const LawFunction<S>& function) const {
        const S inside = max(direction * (contact - in.value), 0.0), deepening = -(direction * in.rate);
        S elastic = stiffness * power(inside, exponent);
        if (function) elastic = elastic + function(inside);
        const S u = min(max(deepening / loss_speed, -1.0), 1.0);
        const S load = elastic * (1.0 + loss * (0.5 * u * (3.0 - u * u)));
        return direction * max(load + damping * deepening * smooth_step(inside / depth), 0.0);
    }

    double potential(double value, const Function* function) const {
        const double inside = std::max(direction * (contact - value), 0.0);
        const double held = function == nullptr ? 0.0 : function->integral(inside);
        return stiffness * inside * power(inside, exponent) / (exponent + 1.0) + held;
    }

    void check(const Function* function) const {
        if (stiffness < 0.0 || damping < 0.0) throw std::invalid_argument("stiffness and damping must not be negative");
        if (std::abs(direction) != 1.0) throw std::invalid_argument("the direction must be 1 or -1");
        if (!(depth > 0.0)) throw std::invalid_argument("the depth over which the damper takes hold must be positive");
        if (!(exponent > 0.0)) throw std::invalid_argument("the exponent must be positive");
        if (!(std::abs(loss) <= 1.0)) throw std::invalid_argument("the loss must lie between -1 and 1");
        if (!(loss_speed > 0.0)) throw std::invalid_argument("the speed of the loss must be positive");
        if (function != nullptr && !function->integrable())
            throw std::invalid_argument("its function has no integral and hence no potential; use a piecewise one");
    }
};

const LawRegistration registration(law_kind_of<OneSided>("one_sided"));

}  // namespace

}  // namespace bellcrank
