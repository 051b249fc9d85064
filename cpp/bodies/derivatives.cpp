// Accelerations and multipliers along directions, and gradients of them. With r = f + Jᵀλ − M u̇ and s = C̈ + ε λ, the
// equations of motion r = 0, s = 0 give, along any direction,
//   M δu̇ − Jᵀδλ = δr,   J δu̇ + ε δλ = −δs,                                                             (1)
// δr and δs at given u̇ and λ: what accelerate() solves, with its factors. Backwards, with seeds ū and λ̄ of δu̇ and δλ,
//   M y − Jᵀζ = ū,   J y + ε ζ = −λ̄,     ū·δu̇ + λ̄·δλ = y·δr + ζ·δs.                                   (2)
#include <algorithm>

#include "bodies/constrained_bodies.hpp"

namespace bellcrank {

MotionPoint ConstrainedBodies::motion_point(double t, const double* x, const double* u, const double* udot) {
    model_multipliers_.resize(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_multipliers_[r] = lambda_[rows_.storage_row(r)];
    return {t, x, u, udot, model_multipliers_.data()};
}

void ConstrainedBodies::tangent(double t, const double* x, const double* u, const double* udot,
                                const Directions& directions, double* out, double* multipliers) {
    EquationsTangent::ask(changes_, 2);
    changes_.of_loads = true;
    equations().along(motion_point(t, x, u, udot), {directions.t, directions.x, directions.u, nullptr},
                      numbers_along(directions), changes_);
    const std::span<const double> root = rows_.inverse_sqrt_mass();
    along_.resize(tangent_size());
    targets_.resize(rows_.rows());
    for (int k = 0; k < kDirections; ++k) {
        for (int i = 0; i < tangent_size(); ++i) along_[i] = root[i] * root[i] * changes_.loads[kDirections * i + k];
        for (int r = 0; r < rows_.rows(); ++r) targets_[rows_.storage_row(r)] = -changes_.rows[2][kDirections * r + k];
        if (rows_.rows() > 0) solve_along(targets_, along_.data(), mu_);
        for (int i = 0; i < tangent_size(); ++i) out[kDirections * i + k] = along_[i];
        for (int r = 0; r < rows_.rows() && multipliers != nullptr; ++r)
            multipliers[kDirections * r + k] = mu_[rows_.storage_row(r)];
    }
}

void ConstrainedBodies::adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                                const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                                ModelGradient& by_numbers) {
    const std::span<const double> root = rows_.inverse_sqrt_mass();
    along_.resize(tangent_size());
    targets_.assign(rows_.rows(), 0.0);
    for (int i = 0; i < tangent_size(); ++i) along_[i] = root[i] * root[i] * of_rates[i];
    for (int r = 0; r < rows_.rows(); ++r) targets_[rows_.storage_row(r)] = -of_multipliers[r];
    if (rows_.rows() > 0) solve_along(targets_, along_.data(), mu_);
    seeds_.resize(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) seeds_[r] = mu_[rows_.storage_row(r)];
    EquationsTangent::Seeds seeds;
    seeds.loads = along_.data();
    seeds.rows[2] = seeds_.data();
    EquationsTangent::Gradient found;
    equations().transposed(motion_point(t, x, u, udot), seeds, further, found, by_numbers);
    out = {found.t, std::move(found.x), std::move(found.u)};
}

}  // namespace bellcrank
