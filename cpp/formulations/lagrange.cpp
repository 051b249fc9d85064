#include "formulations/lagrange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "impulses/impulse_space.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// A correction with the factors of a configuration that is off by an angle ε leaves about ε/√(smallest pivot) of what
// it corrects. Beyond this part the factors are renewed.
constexpr double kMostStale = 0.1;

// Of a row whose coordinates are of size one or less. Where rows are dependent up to an angle θ the correction of an
// error ε moves the pose by ε/θ, with it the velocity by ε/θ² and the acceleration by ε/θ³; if the error is rounding,
// so is all of that.
constexpr double kLastPlace = std::numeric_limits<double>::epsilon();

// Errors of the velocity [m/s, rad/s] that need no second correction, in those of positions that are allowed.
constexpr double kVelocityTolerance = 100.0;  // 1/s

// Change of the multipliers, against the largest, that needs no second one.
constexpr double kForceTolerance = 1e-9;

// The most that the rounding of inertia tensors makes of the accelerations: a moment that is small beside the others of
// its tensor is known to the rounding of the largest, unless the tensor is given in principal axes.
double rounding_of_inertias(const Model& model, const double* udot) {
    double most = 0.0;
    for (int b = 0; b < model.bodies(); ++b) {
        if (std::abs(model.principal_rotation[b].w) == 1.0) continue;
        const Vec3& I = model.principal_inertia[b];
        const double last_place = std::numeric_limits<double>::epsilon() * std::max({I.x, I.y, I.z});
        const double* angular = udot + kTwist * b + kComponent[3];
        most = std::max({most, last_place / I.x * std::abs(angular[0]), last_place / I.y * std::abs(angular[1]),
                         last_place / I.z * std::abs(angular[2])});
    }
    return most;
}

double largest_of(const double* udot, std::span<const int> bodies) {
    double most = 0.0;
    for (const int b : bodies)
        for (int k = 0; k < kTwist; ++k) most = std::max(most, std::abs(udot[kTwist * b + k]));
    return most;
}

}  // namespace

Lagrange::Lagrange(std::shared_ptr<const Model> model, const RefinedClosingOptions& options)
    : Closing("lagrange", std::move(model), options), impulse_(rows_.rows(), 0.0), residual_(rows_.rows(), 0.0) {
    dependent_ = std::max(dependent_, options.rank_tolerance);
}

// Eq. 35 after elimination of the bodies: with u̇0 = M⁻¹ f, S λ = Qc − J u̇0 and u̇ = u̇0 + M⁻¹ Jᵀ λ.
void Lagrange::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    accelerate_loaded(t, x, u, udot, [&] { accelerate_held(t, x, u, udot); });
}

void Lagrange::accelerate_held(double t, const double* x, const double* u, double* udot) {
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    if (rows_.rows() == 0) return free_motion_.finish(u, udot);
    if (!stops_.empty()) {
        free_motion_.finish(u, udot);
        evaluate_rows(t, x);
        rows_.evaluate_residuals(t, x, u, udot, rhs_.data());
        seek_contacts(t, x, u);
        solve_with_stops(lambda_);
        note_contacts(rhs_);
        if (factors().is_precise()) return accelerate_precisely(t, x, u, udot);
        rows_.add_accelerations(lambda_.data(), udot);
        for (int i = 0; i < (judge_.has_wide_masses() ? 2 : 0); ++i) refine_acceleration(t, x, u, udot);
        return;
    }
    if (judge_.is_precise()) {
        free_motion_.finish(u, udot);
        evaluate_rows(t, x);
        return accelerate_precisely(t, x, u, udot);
    }
    accelerate_in_stages(t, x, u, udot);
    const int fixed = judge_.fixed_refinements();
    for (int i = 0; i < fixed; ++i) refine_acceleration(t, x, u, udot);
    if (fixed < 0 && judge_.asks_for_refinement(largest_free_, {udot, step_.size()}, size_of_accelerations()))
        refine(t, x, u, udot);
}

// Eq. 35 with b = rhs_ and the stops that push (model/stops.hpp).
void Lagrange::solve_with_stops(std::vector<double>& lambda) {
    find_pushing(
        lambda,
        [&] {
            std::copy(rhs_.begin(), rhs_.end(), lambda.begin());
            judge_.solve(lambda);
            std::fill(step_.begin(), step_.end(), 0.0);
            rows_.add_transposed(lambda.data(), step_.data());
            rows_.multiply(step_.data(), residual_.data());
        },
        [&](int row) { return residual_[row] - rhs_[row]; });
}

// S μ = −S τ in the rows of the equations.
bool Lagrange::respond(const std::vector<double>& efforts, double* v, std::vector<double>& mu) {
    if (judge_.has_wide_masses() || factors().is_precise()) return false;
    mu.assign(rows_.rows(), 0.0);
    factors().subtract_product(efforts.data(), mu.data());
    judge_.solve(mu);
    for (size_t r = 0; r < mu.size(); ++r) residual_[r] = efforts[r] + mu[r];
    rows_.add_accelerations(residual_.data(), v);
    return true;
}

