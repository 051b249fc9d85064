#include "formulations/lagrange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "impulses/impulse_space.hpp"

namespace bellcrank {

namespace {

// Corrections of a refined acceleration, against the largest acceleration: one that needs no other, one that must not
// be left, and steps of refinement that try.
constexpr double kSettled = 1e-7, kUnsettled = 1e-11;
constexpr int kMostPasses = 4;

// Accelerations from one that is checked to the next, where pivots are small but do not ask for refinement.
constexpr int kUnchecked = 32;

// Accelerations that forces alone would give, by those that are left of them: beyond it rows take away too many digits.
constexpr double kTakenAway = 1e4;

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
    : Closing("lagrange", std::move(model), options), unchecked_(kUnchecked) {}  // the first acceleration is checked

// Eq. 35 after elimination of the bodies: with u̇0 = M⁻¹ f, S λ = Qc − J u̇0 and u̇ = u̇0 + M⁻¹ Jᵀ λ.
void Lagrange::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    if (rows_.rows() == 0) return free_motion_.finish(u, udot);
    if (!stops_.empty()) {
        free_motion_.finish(u, udot);
        evaluate_rows(t, x);
        rows_.evaluate_residuals(t, x, u, udot, rhs_.data());
        seek_contacts(u);
        solve_with_stops(lambda_);
        note_contacts(rhs_);
        if (delassus_.is_precise()) return accelerate_precisely(t, x, u, udot);
        rows_.add_accelerations(lambda_.data(), udot);
        for (int i = 0; i < (wide_masses_ ? 2 : 0); ++i) refine_acceleration(t, x, u, udot);
        return;
    }
    if (always_precise_) {
        free_motion_.finish(u, udot);
        evaluate_rows(t, x);
        return accelerate_precisely(t, x, u, udot);
    }
    accelerate_in_stages(t, x, u, udot);
    if (options_.refinements >= 0) {
        for (int i = 0; i < refinements_; ++i) refine_acceleration(t, x, u, udot);
    } else if (wide_masses_ || refinements_ > 0 || delassus_.is_precise() || loses_digits(udot)) {
        refine(t, x, u, udot);
    } else if (delassus_.smallest_pivot() < kSafePivot && (refines_ || ++unchecked_ > kUnchecked)) {
        refine(t, x, u, udot);
    }
}

// Eq. 35 with b = rhs_ and the stops that push (model/stops.hpp).
void Lagrange::solve_with_stops(std::vector<double>& lambda) {
    find_pushing(
        lambda,
        [&] {
            std::copy(rhs_.begin(), rhs_.end(), lambda.begin());
            solve(lambda);
            std::fill(step_.begin(), step_.end(), 0.0);
            rows_.add_transposed(lambda.data(), step_.data());
            rows_.multiply(step_.data(), residual_.data());
        },
        [&](int row) { return residual_[row] - rhs_[row]; });
}

// Where a strong brake or motor holds something light, what it would do alone is taken away again by the rows.
bool Lagrange::loses_digits(const double* udot) const {
    if (!(largest_free_ > kTakenAway * size_of_accelerations())) return false;
    double largest = 0.0;
    for (int k = 0; k < tangent_size(); ++k) largest = std::max(largest, std::abs(udot[k]));
    return largest_free_ > kTakenAway * largest;
}

// What a stage needs stays in the cache from the evaluation of its rows to the forward substitution, and from there
// back only factors and Jacobians are read again: large systems are bound by memory.
void Lagrange::accelerate_in_stages(double t, const double* x, const double* u, double* udot) {
    const bool known = is_current(t, x);
    if (!known) begin_factorization();
    largest_free_ = 0.0;
    for (int s = 0; s < rows_.stages(); ++s) {
        free_motion_.finish(rows_.new_bodies(s), u, udot);
        largest_free_ = std::max(largest_free_, largest_of(udot, rows_.new_bodies(s)));
        rows_.evaluate_stage(s, t, x, !known, u, udot, lambda_.data());
        if (!known) delassus_.factor_stage(s);
        delassus_.forward_stage(s, lambda_.data());
    }
    if (!known) {
        remember(t, x);
        if (judge_factorization()) {
            rows_.evaluate_residuals(t, x, u, udot, lambda_.data());
            for (int s = 0; s < rows_.stages(); ++s) delassus_.forward_stage(s, lambda_.data());
        }
    }
    for (int s = rows_.stages() - 1; s >= 0; --s) {
        delassus_.backward_stage(s, lambda_.data());
        rows_.add_accelerations(s, lambda_.data(), udot);
    }
}

// A step of refinement: what the rows find of u̇ is solved for again. Between heavy bodies the force that is left for a
// light one is a small difference of large ones, and its acceleration has their rounding; where the rows say more they
// are right.
void Lagrange::refine_acceleration(double t, const double* x, const double* u, double* udot) {
    rows_.evaluate_residuals(t, x, u, udot, residual_.data());
    delassus_.subtract_compliance(lambda_.data(), residual_.data());
    delassus_.solve(residual_.data());
    rows_.add_accelerations(residual_.data(), udot);
    for (size_t r = 0; r < lambda_.size(); ++r) lambda_[r] += residual_[r];
}

// Refined until corrections are small, or made again in 32 digits.
void Lagrange::refine(double t, const double* x, const double* u, double* udot) {
    double correction = 0.0;
    for (int i = 0; i < kMostPasses; ++i) {
        rows_.evaluate_residuals(t, x, u, udot, residual_.data());
        delassus_.subtract_compliance(lambda_.data(), residual_.data());
        delassus_.solve(residual_.data());
        apply_multipliers(residual_, step_.data());
        double largest = 0.0, change = 0.0;
        for (size_t k = 0; k < step_.size(); ++k) {
            udot[k] += step_[k];
            largest = std::max(largest, std::abs(udot[k]));
            change = std::max(change, std::abs(step_[k]));
        }
        for (size_t r = 0; r < lambda_.size(); ++r) lambda_[r] += residual_[r];
        const double last = correction;
        correction = change / std::max(largest, size_of_accelerations());
        if (i == 0) {
            refines_ = correction > kUnsettled;
            unchecked_ = 0;
        }
        if (correction <= kSettled && i >= (wide_masses_ ? 1 : 0)) return;
        if (i > 0 && correction > 0.1 * last) break;
    }
    if (!(correction > kUnsettled)) return;
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
    const double forces = delassus_.accelerate_precisely(rows_.Qc, scaled_, lambda_.data(), udot);
    const double change = std::max(forces, rounding_of_inertias(*model_, udot));
    double largest = size_of_accelerations();
    for (int k = 0; k < tangent_size(); ++k) largest = std::max(largest, std::abs(udot[k]));
    statistics_.uncertainty = std::max(statistics_.uncertainty, change / largest);
}

// Steps by impulses, with rigid contacts (impulses/impulse_step.hpp), and impulses at given points.
ImpulseStep& Lagrange::impulses() {
    if (impulses_) return *impulses_;
    const auto close = [this](double time, double* at) {
        known_ = Known::nothing;  // the rows have been evaluated elsewhere
        trusted_pivot_ = options_.rank_tolerance;
        stops_.forget();  // which of them push is found by impulses: accelerations, of frames, say nothing
        return rows_.rows() == 0 || close_positions(time, at);
    };
    impulses_ = std::make_unique<ImpulseStep>(
        *model_, free_motion_, contacts_,
        std::make_unique<BodySpace>(*model_, rows_, *this, close, [this](double* u) { flatten(u); }),
        options_.rest_speed, options_.contact_tolerance);
    return *impulses_;
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

}  // namespace bellcrank
