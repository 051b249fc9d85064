// Kind "rational": a quotient of two piecewise polynomials on the same breaks, as a component of a NURBS curve is.
// Parameters: functions/pieces.hpp with two sets of coefficients, numerator then denominator,
//   order k, pieces n, extrapolation (0 hold, 1 linear, 2 periodic), breaks[n+1], N[n][k], D[n][k] ascending.
// f = N/D, hence f D = N gives  f' = (N' − f D')/D  and  f'' = (N'' − 2 f' D' − f D'')/D.
// It offers no integral (the antiderivative holds logarithms of D's roots): a law that needs a potential refuses it
// when the model is built.
#include <cmath>
#include <stdexcept>

#include "functions/pieces.hpp"

namespace bellcrank {

namespace {

template <class S>
FunctionValueT<S> evaluated(std::span<const S> params, const S& x) {
    const PiecesT<S> pieces(params);
    return pieces.extrapolated(x, [&](int piece, const S& at) {
        const FunctionValueT<S> n = pieces.polynomial(0, piece, at), d = pieces.polynomial(1, piece, at);
        FunctionValueT<S> v;
        v.f = n.f / d.f;
        v.d1 = (n.d1 - v.f * d.d1) / d.f;
        v.d2 = (n.d2 - 2.0 * v.d1 * d.d1 - v.f * d.d2) / d.f;
        return v;
    });
}

FunctionValue evaluate(std::span<const double> params, double x) { return evaluated(params, x); }

void check(std::span<const double> params) {
    check_pieces(params, 2, "rational");
    const Pieces pieces(params);
    for (int i = 0; i < pieces.count(); ++i) {
        const double a = pieces.breaks()[i], b = pieces.breaks()[i + 1];
        for (int j = 0; j <= 8; ++j) {
            const double x = a + (b - a) * j / 8.0;
            if (!(pieces.polynomial(1, i, x).f > 0.0))
                throw std::invalid_argument("rational function: the denominator is not positive at x = " +
                                            std::to_string(x));
        }
    }
}

void breaks(std::span<const double> params, double from, double to, std::vector<double>& out) {
    Pieces(params).append_breaks(from, to, out);
}

const FunctionRegistration registration({"rational", evaluate, evaluated<Dual4>, nullptr, check, nullptr, nullptr,
                                         nullptr, breaks});

}  // namespace

}  // namespace bellcrank
