#include "model/system.hpp"

#include <algorithm>

#include "model/linearization.hpp"
#include "model/model.hpp"

namespace bellcrank {

System::System() = default;
System::~System() = default;

void System::compress(const double* u, double* components) const { std::copy_n(u, tangent_size(), components); }

void System::expand(const double* components, double* u) const { std::copy_n(components, tangent_size(), u); }

void System::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    if (linearization_ == nullptr) {
        linearization_ = std::make_unique<Linearization>(*this);
        defect_.assign(tangent_size(), 0.0);
        renew = true;
    }
    if (renew) linearization_->evaluate(*this, t, x, u);
    linearization_->factor(gamma);
}

void System::correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) {
    accelerate(t, x, u, defect_.data());
    for (size_t i = 0; i < defect_.size(); ++i) defect_[i] = gamma * (defect_[i] - rate[i]);
    linearization_->solve(defect_.data(), delta);
}

int System::observation_size(const Observation& what) const {
    return FrameLayout(FrameCounts::of(what, model().bodies())).size();
}

void System::measure(double t, const double* x, const double* u, const Observation& what, double* out) {
    observe(t, x, u, what, out);
}

}  // namespace bellcrank
