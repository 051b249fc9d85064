#include "integrate/automatic.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

constexpr double kHopeless = 1e-3;                   // steps of bdf, in parts of the first one, that lead nowhere
constexpr OscillationBand kFollowed{0.1, 1e12};      // by steps of adams that may be no longer for it
constexpr long long kFirstLook = 1000;               // attempts by adams; then after twice as many each time
constexpr long long kSettling = 30, kCompared = 60;  // attempts by esdirk, before and until its pace is told
constexpr double kWorthIt = 1.5;                     // times the pace of adams
constexpr const char* kNames[] = {"adams", "bdf", "esdirk", "dopri5"};

}  // namespace

Automatic::Automatic(Dynamics& dynamics, Projection& projection, Implicit& implicit, const MethodSettings& settings)
    : dynamics_(dynamics),
      projection_(projection),
      implicit_(implicit),
      settings_(settings),
      oscillations_(dynamics, implicit),
      look_(kFirstLook) {
    steppers_[kAdams] = std::make_unique<Adams>(dynamics, projection, settings.tolerances, settings.max_order);
    std::ranges::fill(pace_, -1.0);
}

const char* Automatic::method() const { return kNames[comparing_ ? kAdams : next_]; }

bool Automatic::is_trying() const {
    return std::ranges::any_of(pace_, [](double pace) { return pace >= 0.0; });
}

// pace: of the method in use, since it was taken. The next one that was not tried yet; after the last, the best.
bool Automatic::give_way(double pace) {
    pace_[method_] = pace;
    comparing_ = false;
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
    attempts_ = 0;
    std::unique_ptr<AdaptiveStepper>& stepper = steppers_[method];
    if (stepper != nullptr) return stepper->restart();
    if (method == kDormandPrince)
        stepper = std::make_unique<DormandPrince>(dynamics_, projection_, settings_.tolerances);
    else if (method == kEsdirk)
        stepper = std::make_unique<Esdirk>(dynamics_, implicit_, settings_.tolerances, settings_.max_order);
    else
        stepper = std::make_unique<Bdf>(dynamics_, implicit_, settings_.tolerances, settings_.max_order);
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

long long Automatic::work() const { return dynamics_.statistics().evaluations + dynamics_.statistics().linearizations; }

void Automatic::mark(double t) {
    marked_at_ = t;
    work_at_mark_ = work();
}

double Automatic::pace(double t) const {
    return (t - marked_at_) / static_cast<double>(std::max(1LL, work() - work_at_mark_));
}

// Before a step: tries esdirk where adams follow an oscillation, if the equations are linearized at little cost.
void Automatic::compare(double t, double h, const double* x, const double* u) {
    if (++attempts_ == 1 || (comparing_ && attempts_ == kSettling)) mark(t);
    if (comparing_) {
        if (attempts_ < kCompared) return;
        comparing_ = false;
        if (pace(t) < kWorthIt * pace_of_adams_) take(kAdams);
    } else if (method_ == kAdams && !mistaken_ && !is_trying() && attempts_ >= look_) {
        look_ *= 2;
        if (!implicit_.linearizes_cheaply()) return;
        oscillations_.find(t, x, u, h);
        if (!oscillations_.any_within(kFollowed, h)) return;
        pace_of_adams_ = pace(t);
        take(kEsdirk);
        comparing_ = true;
    }
}

// The methods change between two steps: until then the last step is interpolated by its own history.
StepOutcome Automatic::step(double t, double h, const double* x, const double* u, double* x1, double* u1) {
    if (next_ != method_) {
        take(next_);
    } else if (method_ == kAdams && !mistaken_ && !is_trying() && adams().stiff()) {
        take(kBdf);
        begun_ = h;
    } else if (method_ == kBdf && !is_trying() && bdf().vibrates()) {
        take(kEsdirk);
    } else if (method_ == kBdf && h < kHopeless * begun_) {
        take(kAdams);
        mistaken_ = true;
    }
    compare(t, h, x, u);
    return active().step(t, h, x, u, x1, u1);
}

void Automatic::interpolate(double theta, const double* x, const double* u, const double* x1, const double* u1,
                            double* x_out, double* u_out) {
    active().interpolate(theta, x, u, x1, u1, x_out, u_out);
}

}  // namespace bellcrank
