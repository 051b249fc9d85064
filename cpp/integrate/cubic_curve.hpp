// The motion within a step of a method without dense output.
#pragma once

#include <functional>
#include <vector>

#include "model/ports.hpp"

namespace bellcrank {

// Writes the state at a time within a step to x and u.
using Curve = std::function<void(double time, double* x, double* u)>;

// Velocity is the cubic through those of both ends and their accelerations, position its integral: errors of fourth
// order, as those of rk4.
class CubicCurve {
  public:
    static constexpr int kOrder = 4;

    explicit CubicCurve(Dynamics& dynamics);

    // Lays the curve from (t, x, u) to (t + h, x1, u1), which must stay where they are while the curve is asked.
    void lay(double t, double h, const double* x, const double* u, const double* x1, const double* u1);
    void at(double time, double* x_out, double* u_out);

  private:
    Dynamics& dynamics_;
    double begin_ = 0.0, h_ = 0.0;
    const double* x_ = nullptr;
    size_t stride_;
    std::vector<double> terms_, scaled_, end_;  // coefficients of the velocity; u̇ at the end
};

}  // namespace bellcrank
