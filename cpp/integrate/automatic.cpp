#include "integrate/automatic.hpp"

namespace bellcrank {

namespace {

constexpr double kHopeless = 1e-3;  // steps of bdf, in parts of the first one, that lead nowhere

}  // namespace

Automatic::Automatic(const System& system, const MethodSettings& settings)
    : settings_(settings), adams_(system, settings.tolerances, settings.max_order) {}

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

// The methods change between two steps: until then the last step is interpolated by its own history.
StepOutcome Automatic::step(System& system, double t, double h, const double* x, const double* u, double* x1,
                            double* u1) {
    if (!bdf_ && !mistaken_ && adams_.stiff()) {
        bdf_ = std::make_unique<Bdf>(system, settings_.tolerances, settings_.max_order);
        begun_ = h;
    } else if (bdf_ && h < kHopeless * begun_) {
        bdf_.reset();
        adams_.restart();
        mistaken_ = true;
    }
    return active().step(system, t, h, x, u, x1, u1);
}

void Automatic::interpolate(const System& system, double theta, const double* x, const double* u, const double* x1,
                            const double* u1, double* x_out, double* u_out) {
    active().interpolate(system, theta, x, u, x1, u1, x_out, u_out);
}

}  // namespace bellcrank
