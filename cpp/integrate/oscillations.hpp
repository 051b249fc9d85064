// Fast oscillations of a motion that nothing damps, from the equations of an implicit step.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// Radians of an oscillation that a step covers.
struct OscillationBand {
    double from, to;
};

// S(γ) = (I − γ D − γ² K)⁻¹, by which implicit methods correct a step, has the eigenvalues 1/(1 + 2 ζ y + y²), y = ω γ.
// Arnoldi's method (Saad, Numerical Methods for Large Eigenvalue Problems, section 6.2) finds where they lie from a few
// products with a vector at random: where many oscillations lie close together, as those of a beam do, some of them,
// each of its vectors a mixture. How much of 2 ζ y + y² damps is asked for along the vectors: nothing, where nothing
// damps.
class Oscillations {
  public:
    Oscillations(const Dynamics& dynamics, Implicit& implicit);

    // Near a state, best those of ω about 1/γ. The equations are left linearized for γ.
    void find(double t, const double* x, const double* u, double gamma);
    // Whether steps h put one of those found that is not damped in the band.
    bool any_within(const OscillationBand& band, double h) const;

  private:
    static constexpr int kVectors = 10;  // at most
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kVectors, kVectors>;

    int span(double t, const double* x, const double* u, double gamma);

    Implicit& implicit_;
    const int size_;
    Eigen::MatrixXd basis_;
    Eigen::VectorXd vector_;
    Small projected_;
    Eigen::EigenSolver<Small> eigen_{kVectors};
    std::vector<double> frequencies_;  // of what is not damped [rad/s]
};

}  // namespace bellcrank
