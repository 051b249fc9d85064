// Stability of a rest: the inertia of the tangent stiffness on the constraints, and its least eigenvalue against mass.
#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <random>

#include "statics/rest_search.hpp"

namespace bellcrank {

namespace {

constexpr double kNeutral = 1e-11;            // stiffness that is none, in parts of the largest
constexpr double kStiffnessRounding = 1e-13;  // of entries of the stiffness
constexpr int kModes = 4, kIterations = 120;
constexpr double kSteady = 1e-11;

}  // namespace

int RestSearch::negative_directions(double shift) {
    for (int i = 0; i < 4; ++i, shift *= 1.1)
        if (newton_.factor({1.0 / unit_, shift, 0.0})) return newton_.negative_directions();
    return 0;
}

// Subspace iteration with the factors at hand; modes are orthonormal against mass, the least one first.
void RestSearch::iterate_modes(int times, Eigen::MatrixXd& modes, double& least) {
    const Eigen::Index count = modes.cols();
    Eigen::MatrixXd stiff(modes.rows(), count);
    Vector v, y;
    for (int i = 0; i < times; ++i) {
        for (Eigen::Index j = 0; j < count; ++j) {
            newton_.solve(mass_.cwiseProduct(modes.col(j)), no_rows_, v, y);
            modes.col(j) = v.normalized();
            stiffness_.multiply(modes.col(j), v);
            stiff.col(j) = v;
        }
        const Eigen::MatrixXd K = modes.transpose() * stiff, M = modes.transpose() * mass_.asDiagonal() * modes;
        const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 * (K + K.transpose()), M);
        if (solver.info() != Eigen::Success) return;
        modes = (modes * solver.eigenvectors()).eval();
        const double before = least;
        least = solver.eigenvalues()[0];
        if (i > 3 && std::abs(least - before) <= kSteady * std::abs(least)) return;
    }
}

Eigen::MatrixXd RestSearch::stiffness(const std::vector<double>& x, const std::vector<double>& angles) {
    for (size_t c = 0; c < angles.size(); ++c) branches_.set(static_cast<int>(c), angles[c]);
    move_to(x);
    balance();
    stiffness_.evaluate(t_, x_.data(), lambda_);
    const int n = metric_.size();
    Eigen::MatrixXd K(n, n);
    Vector column;
    for (int j = 0; j < n; ++j) {
        stiffness_.multiply(Vector::Unit(n, j), column);
        K.col(j) = column;
    }
    const auto length = [&](int i) { return i % 6 < 3 ? 1.0 : metric_.length(i / 6); };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) K(i, j) *= length(i) * length(j);
    return K;
}

RestStability RestSearch::judge() {
    RestStability s;
    stiffness_.evaluate(t_, x_.data(), lambda_);
    unit_ = std::max(stiffness_.largest(), scale_ / size_);
    if (!(unit_ > 0.0)) unit_ = 1.0;
    restore();
    for (const double shift : {-0.618, -0.447, -0.293})  // rows of length one along an axis would cancel −1
        if (newton_.factor({0.0, shift, 0.0})) {
            s.freedoms = newton_.negative_directions();
            break;
        }
    s.least = std::numeric_limits<double>::infinity();
    if (s.freedoms == 0) return s;
    s.neutral = negative_directions(-kNeutral);
    s.unstable = negative_directions(kNeutral);
    s.neutral -= s.unstable;

    std::mt19937_64 random(1990);
    Eigen::MatrixXd modes(metric_.size(), std::min(kModes, s.freedoms));
    for (Eigen::Index i = 0; i < modes.size(); ++i)
        modes.data()[i] = 2.0 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1.0;
    if (s.unstable == 0) {
        iterate_modes(kIterations, modes, s.least);
    } else {
        double inertia = kNeutral / mass_.maxCoeff();
        while (!newton_.factor({1.0 / unit_, 0.0, inertia}) || newton_.negative_directions() > 0) inertia *= 8.0;
        iterate_modes(kIterations / 4, modes, s.least);
        if (newton_.factor({1.0 / unit_, 0.0, -1.001 * s.least / unit_})) iterate_modes(kIterations, modes, s.least);
    }
    mode_ = modes.col(0);
    const double against = mode_.dot(mass_.cwiseProduct(mode_));
    s.rounding =
        (kStiffnessRounding * stiffness_.size_of_form(mode_) + force_ / metric_.extent() * mode_.squaredNorm()) /
        against;
    return s;
}

}  // namespace bellcrank
