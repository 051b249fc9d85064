// Polynomials and a sine on neighbouring pieces, of which the motion laws of cams consist. Parameters:
// functions/pieces.hpp with one set of coefficients a, then per piece amplitude A, omega ω and phase:
//   f = Σ a_i h^i + A sin(ω h + phase),   h = x − break.
#pragma once

#include <cmath>

#include "functions/pieces.hpp"

namespace bellcrank {

inline constexpr int kNumbersOfWave = 3;

template <class S>
FunctionValueT<S> waves_at(std::span<const S> params, const S& x) {
    using std::sin, std::cos;
    const PiecesT<S> pieces(params);
    return pieces.extrapolated(x, [&](int piece, const S& at) {
        FunctionValueT<S> v = pieces.polynomial(0, piece, at);
        const S* wave = pieces.coefficients(1, 0) + kNumbersOfWave * piece;
        if (value_part(wave[0]) == 0.0 && value_part(wave[1]) == 0.0) return v;
        const S phase = wave[1] * (at - pieces.breaks()[piece]) + wave[2];
        const S sine = wave[0] * sin(phase), slope = wave[0] * wave[1] * cos(phase);
        v.f = v.f + sine;
        v.d1 = v.d1 + slope;
        v.d2 = v.d2 - wave[1] * wave[1] * sine;
        return v;
    });
}

// Throws std::invalid_argument where the parameters are none of a function of this kind.
void check_waves(std::span<const double> params);

}  // namespace bellcrank
