// Derivatives of the accelerations by differences, dense.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <limits>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// What implicit methods take of a formulation that has nothing better: K = ∂u̇/∂x and D = ∂u̇/∂u along the unit vectors
// of the tangent space, from 2 n accelerations; and the solution with I − γ D − γ² K.
class Linearization {
  public:
    explicit Linearization(Dynamics& dynamics);

    void evaluate(double t, const double* x, const double* u);
    void factor(double gamma);
    // out = (I − γ D − γ² K)⁻¹ r for the γ of factor().
    void solve(const double* r, double* out) const;
    // Whether derivatives of an earlier time have made little of a defect r, and the correction δ leaves what they
    // were to take away: as those of a joint that stuck then, and slides now. Such a δ is small, and wrong.
    bool misleads(double t, const double* x, const double* u, const double* rate, double gamma,
                  const std::vector<double>& r, const double* delta);

  private:
    Dynamics& dynamics_;
    Eigen::MatrixXd stiffness_, damping_, matrix_;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
    double increment_, evaluated_at_ = -std::numeric_limits<double>::infinity();
    std::vector<double> acceleration_, moved_, displaced_, speeds_, displacement_;
};

}  // namespace bellcrank
