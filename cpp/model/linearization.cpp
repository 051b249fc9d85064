#include "model/linearization.hpp"

#include <algorithm>
#include <cmath>

#include "model/system.hpp"

namespace bellcrank {

namespace {

constexpr double kIncrement = 1e-7;  // half the digits, of one metre, one radian, or of a speed

}  // namespace

Linearization::Linearization(const System& system) : lu_(system.tangent_size()) {
    const int n = system.tangent_size();
    stiffness_.setZero(n, n);
    damping_.setZero(n, n);
    matrix_.setIdentity(n, n);
    for (auto* v : {&acceleration_, &moved_, &speeds_, &displacement_}) v->assign(n, 0.0);
    displaced_.assign(system.configuration_size(), 0.0);
}

void Linearization::evaluate(System& system, double t, const double* x, const double* u) {
    const int n = system.tangent_size();
    system.accelerate(t, x, u, acceleration_.data());
    std::copy_n(u, n, speeds_.begin());
    const auto column = [&](int j, double step, Eigen::MatrixXd& out) {
        for (int i = 0; i < n; ++i) out(i, j) = (moved_[i] - acceleration_[i]) / step;
    };
    for (int j = 0; j < n; ++j) {
        const double step = kIncrement * std::max(1.0, std::abs(u[j]));
        speeds_[j] = u[j] + step;
        system.accelerate(t, x, speeds_.data(), moved_.data());
        column(j, speeds_[j] - u[j], damping_);
        speeds_[j] = u[j];
    }
    std::fill(displacement_.begin(), displacement_.end(), 0.0);
    for (int j = 0; j < n; ++j) {
        displacement_[j] = kIncrement;
        system.retract(x, displacement_.data(), displaced_.data());
        system.accelerate(t, displaced_.data(), u, moved_.data());
        column(j, kIncrement, stiffness_);
        displacement_[j] = 0.0;
    }
}

void Linearization::factor(double gamma) {
    matrix_ = -gamma * damping_ - gamma * gamma * stiffness_;
    matrix_.diagonal().array() += 1.0;
    lu_.compute(matrix_);
}

void Linearization::solve(const double* r, double* out) const {
    const Eigen::Index n = matrix_.rows();
    Eigen::Map<Eigen::VectorXd> x(out, n);
    x.noalias() = lu_.permutationP() * Eigen::Map<const Eigen::VectorXd>(r, n);
    lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(x);
    lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(x);
}

}  // namespace bellcrank
