#include "formulations/equilibrium.hpp"

#include <algorithm>
#include <cmath>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr size_t kMemory = 24;
constexpr int kTrials = 12;
constexpr double kFirstStep = 0.05;  // of the size of the mechanism
constexpr double kFlatter = 0.9;     // part of the slope at the start of a step that its end may have, either way
constexpr double kKick = 1e-3;       // of the size of the mechanism
constexpr double kLower = 1e-9;      // relative difference of potentials that is one

}  // namespace

Equilibrium::Equilibrium(std::shared_ptr<const Model> model, const EquilibriumOptions& options)
    : model_(std::move(model)), options_(options), system_(model_, {}), random_(1990) {
    const int n = system_.tangent_size();
    for (Vector* v : {&mass_, &rest_, &acceleration_, &direction_, &moved_, &next_}) v->assign(n, 0.0);
    trial_.assign(system_.configuration_size(), 0.0);
    radius_.assign(model_->bodies(), 0.0);
    size_ = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double m = model_->mass[b], diagonal[8] = {m, m, m, 0.0, I.x, I.y, I.z, 0.0};
        std::copy_n(diagonal, kTwist, &mass_[kTwist * b]);
        radius_[b] = std::sqrt(0.5 * (I.x + I.y + I.z) / m);
        size_ = std::max(size_, radius_[b]);
    }
    for (const MarkerPair& pair : model_->pairs)
        for (int s = 0; s < 2; ++s)
            if (pair.body[s] != model_->ground()) size_ = std::max(size_, norm(pair.offset[s]));
    if (!(size_ > 0.0)) size_ = 1.0;
}

double Equilibrium::product(const Vector& a, const Vector& b) const {
    double sum = 0.0;
    for (size_t k = 0; k < mass_.size(); ++k) sum += mass_[k] * a[k] * b[k];
    return sum;
}

double Equilibrium::largest(const Vector& a) const {
    double largest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b)
        largest = std::max({largest, norm(twist_linear(a.data(), b)), radius_[b] * norm(twist_angular(a.data(), b))});
    return largest;
}

// A step in parts of what one may be.
double Equilibrium::farthest(const Vector& step) const {
    double part = 0.0;
    for (int b = 0; b < model_->bodies(); ++b)
        part = std::max({part, norm(twist_linear(step.data(), b)) / size_, norm(twist_angular(step.data(), b))});
    return part / options_.largest_turn;
}

void Equilibrium::accelerate(double t, const Vector& x, Vector& out) {
    system_.accelerate(t, x.data(), rest_.data(), out.data());
}

double Equilibrium::potential(double t, const Vector& x) const {
    return energy(*model_, system_.branches(), t, x.data(), rest_.data()).potential;
}

bool Equilibrium::find(double t, Vector& x) {
    system_.follow_angles(x.data());
    applied_forces(*model_, system_.branches(), t, x.data(), rest_.data(), moved_.data());
    for (size_t k = 0; k < mass_.size(); ++k) moved_[k] = mass_[k] > 0.0 ? moved_[k] / mass_[k] : 0.0;
    reference_ = std::max(largest(moved_), 1e-300);
    bool found = descend(t, x);
    for (int i = 0; i < options_.kicks && found; ++i) {
        const Vector kept = x;
        const double before = potential(t, x);
        kick(t, x);
        found = descend(t, x);
        if (found && potential(t, x) < before - kLower * (std::abs(before) + 1e-300)) continue;
        x = kept;
        found = true;
        system_.follow_angles(x.data());
        accelerate(t, x, acceleration_);
    }
    return found;
}

bool Equilibrium::descend(double t, Vector& x) {
    memory_.clear();
    accelerate(t, x, acceleration_);
    while (largest(acceleration_) > options_.tolerance * reference_) {
        if (++iterations_ > options_.iterations) return false;
        choose_direction();
        if (move(t, x)) continue;
        if (memory_.empty()) return false;
        memory_.clear();
    }
    return true;
}

// −H g by the two loops; g is the acceleration reversed. Before anything is known of H, a small step.
void Equilibrium::choose_direction() {
    direction_ = acceleration_;
    if (memory_.empty()) {
        const double scale = kFirstStep / (farthest(direction_) * options_.largest_turn);
        for (double& e : direction_) e *= scale;
        return;
    }
    std::vector<double> part(memory_.size());
    for (size_t i = memory_.size(); i-- > 0;) {
        const Pair& p = memory_[i];
        part[i] = product(p.step, direction_) / p.curvature;
        for (size_t k = 0; k < direction_.size(); ++k) direction_[k] -= part[i] * p.change[k];
    }
    const Pair& last = memory_.back();
    const double scale = last.curvature / product(last.change, last.change);
    for (double& e : direction_) e *= scale;
    for (size_t i = 0; i < memory_.size(); ++i) {
        const Pair& p = memory_[i];
        const double other = product(p.change, direction_) / p.curvature;
        for (size_t k = 0; k < direction_.size(); ++k) direction_[k] += (part[i] - other) * p.step[k];
    }
}

// Along the direction, on the constraints, to where the slope of the potential is flatter; by slopes alone.
bool Equilibrium::move(double t, Vector& x) {
    const double slope = -product(acceleration_, direction_);
    if (!(slope < 0.0)) return false;
    double length = std::min(1.0, 1.0 / std::max(farthest(direction_), 1e-300));
    for (int i = 0; i < kTrials; ++i) {
        for (size_t k = 0; k < moved_.size(); ++k) moved_[k] = length * direction_[k];
        system_.retract(x.data(), moved_.data(), trial_.data());
        const bool met = system_.project(t, trial_.data(), moved_.data());
        accelerate(t, trial_, next_);
        const double end = -product(next_, moved_) / length;
        if (met && end <= -kFlatter * slope) {
            Vector change(next_.size());
            for (size_t k = 0; k < change.size(); ++k) change[k] = acceleration_[k] - next_[k];
            remember(moved_, change);
            x.swap(trial_);
            acceleration_.swap(next_);
            system_.follow_angles(x.data());
            return true;
        }
        const double secant = std::isfinite(end) && met ? slope / (slope - end) : 0.25;
        length *= std::clamp(secant, 0.1, 0.7);
    }
    return false;
}

void Equilibrium::remember(const Vector& step, const Vector& change) {
    const double curvature = product(step, change);
    if (!(curvature > 1e-12 * std::sqrt(product(step, step) * product(change, change)))) return;
    memory_.push_back({step, change, curvature});
    if (memory_.size() > kMemory) memory_.pop_front();
}

void Equilibrium::kick(double t, Vector& x) {
    const auto uniform = [this] { return 2.0 * (static_cast<double>(random_() >> 11) * 0x1p-53) - 1.0; };
    for (size_t k = 0; k < moved_.size(); ++k)
        moved_[k] = mass_[k] > 0.0 ? kKick * uniform() * (k % kTwist < 3 ? size_ : 1.0) : 0.0;
    system_.project(t, x.data(), moved_.data());
    system_.retract(x.data(), moved_.data(), x.data());
    std::fill(moved_.begin(), moved_.end(), 0.0);
    system_.project(t, x.data(), moved_.data());
    system_.follow_angles(x.data());
}

}  // namespace bellcrank
