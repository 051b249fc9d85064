// Derivatives of the accelerations at a state.
#include "formulations/symbolic/runner.hpp"

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
