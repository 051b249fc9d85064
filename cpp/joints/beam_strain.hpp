// Coordinates beam_1 to beam_6 of two neighbouring cross-sections of an elastic beam: six numbers y with ½ |y|² its
// strain energy, so that laws of stiffness 1 along them are the beam.
//
// ε = log(g₁⁻¹ g₂) is the strain, times the length h, of a segment that is strained alike everywhere. With the
// flexibility C of a unit of length and the unloaded strain ξ⁰ the energy would be ½ dᵀ (hC)⁻¹ d, d = ε − h ξ⁰. But
// where the ends carry loads F = (n, m), equilibrium makes them differ along the segment,
//   F' = A F,   A = −[[κ^, 0], [Γ^, κ^]],   (Γ, κ) = ε/h.
// The complementary energy of F(s) = F + s A F is ½ Fᵀ f F, with the flexibility
//   f = h C + (h³/12) Aᵀ C A = L Lᵀ,
// which leaves an error of fourth order. So the energy is ½ dᵀ f⁻¹ d, and
//   y = L⁻¹ d.
// Where flexibility and unloaded strain change along the segment with slopes C₁ and ξ⁰₁ (docs/theory/beams.md, 2),
//   f = h (C − W) + (h³/12) (Aᵀ C A + C₁ A + Aᵀ C₁),   W = (h²/12) (C N + Nᵀ C),   N x = A(x)ᵀ ξ⁰₁.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "joints/coordinate.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

// The number of a coordinate of a beam from 0, or −1.
int beam_number(const CoordinateKind& kind);

inline constexpr int kBeamParams = 28;        // h; C, its upper triangle by rows; ξ⁰
inline constexpr int kVariedBeamParams = 70;  // and C₁ and W, their upper triangles

constexpr int place_in_triangle(int i, int j) {
    const int a = std::min(i, j), b = std::max(i, j);
    return a * 6 - a * (a - 1) / 2 + b - a;
}
// Where entry (i, j) stands among the parameters.
constexpr int place_of_flexibility(int i, int j) { return 1 + place_in_triangle(i, j); }
constexpr int place_of_slope(int i, int j) { return kBeamParams + place_in_triangle(i, j); }
constexpr int place_of_change(int i, int j) { return kBeamParams + 21 + place_in_triangle(i, j); }

template <class S>
bool is_varied(std::span<const S> params) {
    return params.size() == kVariedBeamParams;
}
inline bool is_same(double a, double b) { return a == b; }
inline bool is_same(const Dual4& a, const Dual4& b) {
    return a.value == b.value && std::equal(&a.d[0], &a.d[0] + kDirections, &b.d[0]);
}

// Whether f is no more than its first two parts, with a C that is diagonal.
template <class S>
bool is_diagonal(std::span<const S> params) {
    if (is_varied(params)) return false;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j)
            if (!is_same(params[place_of_flexibility(i, j)], S(0.0))) return false;
    return true;
}

template <class Number>
using SixOf = std::array<Number, 6>;

// Calls at(0), at(1), ... with constants.
template <int count, class Visit>
void unrolled(const Visit& at) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        (at(std::integral_constant<int, i>{}), ...);
    }(std::make_integer_sequence<int, count>{});
}

// The columns of B = −h A: those of forces n are (φ×, u×), of moments m (0, φ×).
// at: of row and number for each entry that is not zero.
template <int column, class Number, class Visit>
void for_each_of_column(const SixOf<Number>& strain, const Visit& at) {
    constexpr int j = column % 3, a = (j + 1) % 3, b = (j + 2) % 3;
    const Number *u = strain.data(), *phi = u + 3;
    // w × e_j has −w_a at b and w_b at a.
    constexpr int first = column < 3 ? 0 : 3;
    at(std::integral_constant<int, first + a>{}, phi[b], 1.0);
    at(std::integral_constant<int, first + b>{}, phi[a], -1.0);
    if constexpr (column < 3) {
        at(std::integral_constant<int, 3 + a>{}, u[b], 1.0);
        at(std::integral_constant<int, 3 + b>{}, u[a], -1.0);
    }
}

// Whether a column of A has an entry in a row.
constexpr bool is_in_column(int row, int column) { return row % 3 != column % 3 && (row >= 3 || column < 3); }

// f, its lower triangle.
template <bool diagonal, class Number, class S>
void flexibility(const SixOf<Number>& strain, std::span<const S> params, SixOf<SixOf<Number>>& f) {
    const S h = params[0], twelfth = h / 12.0, slope = h * twelfth;
    const Number zero = 0.0 * strain[0];
    const bool varied = !diagonal && is_varied(params);
    unrolled<6>([&](auto j) {
        SixOf<Number> image;  // of a column, by C; and by C₁
        for (int i = 0; i < 6; ++i) image[i] = varied ? zero + (-1.0 * slope) * params[place_of_slope(i, j)] : zero;
        for_each_of_column<j>(strain, [&](auto row, const Number& entry, double sign) {
            if constexpr (diagonal)
                image[row] = (sign * twelfth * params[place_of_flexibility(row, row)]) * entry;
            else
                for (int i = 0; i < 6; ++i)
                    image[i] = image[i] + (sign * twelfth * params[place_of_flexibility(i, row)]) * entry;
        });
        unrolled<j + 1>([&](auto i) {
            f[j][i] = zero;
            if constexpr (!diagonal || i == j) f[j][i] = f[j][i] + h * params[place_of_flexibility(j, i)];
            for_each_of_column<i>(strain, [&](auto row, const Number& entry, double sign) {
                if constexpr (!diagonal || is_in_column(row, j)) f[j][i] = f[j][i] + sign * (entry * image[row]);
            });
            if (!varied) return;
            f[j][i] = f[j][i] + (-1.0 * h) * params[place_of_change(j, i)];
            for_each_of_column<j>(strain, [&](auto row, const Number& entry, double sign) {
                f[j][i] = f[j][i] + (-sign * slope * params[place_of_slope(i, row)]) * entry;
            });
        });
    });
}

// Cholesky's factor, its diagonal inverted, and forward substitution.
template <class Number>
void solve_lower(SixOf<SixOf<Number>>& f, SixOf<Number>& y, int count) {
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < j; ++i) {
            for (int k = 0; k < i; ++k) f[j][i] = f[j][i] - f[j][k] * f[i][k];
            f[j][i] = f[j][i] * f[i][i];
        }
        for (int k = 0; k < j; ++k) {
            f[j][j] = f[j][j] - f[j][k] * f[j][k];
            y[j] = y[j] - f[j][k] * y[k];
        }
        f[j][j] = inverse_root(f[j][j]);
        y[j] = y[j] * f[j][j];
    }
}

// The first `count` of y, in place of ε, and Cholesky's factor of f.
template <bool diagonal, class Number, class S>
void beam_strains(SixOf<Number>& strain, std::span<const S> params, int count, SixOf<SixOf<Number>>& f) {
    flexibility<diagonal>(strain, params, f);
    for (int i = 0; i < 6; ++i) strain[i] = strain[i] + (-1.0 * params[0]) * params[22 + i];
    solve_lower(f, strain, count);
}
template <bool diagonal = false, class Number, class S>
void beam_strains(SixOf<Number>& strain, std::span<const S> params, int count = 6) {
    SixOf<SixOf<Number>> f;
    beam_strains<diagonal>(strain, params, count, f);
}

}  // namespace bellcrank
