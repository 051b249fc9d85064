// Piecewise polynomials in flat parameters, shared by the kinds built on them:
//   order k (coefficients a piece), pieces n, extrapolation (0 hold, 1 linear, 2 periodic), breaks[n+1] (increasing),
//   then `sets` times: per piece k coefficients, ascending powers of (x − break).
#pragma once

#include <cmath>
#include <span>

#include "functions/function.hpp"

namespace bellcrank {

enum class Extrapolation { hold = 0, linear = 1, periodic = 2 };

// S: the scalar of the parameters.
template <class S>
class PiecesT {
  public:
    explicit PiecesT(std::span<const S> params) : p_(params.data()) {}

    int order() const { return static_cast<int>(value_part(p_[0])); }
    int count() const { return static_cast<int>(value_part(p_[1])); }
    Extrapolation extrapolation() const { return static_cast<Extrapolation>(static_cast<int>(value_part(p_[2]))); }
    const S* breaks() const { return p_ + 3; }
    S start() const { return breaks()[0]; }
    S end() const { return breaks()[count()]; }
    S span() const { return end() - start(); }
    const S* coefficients(int set, int piece) const { return p_ + 4 + count() + (set * count() + piece) * order(); }

    // The piece that holds x, by bisection; x outside belongs to the first or last piece.
    int find(const S& x) const {
        const S* b = breaks();
        int low = 0, high = count();
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (x < b[middle] ? high : low) = middle;
        }
        return low;
    }

    // x moved by whole periods into [start, end).
    S wrapped(const S& x) const {
        const S y = x - std::floor(value_part((x - start()) / span())) * span();
        return y < end() ? y : start();
    }

    // Value and derivatives of one polynomial, at x of that piece.
    FunctionValueT<S> polynomial(int set, int piece, const S& x) const {
        const S* a = coefficients(set, piece);
        const S h = x - breaks()[piece];
        S f = 0.0, d1 = 0.0, d2 = 0.0;
        for (int i = order() - 1; i >= 0; --i) {
            d2 = d2 * h + d1;
            d1 = d1 * h + f;
            f = f * h + a[i];
        }
        return {f, d1, 2.0 * d2};
    }

    // Applies the extrapolation rule around inside(piece, x), which evaluates the function within its range.
    template <class Inside>
    FunctionValueT<S> extrapolated(S x, Inside inside) const {
        if (extrapolation() == Extrapolation::periodic) x = wrapped(x);
        if (x >= start() && x <= end()) return inside(find(x), x);
        const S edge = x < start() ? start() : end();
        const FunctionValueT<S> v = inside(find(edge), edge);
        if (extrapolation() == Extrapolation::hold) return {v.f, 0.0, 0.0};
        return {v.f + v.d1 * (x - edge), v.d1, 0.0};
    }

    // Appends the breaks between from and to, of all periods.
    void append_breaks(double from, double to, std::vector<double>& out) const {
        const bool repeats = extrapolation() == Extrapolation::periodic;
        const double first = repeats ? std::floor((from - start()) / span()) : 0.0;
        const double last = repeats ? std::floor((to - start()) / span()) : 0.0;
        for (double turn = first; turn <= last; turn += 1.0)
            for (int i = 0; i <= count(); ++i) {
                const double at = breaks()[i] + turn * span();
                if (at > from && at < to && (!repeats || i < count())) out.push_back(at);
            }
    }

  private:
    const S* p_;
};
using Pieces = PiecesT<double>;

// Throws std::invalid_argument, naming the kind, unless the parameters hold that many sets of coefficients.
void check_pieces(std::span<const double> params, int sets, const std::string& kind);

}  // namespace bellcrank