// What a stage needs stays in the cache from the evaluation of its rows to the forward substitution, and from there
// back only factors and Jacobians are read again: large systems are bound by memory.
void Lagrange::accelerate_in_stages(double t, const double* x, const double* u, double* udot) {
    const bool known = is_current(t, x);
    if (!known) judge_.begin(trusted_pivot_);
    largest_free_ = 0.0;
    for (int s = 0; s < rows_.stages(); ++s) {
        free_motion_.finish(rows_.new_bodies(s), u, udot);
        largest_free_ = std::max(largest_free_, largest_of(udot, rows_.new_bodies(s)));
        rows_.evaluate_stage(s, t, x, !known, u, udot, lambda_.data());
        if (!known) factors().factor_stage(s);
        factors().forward_stage(s, lambda_.data());
    }
    if (!known) {
        remember(t, x);
        if (judge()) {
            rows_.evaluate_residuals(t, x, u, udot, lambda_.data());
            for (int s = 0; s < rows_.stages(); ++s) factors().forward_stage(s, lambda_.data());
        }
    }
    for (int s = rows_.stages() - 1; s >= 0; --s) {
        factors().backward_stage(s, lambda_.data());
        rows_.add_accelerations(s, lambda_.data(), udot);
    }
}

// A step of refinement: what the rows find of u̇ is solved for again. Between heavy bodies the force that is left for a
// light one is a small difference of large ones, and its acceleration has their rounding; where the rows say more they
// are right.
void Lagrange::refine_acceleration(double t, const double* x, const double* u, double* udot) {
    find_correction(t, x, u, udot);
    rows_.add_accelerations(residual_.data(), udot);
}

void Lagrange::find_correction(double t, const double* x, const double* u, const double* udot) {
    rows_.evaluate_residuals(t, x, u, udot, residual_.data());
    factors().subtract_compliance(lambda_.data(), residual_.data());
    factors().solve(residual_.data());
    for (size_t r = 0; r < lambda_.size(); ++r) lambda_[r] += residual_[r];
}

// Refined until corrections are small, or made again in 32 digits.
void Lagrange::refine(double t, const double* x, const double* u, double* udot) {
    auto next = RowJudge::Next::refine;
    for (int i = 0; next == RowJudge::Next::refine; ++i) {
        find_correction(t, x, u, udot);
        apply_multipliers(residual_, step_.data());
        double largest = 0.0, change = 0.0;
        for (size_t k = 0; k < step_.size(); ++k) {
            udot[k] += step_[k];
            largest = std::max(largest, std::abs(udot[k]));
            change = std::max(change, std::abs(step_[k]));
        }
        next = judge_.after_refinement(i, change / std::max(largest, size_of_accelerations()));
    }
    if (next == RowJudge::Next::done) return;
    free_motion_.begin(t, x, u, udot);
    free_motion_.finish(u, udot);
    accelerate_precisely(t, x, u, udot);
}

// What accelerations are measured by where all of them are small.
double Lagrange::size_of_accelerations() const { return std::max(norm(model_->gravity), 1e-3); }

// From the motion of free bodies in udot.
void Lagrange::accelerate_precisely(double t, const double* x, const double* u, double* udot) {
    rows_.evaluate_biases(t, x, u);
    scale(udot, scaled_.data());
    ++statistics_.precise;
    const double forces = factors().accelerate_precisely(rows_.Qc, scaled_, lambda_.data(), udot);
    const double change = std::max(forces, rounding_of_inertias(*model_, udot));
    double largest = size_of_accelerations();
    for (int k = 0; k < tangent_size(); ++k) largest = std::max(largest, std::abs(udot[k]));
    statistics_.uncertainty = std::max(statistics_.uncertainty, change / largest);
}

