// Stability of a rest: the least eigenvalues of the tangent stiffness against mass on the constraints, each with what
// it may be off by.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <random>

#include "statics/rest_search.hpp"

namespace bellcrank {

namespace {

constexpr double kSoft = 1e-8;      // stiffness that may be none, in parts of the largest
constexpr double kNeutral = 1e-11;  // stiffness that is none where directions are too many to be looked at one by one
constexpr int kModes = 4, kMostModes = 64, kIterations = 120;
constexpr double kSteady = 1e-12, kDecided = 0.1;  // changes of the least eigenvalue, and of others, with which it ends

}  // namespace

int RestSearch::negative_directions(double shift) {
    for (int i = 0; i < 4; ++i, shift *= 1.1)
        if (newton_.factor({1.0 / unit_, shift, 0.0})) return newton_.negative_directions();
    return 0;
}

// Factors of the stiffness with enough inertia to be positive, and far from singular.
bool RestSearch::shift_up(double& inertia) {
    bool positive = false;
    for (int i = 0; i < 60; ++i, inertia *= 8.0) {  // pivots may cancel at any of these
        const bool factored = newton_.factor({1.0 / unit_, 0.0, inertia});
        if (factored && positive) return true;
        positive = positive || (factored && newton_.negative_directions() <= 0);
    }
    return false;
}

// Subspace iteration with the factors at hand; modes are orthonormal against mass, the least one first. Neutral
// directions outgrow all others by far, so that vectors are made independent before they are combined. They are
// projected onto the rows, as near a neutral direction what rows give way is not taken back.
void RestSearch::iterate_modes(int times, Eigen::MatrixXd& modes, Vector& values) {
    const Eigen::Index n = modes.rows(), count = modes.cols();
    Eigen::MatrixXd stiff(n, count);
    Vector v, y;
    for (int i = 0; i < times; ++i) {
        for (Eigen::Index j = 0; j < count; ++j) {
            newton_.solve(mass_.cwiseProduct(modes.col(j)), no_rows_, v, y);
            modes.col(j) = v.normalized();
        }
        modes = Eigen::HouseholderQR<Eigen::MatrixXd>(modes).householderQ() * Eigen::MatrixXd::Identity(n, count);
        for (Eigen::Index j = 0; j < count; ++j) {
            normal_.solve(modes.col(j), no_rows_, v, y);
            modes.col(j) = v;
            stiffness_.multiply(modes.col(j), v);
            stiff.col(j) = v;
        }
        const Eigen::MatrixXd K = modes.transpose() * stiff, M = modes.transpose() * mass_.asDiagonal() * modes;
        const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 * (K + K.transpose()), M);
        if (solver.info() != Eigen::Success) return;
        modes = (modes * solver.eigenvectors()).eval();
        const Vector before = values;
        values = solver.eigenvalues();
        bool steady = i > 3;
        for (Eigen::Index j = 0; j < count && steady; ++j) {
            const double part = j == 0 ? kSteady : kDecided;
            steady = std::abs(values[j] - before[j]) <=
                     std::max(part * std::abs(values[j]), 0.1 * uncertainty(modes.col(j), values[j]));
        }
        if (steady) return;
    }
}

Eigen::MatrixXd RestSearch::stiffness(const std::vector<double>& x, const std::vector<double>& angles) {
    for (size_t c = 0; c < angles.size(); ++c) branches_.set(static_cast<int>(c), angles[c]);
    move_to(x);
    balance();
    stiffness_.evaluate(t_, x_.data(), lambda_, scale_);
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

// Of vᵀ K v / vᵀ M v: errors of the entries, and what forces that are left may have displaced.
double RestSearch::uncertainty(const Vector& mode, double value) const {
    const double against = mode.dot(mass_.cwiseProduct(mode));
    return (stiffness_.error_of_form(mode) + force_ / metric_.extent() * mode.squaredNorm()) / against +
           kRounding * std::abs(value);
}

RestStability RestSearch::judge() {
    RestStability s;
    stiffness_.evaluate(t_, x_.data(), lambda_, scale_);
    unit_ = std::max(stiffness_.largest(), scale_ / size_);
    if (!(unit_ > 0.0)) unit_ = 1.0;
    for (const double shift : {-0.618, -0.447, -0.293})  // rows of length one along an axis would cancel −1
        if (newton_.factor({0.0, shift, 0.0})) {
            s.freedoms = newton_.negative_directions();
            break;
        }
    s.least = std::numeric_limits<double>::infinity();
    if (s.freedoms == 0) return s;
    const int soft = negative_directions(-kSoft), looked_at = std::min({soft + kModes, kMostModes, s.freedoms});

    std::mt19937_64 random(1990);
    Eigen::MatrixXd modes(metric_.size(), looked_at);
    for (Eigen::Index i = 0; i < modes.size(); ++i)
        modes.data()[i] = 2.0 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1.0;
    Vector values = Vector::Constant(looked_at, std::numeric_limits<double>::infinity());
    double inertia = kNeutral / mass_.maxCoeff();
    if (shift_up(inertia)) iterate_modes(kIterations, modes, values);
    if (!std::isfinite(values[0])) {  // nothing is certain
        s.least = 0.0;
        s.uncertainty = std::numeric_limits<double>::infinity();
        s.neutral = s.freedoms;
        return s;
    }
    if (values[0] < -uncertainty(modes.col(0), values[0]) &&
        newton_.factor({1.0 / unit_, 0.0, -1.001 * values[0] / unit_}))
        iterate_modes(kIterations, modes, values);

    s.least = values[0];
    mode_ = modes.col(0);
    s.uncertainty = uncertainty(mode_, s.least);
    for (int i = 0; i < looked_at; ++i) {
        const double unsure = uncertainty(modes.col(i), values[i]);
        if (values[i] < -unsure)
            ++s.unstable;
        else if (values[i] <= unsure)
            ++s.neutral;
    }
    if (s.unstable + s.neutral == looked_at && looked_at < s.freedoms) {
        s.unstable = negative_directions(kNeutral);
        s.neutral = std::max(negative_directions(-kNeutral) - s.unstable, 0);
    }
    return s;
}

}  // namespace bellcrank
