#include "integrate/energy_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/forces.hpp"

namespace bellcrank {

namespace {

constexpr double kSlowSpeed = 1e-3;    // speeds that mean little [m/s, rad/s]
constexpr double kLastDigits = 1e-12;  // of the potential energy

bool has_no_sources(const Model& model) {
    const bool moves = std::ranges::any_of(model.rows, [](const Row& row) { return row.function >= 0; });
    const bool special = std::ranges::any_of(model.blocks, [](const Block& block) {
        return block.unilateral || block.of_velocity || block.compliance > 0.0;
    });
    return !moves && !special && model.laws.empty() && model.wrenches.empty() && model.formula_joints.empty() &&
           model.formula_rows.empty() && model.formula_forces.empty() && model.contacts.empty();
}

}  // namespace

SealedEnergy::SealedEnergy(const Manifold& manifold, Record& record, double share)
    : record_(record),
      share_(share),
      sealed_(has_no_sources(record.model())),
      slow_(manifold.tangent_size(), kSlowSpeed) {}

bool SealedEnergy::is_kept(double t, const double* x, const double* u, double t1, const double* x1, const double* u1) {
    if (!sealed_) return true;
    const Energy before = record_.energy_at(t, x, u), after = record_.energy_at(t1, x1, u1);
    const double fallen = std::abs(after.potential - before.potential);
    const double gained = after.kinetic - before.kinetic + after.potential - before.potential;
    const double least = record_.energy_at(t, x, slow_.data()).kinetic;
    const double in_play = std::max(before.kinetic, after.kinetic) + fallen + least;
    return std::abs(gained) <= share_ * in_play + kLastDigits * std::abs(before.potential);
}

namespace {

constexpr long long kEvery = 256;    // steps
constexpr double kLeap = 4.0;        // of squares of speeds within a step
constexpr double kGrown = 16.0;      // of them since the energy was looked at
constexpr int kTested = 8;           // steps
constexpr long long kMemory = 1024;  // most steps that these speak for
constexpr double kAtRest = 1e-5;     // speeds that mean nothing [m/s, rad/s]
constexpr double kHeld = 1e-2;       // the same where impulses hold what rests, and put positions right
constexpr double kRounding = 1e-12;  // of the potential energy
constexpr double kMost = 0.5;        // of a rise: beyond that it is the method's
constexpr double kWild = 100.0;      // times what the step gains in parts, or the other way round

double sum_of_squares(const std::vector<double>& like, const double* u) {
    return std::inner_product(u, u + like.size(), u, 0.0);
}

}  // namespace

EnergyWatch::EnergyWatch(Dynamics& dynamics, StopWatch& stops, Record& record, FixedStepper& stepper)
    : stops_(stops), record_(record), statistics_(dynamics.statistics()), stepper_(stepper) {
    for (auto& x : x_) x.assign(dynamics.configuration_size(), 0.0);
    for (auto& u : u_) u.assign(dynamics.tangent_size(), 0.0);
}

double EnergyWatch::total(double t, const double* x, const double* u) {
    const Energy e = record_.energy_at(t, x, u);
    return e.kinetic + e.potential;
}

void EnergyWatch::begin(double t, const double* x, const double* u) {
    std::fill(u_[0].begin(), u_[0].end(), stepper_.by_impulses() ? kHeld : kAtRest);
    floor_ = record_.energy_at(t, x, u_[0].data()).kinetic;
    const Energy e = record_.energy_at(t, x, u);
    in_play_ = e.kinetic;
    first_potential_ = e.potential;
    lowest_ = reached_ = start_ = calm_energy_ = e.kinetic + e.potential;
    speed_ = looked_ = sum_of_squares(u_[0], u);
}

double EnergyWatch::allowed() const {
    const double rounding = kRounding * std::max(std::abs(first_potential_), std::abs(first_potential_ - given_));
    return stepper_.energy_swing() * (in_play_ + given_ + floor_ + coarseness_ + rounding);
}

void EnergyWatch::before(const Step& step) {
    if (to_test_ > 0) try_parts(step);
    impacts_ = statistics_.impacts;
}

bool EnergyWatch::bears(const Step& step, double coarseness, bool last) {
    if (steps_ == 0) coarseness_ = coarseness;
    const double speed = sum_of_squares(u_[0], step.u1);
    const bool leaps = speed > kLeap * speed_;
    speed_ = speed;
    ++steps_;
    if (to_test_ == 0 && steps_ % kEvery != 0 && !last && !leaps && !(speed > kGrown * looked_)) return true;
    looked_ = speed;
    const Energy e = record_.energy_at(step.t + step.h, step.x1, step.u1);
    reached_ = e.kinetic + e.potential;
    if (!std::isfinite(reached_)) return false;
    if (to_test_ == 0) {
        if (!has_risen(e.potential, coarseness)) return true;
        to_test_ = kTested;
        if (leaps || last) {
            start_ = total(step.t, step.x, step.u);
            try_parts(step);
            compare();
        }
    } else {
        compare();
    }
    const bool wild = tested_ > 0 && is_wild();
    start_ = reached_;
    if (wild) return false;
    if (to_test_ > 0 && !last) return true;
    if (is_made()) return false;
    take_as_brought_in();
    return true;
}

bool EnergyWatch::has_risen(double potential, double coarseness) {
    given_ = std::max(given_, first_potential_ - potential);
    if (reached_ <= lowest_) coarseness_ = std::max(coarseness_, coarseness);
    lowest_ = std::min(lowest_, reached_);
    if (reached_ - lowest_ > 0.5 * allowed()) return reached_ - lowest_ > allowed();
    calm_energy_ = reached_;
    calm_step_ = steps_;
    return false;
}

void EnergyWatch::try_parts(const Step& step) {
    const std::vector<Contact> kept = record_.contacts().current_list();
    for (const int parts : {2, 3}) in_parts_[parts - 2] = energy_by_parts(step, parts);
    record_.contacts().restore_list(kept);
}

// Stops that are open are left alone, so that no impact is counted: a step with an impact is not judged. Parts that
// lead nowhere gain nothing.
double EnergyWatch::energy_by_parts(const Step& s, int parts) {
    const double h = s.h / parts;
    const double *x = s.x, *u = s.u;
    bool met = true;
    stops_.watch_stops(s.t, s.x, s.u);
    for (int i = 0; i < parts && met; ++i) {
        std::vector<double>&x1 = x_[i % 2], &u1 = u_[i % 2];
        met = stepper_.step(s.t + i * h, h, x, u, x1.data(), u1.data()).constraints_met;
        x = x1.data(), u = u1.data();
    }
    stops_.meet_stops();
    return met ? total(s.t + s.h, x, u) : start_;
}

void EnergyWatch::compare() {
    --to_test_;
    ++tested_;
    if (statistics_.impacts != impacts_) in_parts_[0] = in_parts_[1] = reached_;
    double apart = 0.0;
    for (const double energy : in_parts_) apart = std::max(apart, std::abs(reached_ - energy));
    gained_ += reached_ - start_;
    made_ += apart;
}

// Whether the step at hand alone brings in more than is allowed, and has nothing to do with what its parts bring in.
bool EnergyWatch::is_wild() const {
    const double gain = reached_ - start_;
    return gain > allowed() && std::ranges::any_of(in_parts_, [&](double energy) {
               const double other = std::abs(energy - start_);
               return !(gain < kWild * other && other < kWild * gain);
           });
}

// Whether most of what the steps tested have gained depends on their length, and most of the rise as well, had all
// steps since it began made as much. What a controller has taken out again meanwhile is no rise.
bool EnergyWatch::is_made() const {
    const double all = made_ / tested_ * static_cast<double>(std::min(steps_ - calm_step_, kMemory));
    return reached_ > calm_energy_ && made_ > kMost * std::max(gained_, 0.0) && all > kMost * (reached_ - calm_energy_);
}

void EnergyWatch::take_as_brought_in() {
    in_play_ += std::max(reached_ - lowest_, 0.0);
    lowest_ = calm_energy_ = reached_;
    calm_step_ = steps_;
    to_test_ = tested_ = 0;
    gained_ = made_ = 0.0;
}

}  // namespace bellcrank
