#include "matrices/shared_loads.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "matrices/quadratic_program.hpp"

namespace bellcrank {

// With A = Q R Pᵀ, z = Q₁ R₁⁻ᵀ Pᵀ F; the other columns of Q are what Aᵀ takes to nothing.
LeastNorm least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& F, double threshold) {
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(threshold);
    qr.compute(A);
    const Eigen::Index rank = qr.rank();
    LeastNorm out{Eigen::VectorXd::Zero(A.rows()), Eigen::MatrixXd::Zero(A.rows(), A.rows() - rank)};
    out.z.head(rank) = qr.matrixR()
                           .topLeftCorner(rank, rank)
                           .triangularView<Eigen::Upper>()
                           .transpose()
                           .solve((qr.colsPermutation().transpose() * F).head(rank));
    out.z.applyOnTheLeft(qr.householderQ());
    out.nothing.bottomRows(out.nothing.cols()).setIdentity();
    out.nothing.applyOnTheLeft(qr.householderQ());
    return out;
}

namespace {

double product(std::span<const double> weight, const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (size_t r = 0; r < a.size(); ++r) sum += weight[r] * weight[r] * a[r] * b[r];
    return sum;
}

void subtract(double factor, const std::vector<double>& a, std::vector<double>& from) {
    for (size_t r = 0; r < a.size(); ++r) from[r] -= factor * a[r];
}

// By Gram and Schmidt, the largest of what is left first, and out of each what came before once more. Vectors that
// eliminations give may be large together and differ in small parts only (1e-6 of them where masses are far apart);
// judged one by one, what they leave open there would pass for rounding.
void make_orthonormal(std::span<const double> weight, std::vector<std::vector<double>>& nothing) {
    for (size_t k = 0; k < nothing.size(); ++k) {
        size_t largest = k;
        double most = 0.0;
        for (size_t i = k; i < nothing.size(); ++i)
            if (const double square = product(weight, nothing[i], nothing[i]); square > most)
                most = square, largest = i;
        std::swap(nothing[k], nothing[largest]);
        std::vector<double>& unit = nothing[k];
        for (size_t i = 0; i < k; ++i) subtract(product(weight, nothing[i], unit), nothing[i], unit);
        const double scale = 1.0 / std::sqrt(product(weight, unit, unit));
        for (double& each : unit) each *= scale;
        for (size_t i = k + 1; i < nothing.size(); ++i) subtract(product(weight, unit, nothing[i]), unit, nothing[i]);
    }
}

}  // namespace

void take_least(std::span<const double> weight, const std::vector<std::vector<double>>& nothing,
                std::vector<double>& lambda) {
    for (const std::vector<double>& each : nothing) subtract(product(weight, each, lambda), each, lambda);
}

// λ ← λ + W z, where the basis W of the null space is made orthonormal in D first: z = −(D W)ᵀ D λ, unless one that
// pushes would pull.
void share_by_basis(std::span<const double> weight, std::span<const int> pushing,
                    std::vector<std::vector<double>>& nothing, std::vector<double>& lambda) {
    make_orthonormal(weight, nothing);
    if (pushing.empty()) return take_least(weight, nothing, lambda);
    const auto m = static_cast<Eigen::Index>(lambda.size());
    Eigen::MatrixXd W(m, static_cast<Eigen::Index>(nothing.size()));
    for (Eigen::Index k = 0; k < W.cols(); ++k) W.col(k) = Eigen::Map<const Eigen::VectorXd>(nothing[k].data(), m);
    const Eigen::Map<const Eigen::ArrayXd> D(weight.data(), m);
    Eigen::Map<Eigen::VectorXd> l(lambda.data(), m);
    const Eigen::VectorXd along = (W.array().colwise() * D).matrix().transpose() * (l.array() * D).matrix();
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(pushing.size()), W.cols());
    Eigen::VectorXd least(rows.rows());
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
        rows.row(k) = W.row(pushing[k]);
        least[k] = -lambda[pushing[k]];
    }
    l += W * least_quadratic(Eigen::MatrixXd::Identity(W.cols(), W.cols()), along, rows, least);
}

}  // namespace bellcrank
