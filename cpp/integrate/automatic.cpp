#include "integrate/automatic.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

constexpr double kHopeless = 1e-3;  // steps of bdf, in parts of the first one, that lead nowhere
constexpr const char* kNames[] = {"adams", "bdf", "bdf of order 2", "dopri5"};
constexpr int kStableOrderBdf = 2;  // on the whole imaginary axis

}  // namespace

Automatic::Automatic(const System& system, const MethodSettings& settings) : settings_(settings) {
    steppers_[kAdams] = std::make_unique<Adams>(system, settings.tolerances, settings.max_order);
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

void Automatic::take(System& system, int method) {
    method_ = next_ = method;
    begun_ = 0.0;
    std::unique_ptr<Stepper>& stepper = steppers_[method];
    if (stepper != nullptr) return stepper->restart();
    if (method == kBdf) stepper = std::make_unique<Bdf>(system, settings_.tolerances, settings_.max_order);
    if (method == kBdf2)
        stepper = std::make_unique<Bdf>(system, settings_.tolerances, std::min(settings_.max_order, kStableOrderBdf));
    if (method == kDormandPrince) stepper = std::make_unique<DormandPrince>(system, settings_.tolerances);
}

double Automatic::first_step(double speed, double acceleration) const {
    return active().first_step(speed, acceleration);
}

double Automatic::accepted(double h, const StepOutcome& outcome, bool after_refusal) {
    return active().accepted(h, outcome, after_refusal);
}

double Automatic::refused(double h, const StepOutcome& outcome) { return active().refused(h, outcome); }

double Automatic::rounding(System& system, double t, double h, const double* x1, const double* u1) {
    return active().rounding(system, t, h, x1, u1);
}

long long Automatic::difference_evaluations() const {
    long long sum = 0;
    for (const auto& stepper : steppers_)
        if (stepper != nullptr) sum += stepper->difference_evaluations();
    return sum;
}

// The methods change between two steps: until then the last step is interpolated by its own history.
StepOutcome Automatic::step(System& system, double t, double h, const double* x, const double* u, double* x1,
                            double* u1) {
    if (next_ != method_) {
        take(system, next_);
    } else if (method_ == kAdams && !mistaken_ && !is_trying() && adams().stiff()) {
        take(system, kBdf);
        begun_ = h;
    } else if (method_ == kBdf && h < kHopeless * begun_) {
        take(system, kAdams);
        mistaken_ = true;
    }
    return active().step(system, t, h, x, u, x1, u1);
}

void Automatic::interpolate(const System& system, double theta, const double* x, const double* u, const double* x1,
                            const double* u1, double* x_out, double* u_out) {
    active().interpolate(system, theta, x, u, x1, u1, x_out, u_out);
}

}  // namespace bellcrank
