// The orders of backward differentiation formulas that a motion's fast oscillations leave stable.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

inline constexpr int kMaxBdfOrder = 5;

// Radians of an oscillation that a step covers.
struct OscillationBand {
    double from, to;
    bool has(double angle) const { return from < angle && angle < to; }
};

// From order 3 on the formulas let oscillations grow that nothing damps and that a step covers by a fraction of a
// radian to a few (Hairer, Wanner, Solving Ordinary Differential Equations II, fig. V.1.1); order 2 damps them. They
// grow unseen until the error shows them, and then each must be followed: so they are looked for before. CVODE looks at
// how the terms of the history grow; here the equations themselves are asked. S(γ) = (I − γ D − γ² K)⁻¹, of derivatives
// that are factored anyway, has the eigenvalues 1/(1 + 2 ζ y + y²), y = ω γ. Arnoldi's method finds where they lie from
// a few products with a vector at random; products with S(γ/2) tell ζ.
class StableOrders {
  public:
    StableOrders(const Dynamics& dynamics, Implicit& implicit);

    void restart();
    // Before a step h from (t, x, u) by a formula of `order`. True if it has linearized the equations, for `gamma`.
    bool look(double t, const double* x, const double* u, int order, double h, double gamma);
    int highest() const { return highest_; }

  private:
    static constexpr int kVectors = 10;  // at most
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kVectors, kVectors>;

    void find_oscillations(double t, const double* x, const double* u, double gamma);
    bool any_within(const OscillationBand& band, double h) const;

    Implicit& implicit_;
    const int size_;
    Eigen::MatrixXd basis_, halved_;  // vectors, and S(γ/2) times each
    Small projected_, projected_halved_;
    Eigen::EigenSolver<Small> eigen_{kVectors};
    std::vector<double> frequencies_;  // of oscillations without damping [rad/s]
    int highest_, wait_, patience_;    // steps until the next look; between looks
    int growing_, transit_;            // looks in a row that found growth; how many may
};

}  // namespace bellcrank
