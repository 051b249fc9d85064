#include "matrices/quadratic_program.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <vector>

namespace bellcrank {

namespace {

// The step from z to the least on the bounds that are held, and their multipliers behind it.
Eigen::VectorXd step_along(const Eigen::MatrixXd& H, const Eigen::VectorXd& slope, const Eigen::MatrixXd& A,
                           const std::vector<Eigen::Index>& held) {
    const Eigen::Index n = H.rows(), k = static_cast<Eigen::Index>(held.size());
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + k, n + k);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(n + k);
    K.topLeftCorner(n, n) = H;
    right.head(n) = -slope;
    for (Eigen::Index i = 0; i < k; ++i) {
        K.row(n + i).head(n) = A.row(held[i]);
        K.col(n + i).head(n) = -A.row(held[i]).transpose();
    }
    return K.colPivHouseholderQr().solve(right);
}

}  // namespace

Eigen::VectorXd least_quadratic(const Eigen::MatrixXd& H, const Eigen::VectorXd& g, const Eigen::MatrixXd& A,
                                const Eigen::VectorXd& b) {
    const Eigen::Index n = H.rows();
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    std::vector<Eigen::Index> held;
    for (Eigen::Index pass = 0; pass < 10 * (A.rows() + 1); ++pass) {
        const Eigen::VectorXd found = step_along(H, H * z + g, A, held);
        const Eigen::VectorXd p = found.head(n);
        double length = 1.0;
        Eigen::Index blocking = -1;
        for (Eigen::Index i = 0; i < A.rows(); ++i) {
            const double approach = A.row(i) * p;
            if (approach >= 0.0 || std::find(held.begin(), held.end(), i) != held.end()) continue;
            const double room = std::max(A.row(i) * z - b[i], 0.0) / -approach;
            if (room < length) length = room, blocking = i;
        }
        z += length * p;
        if (blocking >= 0) {
            held.push_back(blocking);
            continue;
        }
        if (held.empty()) break;
        Eigen::Index worst;
        if (found.tail(static_cast<Eigen::Index>(held.size())).minCoeff(&worst) >= 0.0) break;
        held.erase(held.begin() + worst);
    }
    return z;
}

}  // namespace bellcrank
