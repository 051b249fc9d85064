// Least squares of six equations, as the twists of a few columns against a twist, without allocation.
#pragma once

#include <cmath>

namespace bellcrank {

// The x of least ‖A x − b‖. A: (6, count) by columns, at most six of them, which may depend on one another; b: (6).
void solve_six(const double* A, int count, const double* b, double* x);
// The same for independent columns; not finite where they are not.
void solve_six_independent(const double* A, int count, const double* b, double* x);

// The pseudoinverse, (count, 6) by rows; false where columns may depend on one another.
bool invert_six(const double* A, int count, double* inverse);

// A = Q₁ R of independent columns, Q = (Q₁, N): pseudoinverse A⁺ = R⁻¹ Q₁ᵀ, (count, 6) by rows, and N, (6, 6 − count)
// by columns, an orthonormal basis of what A does not reach. Householder's reflections H_c = 1 − τ v vᵀ, Q = H₁ … H_n
// (Golub, Van Loan, Matrix Computations, 2013, algorithm 5.2.1), over numbers with derivatives as well.
template <class S>
void decompose_six(const S* A, int count, S* pseudoinverse, S* N) {
    using std::sqrt;
    S R[36], v[36], Q[36], tau[6];
    for (int i = 0; i < 6 * count; ++i) R[i] = A[i];
    const auto reflect = [&](int c, S* column) {
        S along = column[c];
        for (int i = c + 1; i < 6; ++i) along += v[6 * c + i] * column[i];
        along = tau[c] * along;
        column[c] -= along;
        for (int i = c + 1; i < 6; ++i) column[i] -= along * v[6 * c + i];
    };
    for (int c = 0; c < count; ++c) {
        S* column = R + 6 * c;
        S square = 0.0;
        for (int i = c; i < 6; ++i) square += column[i] * column[i];
        const S head = column[c], length = sqrt(square), end = head < S(0.0) ? length : -length;
        tau[c] = (end - head) / end;
        for (int i = c + 1; i < 6; ++i) v[6 * c + i] = column[i] / (head - end);
        column[c] = end;
        for (int k = c + 1; k < count; ++k) reflect(c, R + 6 * k);
    }
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < 6; ++i) Q[6 * k + i] = i == k ? 1.0 : 0.0;
        for (int c = count - 1; c >= 0; --c) reflect(c, Q + 6 * k);
    }
    for (int i = count - 1; i >= 0; --i)
        for (int k = 0; k < 6; ++k) {
            S left = Q[6 * i + k];
            for (int j = i + 1; j < count; ++j) left -= R[6 * j + i] * pseudoinverse[6 * j + k];
            pseudoinverse[6 * i + k] = left / R[6 * i + i];
        }
    for (int i = 6 * count; i < 36; ++i) N[i - 6 * count] = Q[i];
}

}  // namespace bellcrank
