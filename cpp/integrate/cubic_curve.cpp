#include "integrate/cubic_curve.hpp"

#include <algorithm>

#include "integrate/stepper.hpp"

namespace bellcrank {

namespace {

constexpr int kDegree = 3;

}  // namespace

CubicCurve::CubicCurve(Dynamics& dynamics) : dynamics_(dynamics), stride_(padded(dynamics.tangent_size())) {
    terms_.assign((kDegree + 1) * stride_, 0.0);
    scaled_ = terms_;
    end_.assign(stride_, 0.0);
}

// With Δ = u1 − u, a = h u̇ at the start and b = h u̇ at the end: u + a θ + (3 Δ − 2 a − b) θ² + (a + b − 2 Δ) θ³.
void CubicCurve::lay(double t, double h, const double* x, const double* u, const double* x1, const double* u1) {
    begin_ = t, h_ = h, x_ = x;
    double *c0 = terms_.data(), *c1 = c0 + stride_, *c2 = c1 + stride_, *c3 = c2 + stride_;
    dynamics_.accelerate(t + h, x1, u1, end_.data());
    dynamics_.accelerate(t, x, u, c1);
    for (int i = 0; i < dynamics_.tangent_size(); ++i) {
        const double a = h * c1[i], b = h * end_[i], change = u1[i] - u[i];
        c0[i] = u[i];
        c1[i] = a;
        c2[i] = 3.0 * change - 2.0 * a - b;
        c3[i] = a + b - 2.0 * change;
    }
}

void CubicCurve::at(double time, double* x_out, double* u_out) {
    const double theta = (time - begin_) / h_;
    const int size = dynamics_.tangent_size();
    double power = 1.0;
    std::fill_n(u_out, size, 0.0);
    for (int j = 0; j <= kDegree; ++j, power *= theta)
        for (int i = 0; i < size; ++i) {
            double& term = scaled_[j * stride_ + i];
            term = power * terms_[j * stride_ + i];
            u_out[i] += term;
        }
    std::copy_n(x_, dynamics_.configuration_size(), x_out);
    dynamics_.retract_along(theta * h_, x_, scaled_.data(), kDegree, static_cast<int>(stride_), x_out);
}

}  // namespace bellcrank