// Newton's method from `near`, whose C, J and factors are at hand: to first order C(near ⊕ ξ) = C + J ξ, and the
// correction adds to ξ itself. All that follows are corrections of small errors: of the velocity, and of the
// multipliers of `near`, whose residual is formed with the rows of the new configuration.
bool Lagrange::finish_step(double t, const double* near, double* xi, double* x, double* u, double* udot) {
    const bool known = known_ != Known::nothing && t == time_ && is_configuration(near), first = known_ == Known::all;
    const bool regular = velocity_rows_.empty() || statistics_.dropped_rows == 0;
    if (rows_.rows() == 0 || !stops_.empty() || !regular || judge_.has_wide_masses() || factors().is_precise() ||
        !known)
        return System::finish_step(t, near, xi, x, u, udot);
    if (first) {
        scale(xi, scaled_.data());
        rows_.multiply(scaled_.data(), rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = rigid_[r] ? -(rows_.C[r] + rhs_[r]) : 0.0;
        const double *in_force = in_force_.data(), *left = rhs_.data();
        const double error =
            largest_size(rows_.rows(), [&](int r, auto load) { return load(in_force + r) * load(left + r); });
        if (error > std::max(kLastPlace, 0.25 * rounding_of_rows(near))) {
            factors().solve(rhs_.data());
            rows_.add_accelerations(rhs_.data(), xi);
        }
    }
    const double theta = std::sqrt(std::max(statistics_.smallest_pivot, options_.rank_tolerance));
    const double stale = largest_rotation(xi) / theta;
    if (!(stale < kMostStale)) return System::finish_step(t, near, xi, x, u, udot);
    retract(near, xi, x);
    known_ = Known::factors;
    rows_.evaluate_jacobians(t, x);
    if (!finish_positions(t, x)) {
        std::fill_n(xi, tangent_size(), 0.0);
        return System::finish_step(t, x, xi, x, u, udot);
    }
    const bool met = finish_velocities(t, x, u, stale) && rows_hold(x);
    finish_acceleration(t, x, u, stale, udot);
    return met;
}

// False if the error does not fall fast.
bool Lagrange::finish_positions(double t, double* x) {
    const double tolerance = position_noise(x);
    double error = largest_error(false);
    for (int i = 0; error > tolerance; ++i) {
        retract(x, displacement(), x);
        ++statistics_.corrections;
        rows_.evaluate_jacobians(t, x);
        const double next = largest_error(false);
        if (!(next < 0.25 * error) || i == options_.max_corrections) return false;
        error = next;
    }
    return true;
}

// False if a row that was dropped does not hold.
bool Lagrange::finish_velocities(double t, const double* x, double* u, double stale) {
    for (int i = 0; i < 3; ++i) {
        find_rates(u);
        double largest = 0.0;
        for (int r = 0; r < rows_.rows(); ++r) {
            impulse_[r] = -speed_[r];
            if (!factors().dropped(r)) largest = std::max(largest, std::abs(impulse_[r]));
        }
        factors().solve(impulse_.data());
        rows_.add_accelerations(impulse_.data(), u);
        if (!(stale * largest > kVelocityTolerance * options_.position_tolerance)) break;
    }
    flatten(u);
    return rates_hold(t, x, u);
}

void Lagrange::finish_acceleration(double t, const double* x, const double* u, double stale, double* udot) {
    ++statistics_.evaluations;
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    free_motion_.finish(u, udot);
    rows_.add_accelerations(lambda_.data(), udot);
    for (int i = 0; i < 3; ++i) {
        refine_acceleration(t, x, u, udot);
        double largest = 0.0, change = 0.0;
        for (size_t r = 0; r < lambda_.size(); ++r) {
            largest = std::max(largest, std::abs(lambda_[r]));
            change = std::max(change, std::abs(residual_[r]));
        }
        if (!(stale * change > kForceTolerance * largest)) return;
    }
}

// Steps by impulses, with rigid contacts (impulses/impulse_step.hpp), and impulses at given points.
ImpulseStep& Lagrange::impulses() {
    if (impulse_step_) return *impulse_step_;
    const auto close = [this](double time, double* at) {
        known_ = Known::nothing;  // the rows have been evaluated elsewhere
        return close_for_impulses(time, at);
    };
    impulse_step_ = std::make_unique<ImpulseStep>(
        *model_, free_motion_, contacts_, rubbing(),
        std::make_unique<BodySpace>(*model_, rows_, *this, close, [this](double* u) { flatten(u); }),
        options_.rest_speed, options_.contact_tolerance);
    return *impulse_step_;
}

ImpulseOutcome Lagrange::step_by_impulses(double t, double h, const double* x, const double* u, double tolerance,
                                          double* x1, double* u1) {
    const ImpulseOutcome outcome = impulses().step(t, h, x, u, tolerance, x1, u1);
    known_ = Known::nothing;
    count(outcome);
    return outcome;
}

ImpulseOutcome Lagrange::strike(double t, const double* x, const std::vector<Blow>& blows,
                                const std::vector<StruckPoint>& points, double tolerance, double* u,
                                std::vector<Vec3>& told) {
    const ImpulseOutcome outcome = impulses().strike(t, x, blows, points, tolerance, u, told);
    known_ = Known::nothing;
    count(outcome);
    return outcome;
}

// Whether multipliers are unknowns beside the motion. What stops push is a matter of accelerations.
bool Lagrange::corrects_rows() const {
    return linearizes_by_rows() && stops_.empty() && !(meets_accelerations_ && rows_.rows() > 0);
}

void Lagrange::correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) {
    if (!corrects_rows()) return ConstrainedBodies::correct(t, x, u, rate, gamma, delta);
    ++statistics_.evaluations;
    implicit_->correct(t, x, u, rate, gamma, delta);
    flatten(delta);
}

bool Lagrange::finish_corrected_step(double t, double* x, double* u) {
    if (!corrects_rows()) return project(t, x, u);
    if (rows_.rows() == 0) return implicit_->settle(), true;
    const auto move = [this](const double* step, double* at) {
        ++statistics_.corrections;
        retract(at, step, at);
    };
    const double tolerance = position_noise(x);
    if (!implicit_->finish_step(t, x, u, tolerance, move)) return project(t, x, u);
    flatten(u);
    return true;
}

}  // namespace bellcrank
