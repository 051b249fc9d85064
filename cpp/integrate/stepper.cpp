#include "integrate/stepper.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "integrate/adams.hpp"
#include "integrate/automatic.hpp"
#include "integrate/bdf.hpp"
#include "integrate/esdirk.hpp"
#include "integrate/moreau.hpp"
#include "integrate/runge_kutta.hpp"

namespace bellcrank {

namespace {

// Every number up or down, as if at random, by one unit in the last place or by `least`; zeros stay zero.
void round_otherwise(const double* in, std::vector<double>& out, double sign, double least) {
    constexpr double kLastPlace = std::numeric_limits<double>::epsilon();
    std::uint32_t mixed = 1;
    for (size_t i = 0; i < out.size(); ++i) {
        mixed = 1664525u * mixed + 1013904223u;
        const double change = in[i] == 0.0 ? 0.0 : std::max(kLastPlace * std::abs(in[i]), least);
        out[i] = in[i] + ((mixed >> 31) != 0 ? sign : -sign) * change;
    }
}

}  // namespace

const std::vector<double>& RoundingSample::take(double t, const double* x, const double* u, const double* udot,
                                                bool settled, bool free) {
    for (auto* v : {&rounded_x_, &near_}) v->resize(dynamics_.configuration_size());
    const int tangent = dynamics_.tangent_size(), count = free ? dynamics_.free_components() : tangent;
    for (auto* v : {&rounded_u_, &rounded_udot_, &change_, &rounding_}) v->resize(tangent);
    double *rx = rounded_x_.data(), *ru = rounded_u_.data(), *rudot = rounded_udot_.data();
    for (const double sign : {1.0, -1.0}) {
        round_otherwise(x, rounded_x_, sign, settled ? 0.0 : projection_.position_noise(x));
        round_otherwise(u, rounded_u_, sign, 0.0);
        if (!settled) projection_.project_stage(t, rx, ru);
        dynamics_.accelerate(t, rx, ru, rudot);
        if (settled) {
            near_ = rounded_x_;
            no_displacement_.assign(tangent, 0.0);
            projection_.finish_step(t, near_.data(), no_displacement_.data(), rx, ru, rudot);
        }
        for (int i = 0; i < tangent; ++i) rudot[i] -= udot[i];
        if (free) dynamics_.compress(rudot, change_.data());
        const double* change = free ? change_.data() : rudot;
        for (int i = 0; i < count; ++i) rounding_[i] = std::max(sign > 0.0 ? 0.0 : rounding_[i], std::abs(change[i]));
    }
    return rounding_;
}

std::unique_ptr<FixedStepper> make_fixed_stepper(const std::string& name, const Ports& ports,
                                                 const MethodSettings& settings) {
    if (name == "semi_implicit_euler") return std::make_unique<SemiImplicitEuler>(ports.dynamics, ports.projection);
    if (name == "moreau") return std::make_unique<Moreau>(ports.dynamics, ports.impulses, settings.tolerances.relative);
    if (name == "rk4") return std::make_unique<Nystrom4>(ports.dynamics, ports.projection);
    return nullptr;
}

std::unique_ptr<AdaptiveStepper> make_adaptive_stepper(const std::string& name, const Ports& ports,
                                                       const MethodSettings& settings) {
    const auto& [tolerances, order] = settings;
    if (name == "dopri5") return std::make_unique<DormandPrince>(ports.dynamics, ports.projection, tolerances);
    if (name == "adams") return std::make_unique<Adams>(ports.dynamics, ports.projection, tolerances, order);
    if (name == "bdf") return std::make_unique<Bdf>(ports.dynamics, ports.implicit, tolerances, order);
    if (name == "esdirk") return std::make_unique<Esdirk>(ports.dynamics, ports.implicit, tolerances, order);
    if (name == "auto") return std::make_unique<Automatic>(ports.dynamics, ports.projection, ports.implicit, settings);
    throw std::invalid_argument("unknown method \"" + name +
                                "\"; known are semi_implicit_euler, moreau, rk4, dopri5, adams, bdf, esdirk, auto");
}

ErrorWeights::ErrorWeights(const Manifold& manifold, const Tolerances& tolerances, int size) {
    for (int i = 0; i < size; ++i) {
        const bool turns = i < manifold.tangent_size() && manifold.turns(i);
        const Tolerance& x = turns ? tolerances.rotation : tolerances.translation;
        const Tolerance& u = turns ? tolerances.angular_velocity : tolerances.velocity;
        displacement_.push_back(1.0 / (x.absolute + x.relative));
        absolute_.push_back(u.absolute);
        relative_.push_back(u.relative);
    }
}

double first_step_of_order_1(const Tolerances& tolerances, double acceleration) {
    return 0.25 * std::sqrt((tolerances.relative + tolerances.absolute) / (acceleration + 1e-3));
}

double step_factor(double error, double aim, int order) {
    return std::pow(aim / std::max(error, 1e-30), 1.0 / (order + 1));
}

}  // namespace bellcrank
