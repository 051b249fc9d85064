// Redundant rows share what they exert together: multipliers of least norm, from dense matrices.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace bellcrank {

// The shortest z with Aᵀ z = F, and an orthonormal basis of what Aᵀ takes to nothing, by columns. Pivots below
// `threshold` of the largest count as none.
struct LeastNorm {
    Eigen::VectorXd z;
    Eigen::MatrixXd nothing;
};
LeastNorm least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& F, double threshold);

// The least ‖D λ‖ that exerts what λ does, from a basis of multipliers that exert nothing, which becomes
// orthonormal in force and moment. weight: D; those of rows in `pushing` stay positive, but for rounding.
void share_by_basis(std::span<const double> weight, std::span<const int> pushing,
                    std::vector<std::vector<double>>& nothing, std::vector<double>& lambda);

// The same for others, from the orthonormal basis that it has become.
void take_least(std::span<const double> weight, const std::vector<std::vector<double>>& nothing,
                std::vector<double>& lambda);

}  // namespace bellcrank
