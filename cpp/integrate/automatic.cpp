#include "integrate/automatic.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

constexpr double kHopeless = 1e-3;  // steps of bdf, in parts of the first one, that lead nowhere
constexpr const char* kNames[] = {"adams", "bdf", "bdf of order 2", "dopri5"};
constexpr int kStableOrderBdf = 2;  // on the whole imaginary axis

}  // namespace

Automatic::Automatic(Dynamics& dynamics, Projection& projection, Implicit& implicit, const MethodSettings& settings)
    : dynamics_(dynamics), projection_(projection), implicit_(implicit), settings_(settings) {
    steppers_[kAdams] = std::make_unique<Adams>(dynamics, projection, settings.tolerances, settings.max_order);
    std::ranges::fill(pace_, -1.0);
}

const char* Automatic::method() const { return kNames[next_]; }

bool Automatic::is_trying() const {
    return std::ranges::any_of(pace_, [](double pace) { return pace >= 0.0; });
}

// pace: of the method in use, since it was taken. The next one that was not tried yet; after the last, the best.
bool Automatic::give_way(double pace) {
    pace_[method_] = pace;
    const auto untried = std::ranges::find_if(pace_, [](double known) { return known < 0.0; });
    if (untried != std::end(pace_)) {
        next_ = static_cast<int>(untried - pace_);
        return true;
    }
    next_ = static_cast<int>(std::ranges::max_element(pace_) - pace_);
    std::ranges::fill(pace_, -1.0);
    return next_ != method_;
}

void Automatic::take(int method) {
    method_ = next_ = method;
    begun_ = 0.0;
    std::unique_ptr<AdaptiveStepper>& stepper = steppers_[method];
    if (stepper != nullptr) return stepper->restart();
    if (method == kDormandPrince) {
        stepper = std::make_unique<DormandPrince>(dynamics_, projection_, settings_.tolerances);
    } else {
        const int most = method == kBdf2 ? std::min(settings_.max_order, kStableOrderBdf) : settings_.max_order;
        stepper = std::make_unique<Bdf>(dynamics_, implicit_, settings_.tolerances, most);
    }
}

double Automatic::first_step(double speed, double acceleration) const {
    return active().first_step(speed, acceleration);
}

double Automatic::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    return active().accepted(h, outcome, after_refusal);
}

double Automatic::refused(double h, const StepOutcome& outcome) { return active().refused(h, outcome); }

double Automatic::rounding(double t, double h, const double* x1, const double* u1) {
    return active().rounding(t, h, x1, u1);
}

// The methods change between two steps: until then the last step is interpolated by its own history.
StepOutcome Automatic::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    if (next_ != method_) {
        take(next_);
    } else if (method_ == kAdams && !mistaken_ && !is_trying() && adams().stiff()) {
        take(kBdf);
        begun_ = h;
    } else if (method_ == kBdf && h < kHopeless * begun_) {
        take(kAdams);
        mistaken_ = true;
    }
    return active().step(t, h, x, u, x1, u1);
}

void Automatic::interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1,
                            double* x_out, double* u_out) {
    active().interpolate(theta, x, u, x1, u1, x_out, u_out);
}

}  // namespace bellcrank
