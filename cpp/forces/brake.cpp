// Kind "brake": regularised dry friction of a commanded level. Parameter regularisation velocity v0; the function of
// time is the level L:
//   τ = −max(L(t), 0) tanh(φ̇/v0).
// A level below 0, as an interpolating spline may undershoot, counts as a released brake: a brake never drives.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "forces/law.hpp"

namespace bellcrank {

namespace {

template <class S>
S effort(const LawInput<S>& in, std::span<const S> p, const LawFunction<S>& function) {
    return -(max(function(in.time), 0.0) * tanh(in.rate / p[0]));
}

void check(std::span<const double> p, const Function* function) {
    require_parameters(p, 1, "regularisation velocity");
    if (!(p[0] > 0.0)) throw std::invalid_argument("the regularisation velocity must be positive");
    if (function == nullptr) throw std::invalid_argument("needs a function of time, the friction level");
}

const LawRegistration registration({"brake", effort<double>, effort<Expression>, nullptr, check});

}  // namespace

}  // namespace bellcrank
