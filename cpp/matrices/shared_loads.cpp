#include "matrices/shared_loads.hpp"

#include <Eigen/QR>
#include <algorithm>

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

// λ ← λ + W z, where the basis W of the null space is made orthonormal in D first: z = −(D W)ᵀ D λ, unless one that
// pushes would pull. Vectors that eliminations give may be large together and differ in small parts only (1e-6 of
// them where masses are far apart); judged one by one, what they leave open there would pass for rounding.
void share_by_basis(std::span<const double> weight, std::span<const int> pushing,
                    std::vector<std::vector<double>>& nothing, std::vector<double>& lambda) {
    const auto m = static_cast<Eigen::Index>(lambda.size());
    Eigen::MatrixXd W(m, static_cast<Eigen::Index>(nothing.size()));
    for (Eigen::Index k = 0; k < W.cols(); ++k) W.col(k) = Eigen::Map<const Eigen::VectorXd>(nothing[k].data(), m);
    const Eigen::Map<const Eigen::ArrayXd> D(weight.data(), m);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr((W.array().colwise() * D).matrix());
    W = (W * qr.colsPermutation()).eval();
    qr.matrixR().topRows(W.cols()).triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(W);
    for (Eigen::Index k = 0; k < W.cols(); ++k) Eigen::Map<Eigen::VectorXd>(nothing[k].data(), m) = W.col(k);
    Eigen::Map<Eigen::VectorXd> l(lambda.data(), m);
    const Eigen::MatrixXd DW = W.array().colwise() * D;
    const Eigen::VectorXd along = DW.transpose() * (l.array() * D).matrix();
    if (pushing.empty()) {
        l -= W * along;
        return;
    }
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(pushing.size()), W.cols());
    Eigen::VectorXd least(rows.rows());
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
        rows.row(k) = W.row(pushing[k]);
        least[k] = -lambda[pushing[k]];
    }
    l += W * least_quadratic(Eigen::MatrixXd::Identity(W.cols(), W.cols()), along, rows, least);
}

}  // namespace bellcrank
