// Kind "gas": gas behind a piston, compressed along a polytrope. Parameters force F0 at a column of length h0, wall w
// (the φ at which the column has no length), exponent n (1: isothermal, 1.4: adiabatic air, 0: constant pressure),
// direction σ (+1: the column grows with φ and pushes it up; −1: the other way):
//   τ = σ F0 (h0/h)ⁿ,   h = σ (φ − w),   V = F0 h0 ((h0/h)ⁿ⁻¹ − 1)/(n − 1),  which is F0 h0 ln(h0/h) at n = 1.
// V grows without bound as h falls to 0, for n ≥ 1. At h ≤ 0 the effort is no number, and the run says so.
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
struct Gas {
    S force, column, wall, exponent, direction;
    BELLCRANK_FIELDS(Gas, (force), (column), (wall), (exponent), (direction))

    S effort(const LawInput<S>& in, const LawFunction<S>&) const {
        return direction * force * exp(exponent * log(column / (direction * (in.value - wall))));
    }

    double potential(double value, const Function*) const {
        const double compression = std::log(column / (direction * (value - wall))), above = exponent - 1.0;
        return force * column * (above == 0.0 ? compression : std::expm1(above * compression) / above);
    }

    void check(const Function* function) const {
        if (force < 0.0) throw std::invalid_argument("the force must not be negative: gas pushes");
        if (!(column > 0.0)) throw std::invalid_argument("the column of gas must have a length");
        if (exponent < 0.0) throw std::invalid_argument("the exponent must not be negative");
        if (std::abs(direction) != 1.0) throw std::invalid_argument("the direction must be 1 or -1");
        if (function != nullptr) throw std::invalid_argument("takes no function");
    }
};

const LawRegistration registration(law_kind_of<Gas>("gas"));

}  // namespace

}  // namespace bellcrank
