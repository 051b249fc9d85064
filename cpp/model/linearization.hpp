// Derivatives of the accelerations, dense.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <limits>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// What implicit methods take of a formulation that has nothing better: K = ∂u̇/∂x and D = ∂u̇/∂u along the unit vectors
// of the tangent space, exact, or from 2 n accelerations where a formulation or a part of the model has no derivatives;
// and the solution with I − γ D − γ² K.
class Linearization {
  public:
    Linearization(Dynamics& dynamics, Derivatives& derivatives);

    // How many accelerations differences took; none where derivatives are exact.
    int evaluate(double t, const double* x, const double* u);
    void factor(double gamma);
    // out = (I − γ D − γ² K)⁻¹ r for the γ of factor().
    void solve(const double* r, double* out) const;
    // vᵀ γD v in vᵀ (γD + γ²K) v.
    double damping_part(const double* v) const;
    // Whether derivatives of an earlier time have made little of a defect r, and the correction δ leaves what they
    // were to take away: as those of a joint that stuck then, and slides now. Such a δ is small, and wrong.
    bool misleads(double t, const double* x, const double* u, const double* rate, double gamma,
                  const std::vector<double>& r, const double* delta);

  private:
    bool follow(double t, const double* x, const double* u);
    void difference(double t, const double* x, const double* u);

    Dynamics& dynamics_;
    Derivatives& derivatives_;
    bool may_follow_ = true, has_followed_ = false;
    Eigen::MatrixXd stiffness_, damping_, matrix_;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
    double gamma_ = 0.0, increment_, evaluated_at_ = -std::numeric_limits<double>::infinity();
    std::vector<double> acceleration_, moved_, displaced_, speeds_, displacement_;
    std::vector<double> along_x_, along_u_, changes_;  // directions side by side
};

}  // namespace bellcrank
