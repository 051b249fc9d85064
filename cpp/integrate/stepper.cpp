#include "integrate/stepper.hpp"

#include <stdexcept>

#include "integrate/adams.hpp"
#include "integrate/bdf.hpp"
#include "integrate/runge_kutta.hpp"

namespace bellcrank {

namespace {

[[noreturn]] void fixed_step() { throw std::logic_error("this method does not choose its steps"); }

}  // namespace

double Stepper::first_step(double, double) const { fixed_step(); }
double Stepper::accepted(double, const StepOutcome&, bool) { fixed_step(); }
double Stepper::refused(double, const StepOutcome&) { fixed_step(); }
void Stepper::interpolate(const System&, double, const double*, const double*, const double*, const double*, double*,
                          double*) {
    fixed_step();
}

std::unique_ptr<Stepper> make_stepper(const std::string& name, const System& system, const MethodSettings& settings) {
    if (name == "semi_implicit_euler") return make_semi_implicit_euler(system);
    if (name == "rk4") return std::make_unique<Nystrom4>(system);
    if (name == "dopri5") return std::make_unique<DormandPrince>(system, settings.tolerances);
    if (name == "adams") return std::make_unique<Adams>(system, settings.tolerances, settings.max_order);
    if (name == "bdf") return std::make_unique<Bdf>(system, settings.tolerances, settings.max_order);
    throw std::invalid_argument("unknown method \"" + name +
                                "\"; known are semi_implicit_euler, rk4, dopri5, adams, bdf");
}

}  // namespace bellcrank
