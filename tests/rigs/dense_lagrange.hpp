// Lagrange multipliers by dense elimination: a formulation on the body base in as few lines as it takes.
#pragma once

#include <Eigen/QR>
#include <memory>
#include <vector>

#include "bodies/bodies.hpp"

namespace bellcrank {

inline constexpr double kDependent = 1e-10, kTolerance = 1e-12, kMet = 1e-8, kNothing = 1e-7;
inline constexpr int kMostCorrections = 30;

class DenseLagrange final : public Bodies {
  public:
    explicit DenseLagrange(std::shared_ptr<const Model> model) : Bodies("dense", model, order_of(*model)) {
        stops();  // refused if there are any
    }

    void accelerate(double t, const double* x, const double* u, double* udot) override {
        ++statistics_.evaluations;
        is_shared_ = false;
        free_motion_.begin(t, x, u, udot);
        free_motion_.finish(u, udot);
        factor(t, x);
        rows_.evaluate_residuals(t, x, u, udot, speed_.data());
        add_correction(udot);
    }

    bool project(double t, double* x, double* u) override {
        double error = 0.0;
        for (int i = 0; i <= kMostCorrections; ++i) {
            factor(t, x);
            for (size_t r = 0; r < speed_.size(); ++r) speed_[r] = rigid_[r] ? -rows_.C[r] : 0.0;
            error = Eigen::Map<Eigen::VectorXd>(speed_.data(), rows()).lpNorm<Eigen::Infinity>();
            if (!(error > kTolerance)) break;
            std::vector<double> xi(tangent_size(), 0.0);
            add_correction(xi.data());
            retract(x, xi.data(), x);
            ++statistics_.corrections;
        }
        scale(u, scaled_.data());
        rows_.multiply(scaled_.data(), speed_.data());
        for (size_t r = 0; r < speed_.size(); ++r) speed_[r] = rigid_[r] ? -(speed_[r] + rows_.Ct[r]) : 0.0;
        add_correction(u);
        return error <= kMet;
    }

    std::vector<int> dropped_rows() override {
        std::vector<int> dropped;
        for (Eigen::Index k = solver_.rank(); k < solver_.cols(); ++k) {  // unknowns that others stand for: multipliers
            const auto storage = solver_.colsPermutation().indices()[k] - tangent_size();
            for (int row = 0; row < rows(); ++row)
                if (rows_.storage_row(row) == storage) dropped.push_back(row);
        }
        return dropped;
    }

  private:
    int rows() const { return rows_.rows(); }

    // (1 −Ĵᵀ W⁻¹; Ĵ ε W⁻¹) for motions û = M^(1/2) u and efforts W λ, so that solutions of least norm have the least
    // efforts.
    void factor(double t, const double* x) {
        const int n = tangent_size();
        evaluate_rows(t, x);
        K_.setIdentity(n + rows(), n + rows());
        std::vector<double> column(rows());
        for (int k = 0; k < n; ++k) {
            rows_.multiply(Eigen::VectorXd::Unit(n, k).eval().data(), column.data());
            K_.col(k).tail(rows()) = Eigen::Map<Eigen::VectorXd>(column.data(), rows());
        }
        for (const BlockLayout& b : rows_.blocks())
            for (int r = b.row; r < b.row + b.size; ++r) {
                K_.col(n + r).head(n) = -K_.row(n + r).head(n).transpose() / loads_.weight()[r];
                K_(n + r, n + r) = model_->blocks[b.block].compliance / loads_.weight()[r];
            }
        solver_.setThreshold(kDependent);
        solver_.compute(K_);
        ++statistics_.factorizations;
        statistics_.dropped_rows = static_cast<int>(solver_.cols() - solver_.rank());
    }

    // Adds to a motion what takes away the errors in speed_.
    void add_correction(double* u) {
        const int n = tangent_size();
        Eigen::VectorXd right = Eigen::VectorXd::Zero(n + rows());
        right.tail(rows()) = Eigen::Map<Eigen::VectorXd>(speed_.data(), rows());
        const Eigen::VectorXd found = solver_.solve(right);
        for (int k = 0; k < n; ++k) u[k] += rows_.inverse_sqrt_mass()[k] * found[k];
        for (int r = 0; r < rows(); ++r) loads_.multipliers[r] = found[n + r] / loads_.weight()[r];
    }

    // Columns of the projector onto the null space are multipliers that exert nothing.
    void share_loads() override {
        const Eigen::MatrixXd none = Eigen::MatrixXd::Identity(K_.cols(), K_.cols()) - solver_.pseudoInverse() * K_;
        loads_.nothing.clear();
        for (int k = tangent_size(); k < K_.cols(); ++k) {
            Eigen::VectorXd efforts = none.col(k).tail(rows());
            const double largest = efforts.lpNorm<Eigen::Infinity>();
            if (largest < kNothing) continue;
            loads_.nothing.emplace_back(rows());
            for (int r = 0; r < rows(); ++r) loads_.nothing.back()[r] = efforts[r] / (largest * loads_.weight()[r]);
        }
    }

    Eigen::MatrixXd K_;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver_;
};

}  // namespace bellcrank
