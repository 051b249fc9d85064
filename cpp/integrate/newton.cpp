#include "integrate/newton.hpp"

namespace bellcrank {

StepEquation::StepEquation(Dynamics& dynamics, Implicit& implicit, double solved)
    : implicit_(implicit), solved_(solved) {
    for (auto* v : {&rate_, &delta_, &start_}) v->assign(dynamics.tangent_size(), 0.0);
}

void StepEquation::linearize_again(double t, const double* x, const double* u) {
    if (linearized_at_ != 0.0 && !implicit_.linearizes_cheaply()) implicit_.linearize(t, x, u, linearized_at_, false);
}

void StepEquation::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    implicit_.linearize(t, x, u, gamma, renew);
    linearized_at_ = gamma;
    slow_ = false;
    if (!renew) return;
    contraction_ = 1.0;
    renew_ = false;
    age_ = 0;
}

}  // namespace bellcrank
