// Derivatives of the accelerations at a state.
#include <Eigen/Core>

#include "formulations/symbolic.hpp"
#include "matrices/least_squares.hpp"

namespace bellcrank {

// The accelerations and factors of M and the rows at a state.
std::vector<double> Symbolic::factored_at(double t, const double* x, const double* u) {
    const int n = tangent_size();
    std::vector<double> udot(n), b(n);
    accelerate(t, x, u, udot.data());
    if (is_open()) {
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(n, n);
        mass_matrix(t, x, u, M.data(), b.data());
        closure_.M = M;
        closure_.J.setZero();
        factor();
    }
    return udot;
}

// From M δu̇ − Jᵀ δλ = δτ − δr and J δu̇ = −δs, the residuals' changes at fixed u̇ and λ.
void Symbolic::linearize(double t, const double* x, const double* u, double* out) {
    const int n = tangent_size(), m = static_cast<int>(equations_->rows.size());
    const std::vector<double> udot = factored_at(t, x, u);
    const double* residual = run("linearization", t, x, u, udot.data());
    for (int column = 0; column < 3 * n; ++column) {
        Eigen::VectorXd force(n), rows(m);
        for (int i = 0; i < n; ++i)
            force[i] = column < 2 * n ? -residual[2 * n * i + column] : (i == column - 2 * n ? 1.0 : 0.0);
        for (int i = 0; i < m; ++i) rows[i] = column < 2 * n ? -residual[2 * n * (n + i) + column] : 0.0;
        closure_.solve(force, rows);
        for (int i = 0; i < n; ++i) out[3 * n * i + column] = closure_.a[i];
    }
}

// Coordinates move by δq = A ξ with a displacement, and q̇ = A u: so A ξ̇ = A δu + ((∂q̇/∂q) A − Ȧ) ξ. Only where speeds
// are no rates of coordinates, as those of a ball, is there a second part.
void Symbolic::linearize_rows(double t, const double* x, const double* u, double* rows, double* chart) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const int n = tangent_size(), nq = equations_->coordinates(), m = static_cast<int>(equations_->rows.size());
    const double* out = run("linearized_rows", t, x, u);
    std::copy_n(out, 2 * n * m, rows);
    for (int i = 0; i < m; ++i)
        if (is_left_out(i)) std::fill_n(rows + 2 * n * i, 2 * n, 0.0);
    out += 2 * n * m;
    const Eigen::Map<const Rows> A(out, nq, n), rest(out + nq * n, nq, n);
    Eigen::Map<Rows>(chart, n, n) = least_squares(A, rest);
}

void Symbolic::parameter_derivatives(double t, const double* x, const double* u, double* out) {
    const int n = tangent_size(), m = static_cast<int>(equations_->rows.size());
    const auto count = static_cast<int>(equations_->numbers.parameters().size());
    const std::vector<double> udot = factored_at(t, x, u);
    const double* residual = run("parameters", t, x, u, udot.data());
    for (int column = 0; column < count; ++column) {
        Eigen::VectorXd force(n), rows(m);
        for (int i = 0; i < n; ++i) force[i] = -residual[count * i + column];
        for (int i = 0; i < m; ++i) rows[i] = -residual[count * (n + i) + column];
        closure_.solve(force, rows);
        for (int i = 0; i < n; ++i) out[count * i + column] = closure_.a[i];
    }
}

}  // namespace bellcrank
