#include "model/linearization.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/dual.hpp"

namespace bellcrank {

namespace {

constexpr double kIncrement = 1e-7;  // half the digits, of one metre, one radian, or of a speed
constexpr double kFiner = 0.1;       // of the increment: the next one, where derivatives have not served
constexpr double kFinest = 1e-12;
// Parts of a defect: what a stiff direction leaves of it in the correction, what a right correction leaves at most,
// of the largest one that counts, and of speeds that are rounding.
constexpr double kStiffPart = 0.1, kLeft = 0.5, kCounts = 1e-3, kRoundingOfSpeed = 1e-12;

}  // namespace

Linearization::Linearization(Dynamics& dynamics, Derivatives& derivatives)
    : dynamics_(dynamics), derivatives_(derivatives), lu_(dynamics.tangent_size()) {
    const int n = dynamics.tangent_size();
    increment_ = kIncrement;
    stiffness_.setZero(n, n);
    damping_.setZero(n, n);
    matrix_.setIdentity(n, n);
    for (auto* v : {&acceleration_, &moved_, &speeds_, &displacement_}) v->assign(n, 0.0);
    for (auto* v : {&along_x_, &along_u_, &changes_}) v->assign(static_cast<size_t>(n) * kDirections, 0.0);
    displaced_.assign(dynamics.configuration_size(), 0.0);
}

int Linearization::evaluate(double t, const double* x, const double* u) {
    // What is asked for again before time has passed did not serve: stiff contacts and sharp friction change over less
    // than the increment.
    increment_ = t > evaluated_at_ ? std::min(kIncrement, increment_ / kFiner) : std::max(kFinest, increment_ * kFiner);
    evaluated_at_ = t;
    dynamics_.accelerate(t, x, u, acceleration_.data());
    if (may_follow_ && follow(t, x, u)) {
        has_followed_ = true;
        return 0;
    }
    may_follow_ = has_followed_;  // touching surfaces end here and there
    difference(t, x, u);
    return 1 + 2 * dynamics_.tangent_size();
}

// Along the unit vectors of u, then those of x. False, and nothing found, where there are no derivatives.
bool Linearization::follow(double t, const double* x, const double* u) {
    const int n = dynamics_.tangent_size();
    for (int first = 0; first < 2 * n; first += kDirections) {
        const int count = std::min(kDirections, 2 * n - first);
        const auto unit = [&](int k) -> double& {
            const int i = first + k;
            return (i < n ? along_u_ : along_x_)[kDirections * (i % n) + k];
        };
        for (int k = 0; k < count; ++k) unit(k) = 1.0;
        try {
            derivatives_.tangent(t, x, u, acceleration_.data(), {nullptr, along_x_.data(), along_u_.data(), nullptr},
                                 changes_.data(), nullptr);
        } catch (const Refusal&) {
            return false;
        }
        for (int k = 0; k < count; ++k) {
            unit(k) = 0.0;
            Eigen::MatrixXd& of = first + k < n ? damping_ : stiffness_;
            for (int i = 0; i < n; ++i) of(i, (first + k) % n) = changes_[kDirections * i + k];
        }
    }
    return true;
}

void Linearization::difference(double t, const double* x, const double* u) {
    const int n = dynamics_.tangent_size();
    std::copy_n(u, n, speeds_.begin());
    const auto column = [&](int j, double step, Eigen::MatrixXd& out) {
        for (int i = 0; i < n; ++i) out(i, j) = (moved_[i] - acceleration_[i]) / step;
    };
    for (int j = 0; j < n; ++j) {
        const double step = increment_ * std::max(1.0, std::abs(u[j]));
        speeds_[j] = u[j] + step;
        dynamics_.accelerate(t, x, speeds_.data(), moved_.data());
        column(j, speeds_[j] - u[j], damping_);
        speeds_[j] = u[j];
    }
    std::fill(displacement_.begin(), displacement_.end(), 0.0);
    for (int j = 0; j < n; ++j) {
        displacement_[j] = increment_;
        dynamics_.retract(x, displacement_.data(), displaced_.data());
        dynamics_.accelerate(t, displaced_.data(), u, moved_.data());
        column(j, increment_, stiffness_);
        displacement_[j] = 0.0;
    }
}

void Linearization::factor(double gamma) {
    gamma_ = gamma;
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

double Linearization::damping_part(const double* v) const {
    const Eigen::Map<const Eigen::VectorXd> along(v, matrix_.rows());
    double damping = 0.0, stiffness = 0.0;
    for (Eigen::Index k = 0; k < along.size(); ++k) {
        damping += along[k] * damping_.col(k).dot(along);
        stiffness += along[k] * stiffness_.col(k).dot(along);
    }
    return damping / (damping + gamma_ * stiffness);
}

bool Linearization::misleads(double t, const double* x, const double* u, const double* rate, double gamma,
                             const std::vector<double>& r, const double* delta) {
    if (t == evaluated_at_) return false;
    const int n = static_cast<int>(r.size());
    double most = 0.0;
    for (const double value : r) most = std::max(most, std::abs(value));
    const auto is_reduced = [&](int i) {
        const double size = std::abs(r[i]), rounding = kRoundingOfSpeed * (std::abs(u[i]) + gamma * std::abs(rate[i]));
        return size > kCounts * most && size > rounding && std::abs(delta[i]) < kStiffPart * size;
    };
    bool any = false;
    for (int i = 0; i < n; ++i) {
        any |= is_reduced(i);
        speeds_[i] = u[i] + delta[i];
        displacement_[i] = gamma * delta[i];
    }
    if (!any) return false;
    dynamics_.retract(x, displacement_.data(), displaced_.data());
    dynamics_.accelerate(t, displaced_.data(), speeds_.data(), moved_.data());
    for (int i = 0; i < n; ++i)
        if (is_reduced(i) && std::abs(gamma * (moved_[i] - rate[i]) - delta[i]) > kLeft * std::abs(r[i])) return true;
    return false;
}

}  // namespace bellcrank
