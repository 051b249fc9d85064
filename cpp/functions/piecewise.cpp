// Kind "piecewise": a piecewise polynomial. Parameters: functions/pieces.hpp with one set of coefficients,
//   order k, pieces n, extrapolation (0 hold, 1 linear, 2 periodic), breaks[n+1], coefficients[n][k] ascending.
// Splines of any degree and tables with linear interpolation are of this kind.
#include <algorithm>

#include "functions/pieces.hpp"

namespace bellcrank {

namespace {

template <class S>
FunctionValueT<S> evaluated(std::span<const S> params, const S& x) {
    const PiecesT<S> pieces(params);
    return pieces.extrapolated(x, [&](int piece, const S& at) { return pieces.polynomial(0, piece, at); });
}

FunctionValue evaluate(std::span<const double> params, double x) { return evaluated(params, x); }

// ∫ of one piece from its break to x.
double piece_integral(const Pieces& pieces, int piece, double x) {
    const double* a = pieces.coefficients(0, piece);
    const double h = x - pieces.breaks()[piece];
    double sum = 0.0;
    for (int i = pieces.order() - 1; i >= 0; --i) sum = sum * h + a[i] / (i + 1);
    return sum * h;
}

// ∫ from a to b, both within the range, a ≤ b.
double inner_integral(const Pieces& pieces, double a, double b) {
    const int first = pieces.find(a), last = pieces.find(b);
    double sum = -piece_integral(pieces, first, a);
    for (int i = first; i < last; ++i) sum += piece_integral(pieces, i, pieces.breaks()[i + 1]);
    return sum + piece_integral(pieces, last, b);
}

// ∫ from the start of the range to x, anywhere.
double integral_from_start(const Pieces& pieces, double x) {
    const double start = pieces.start(), end = pieces.end();
    if (pieces.extrapolation() == Extrapolation::periodic) {
        const double turns = std::floor((x - start) / pieces.span());
        const double whole = turns == 0.0 ? 0.0 : turns * inner_integral(pieces, start, end);
        return whole + inner_integral(pieces, start, std::clamp(x - turns * pieces.span(), start, end));
    }
    const double edge = std::clamp(x, start, end);
    const double inside = inner_integral(pieces, start, edge);
    if (edge == x) return inside;
    const FunctionValue v = pieces.polynomial(0, pieces.find(edge), edge);
    const double slope = pieces.extrapolation() == Extrapolation::linear ? v.d1 : 0.0;
    return inside + (v.f + 0.5 * slope * (x - edge)) * (x - edge);
}

double integral(std::span<const double> params, double x) {
    const Pieces pieces(params);
    const double low = std::min(x, 0.0), high = std::max(x, 0.0);
    // Within the range only the pieces between 0 and x are added: a difference of long sums would lose digits.
    if (low >= pieces.start() && high <= pieces.end())
        return x < 0.0 ? -inner_integral(pieces, low, high) : inner_integral(pieces, low, high);
    return integral_from_start(pieces, x) - integral_from_start(pieces, 0.0);
}

void check(std::span<const double> params) { check_pieces(params, 1, "piecewise"); }

void breaks(std::span<const double> params, double from, double to, std::vector<double>& out) {
    Pieces(params).append_breaks(from, to, out);
}

const FunctionRegistration registration({"piecewise", evaluate, evaluated<Dual4>, integral, check, nullptr, nullptr,
                                         nullptr, breaks});

}  // namespace

}  // namespace bellcrank
