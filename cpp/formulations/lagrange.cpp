#include "formulations/lagrange.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

// Beyond this ratio of masses factors lose more digits than one solution with them can spare.
constexpr double kExactMassRatio = 1e3;

// Beyond this spread of mobilities doubles do not hold S.
constexpr double kMostSpread = 1e8;

// Corrections of a refined acceleration, against the largest acceleration: one that needs no other, one that must not
// be left, and steps of refinement that try.
constexpr double kSettled = 1e-7, kUnsettled = 1e-11;
constexpr int kMostPasses = 4;

// Accelerations from one that is checked to the next, where pivots are small but do not ask for refinement.
constexpr int kUnchecked = 32;

double mass_ratio(const Model& model) {
    if (model.bodies() == 0) return 1.0;
    const auto [least, most] = std::minmax_element(model.mass.begin(), model.mass.end());
    return *most / *least;
}

// Azimuths and angles along a curve change as points move, without any body turning.
bool turns_by_moving(const Coordinate& coordinate) {
    const CoordinateKind& kind = *coordinate.kind;
    return coordinate.followed() && !kind.name.starts_with("theta") && !kind.name.starts_with("universal");
}

std::string_view first_coordinate(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return {};
    return model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
}

// A locked quaternion component e_k turns half as fast as the angle it stands for, so its multiplier is twice a moment.
double row_weight(std::string_view coordinate) { return coordinate.size() == 2 && coordinate[0] == 'e' ? 0.5 : 1.0; }

}  // namespace

Lagrange::Lagrange(std::shared_ptr<const Model> model, const LagrangeOptions& options)
    : model_(std::move(model)),
      options_(options),
      branches_(*model_),
      free_motion_(*model_, branches_),
      delassus_(*model_),
      rows_(*model_, branches_, delassus_.row_order()),
      stops_(*model_, {options.position_tolerance, options.contact_tolerance, options.rest_speed}) {
    delassus_.bind(rows_);
    const int n = tangent_size(), m = rows_.rows();
    for (auto* v : {&sqrt_mass_, &scaled_, &step_}) v->assign(n, 0.0);
    configuration_.assign(configuration_size(), 0.0);
    for (auto* v : {&lambda_, &shared_, &rhs_, &impulse_, &solution_, &residual_, &speed_}) v->assign(m, 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double mass = model_->mass[b], diagonal[6] = {mass, mass, mass, I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) sqrt_mass_[kTwist * b + kComponent[k]] = std::sqrt(diagonal[k]);
    }
    history_.resize(m);
    rigid_.assign(m, 1);
    in_force_.assign(m, 1.0);
    unilateral_.assign(m, 0);
    weight_.assign(m, 1.0);
    layout_of_.assign(model_->blocks.size(), 0);
    for (size_t i = 0; i < rows_.blocks().size(); ++i) {
        const BlockLayout& b = rows_.blocks()[i];
        const Block& block = model_->blocks[b.block];
        layout_of_[b.block] = static_cast<int>(i);
        for (int k = 0; k < b.size; ++k) {
            const int r = b.row + k;
            rigid_[r] = block.compliance == 0.0;
            in_force_[r] = rigid_[r];
            const Row& row = model_->rows[block.row_begin + k];
            weight_[r] = row_weight(first_coordinate(*model_, row));
            if (block.of_velocity) velocity_rows_.push_back(r);
            unilateral_[r] = block.unilateral;
        }
    }
    for (const int row : stops_.rows()) stop_rows_.push_back(rows_.storage_row(row));
    if (!stops_.empty() || !velocity_rows_.empty()) {
        enabled_.assign(m, 1);
        for (const int r : stop_rows_) enabled_[r] = 0;
    }
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (turns_by_moving(model_->coordinates[i])) drifting_.push_back(i);
    open_ = !delassus_.closes_loops();
    if (is_planar()) span_plane();
    // A condition of velocities has no error of its own that would correct what is anticipated of its multiplier.
    anticipates_ = stops_.empty() && velocity_rows_.empty();
    trusted_pivot_ = options_.rank_tolerance;
    given_up_.reserve(BlockLdlt::kMostListed);
    forget_dependent_rows();
    wide_masses_ = mass_ratio(*model_) > kExactMassRatio;
    unchecked_ = kUnchecked;  // the first acceleration is checked
    spread_ = spread_of_mobility(*model_);
    always_precise_ = spread_ > kMostSpread && rows_.rows() > 0;
}

bool Lagrange::is_current(double t, const double* x) const { return valid_ && t == time_ && is_configuration(x); }

bool Lagrange::is_configuration(const double* x) const {
    return std::memcmp(x, configuration_.data(), configuration_.size() * sizeof(double)) == 0;
}

void Lagrange::refresh(double t, const double* x) {
    rows_.evaluate_jacobians(t, x);
    remember(t, x);
    refactor();
}

void Lagrange::remember(double t, const double* x) {
    std::copy_n(x, configuration_.size(), configuration_.begin());
    time_ = t;
    valid_ = true;
}

// rhs ← S⁺ rhs, refined: the residual of the kept rows is solved for again.
void Lagrange::solve(std::vector<double>& rhs) {
    if (refinements_ == 0) return delassus_.solve(rhs.data());
    std::copy(rhs.begin(), rhs.end(), solution_.begin());
    delassus_.solve(solution_.data());
    for (int i = 0; i < refinements_; ++i) {
        std::copy(rhs.begin(), rhs.end(), residual_.begin());
        delassus_.subtract_product(solution_.data(), residual_.data());
        delassus_.solve(residual_.data());
        for (size_t r = 0; r < solution_.size(); ++r) solution_[r] += residual_[r];
    }
    rhs.swap(solution_);
}

void Lagrange::scale(const double* u, double* scaled) const {
    for (size_t k = 0; k < sqrt_mass_.size(); ++k) scaled[k] = sqrt_mass_[k] * u[k];
}

// out = M⁻¹ Jᵀ λ
void Lagrange::apply_multipliers(const std::vector<double>& lambda, double* out) const {
    std::fill_n(out, tangent_size(), 0.0);
    rows_.add_accelerations(lambda.data(), out);
}

// Eq. 35 after elimination of the bodies: with u̇0 = M⁻¹ f, S λ = Qc − J u̇0 and u̇ = u̇0 + M⁻¹ Jᵀ λ.
void Lagrange::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    is_shared_ = false;
    free_motion_.begin(t, x, u, udot);
    if (rows_.rows() == 0) return free_motion_.finish(u, udot);
    if (!stops_.empty()) {
        free_motion_.finish(u, udot);
        if (!is_current(t, x)) refresh(t, x);
        rows_.evaluate_residuals(t, x, u, udot, rhs_.data());
        accelerate_with_stops(u);
        if (delassus_.is_precise()) return accelerate_precisely(t, x, u, udot);
        rows_.add_accelerations(lambda_.data(), udot);
        for (int i = 0; i < (wide_masses_ ? 2 : 0); ++i) refine_acceleration(t, x, u, udot);
        return;
    }
    if (always_precise_) {
        free_motion_.finish(u, udot);
        if (!is_current(t, x)) refresh(t, x);
        return accelerate_precisely(t, x, u, udot);
    }
    accelerate_in_stages(t, x, u, udot);
    if (options_.refinements >= 0) {
        for (int i = 0; i < refinements_; ++i) refine_acceleration(t, x, u, udot);
    } else if (wide_masses_ || refinements_ > 0 || delassus_.is_precise()) {
        refine(t, x, u, udot);
    } else if (delassus_.smallest_pivot() < kSafePivot && (refines_ || ++unchecked_ > kUnchecked)) {
        refine(t, x, u, udot);
    }
}

// What a stage needs stays in the cache from the evaluation of its rows to the forward substitution, and from there
// back only factors and Jacobians are read again: large systems are bound by memory.
void Lagrange::accelerate_in_stages(double t, const double* x, const double* u, double* udot) {
    const bool known = is_current(t, x);
    if (!known) begin_factorization();
    for (int s = 0; s < rows_.stages(); ++s) {
        free_motion_.finish(rows_.new_bodies(s), u, udot);
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
    const double change = delassus_.accelerate_precisely(rows_.Qc, scaled_, lambda_.data(), udot);
    double largest = size_of_accelerations();
    for (int k = 0; k < tangent_size(); ++k) largest = std::max(largest, std::abs(udot[k]));
    statistics_.uncertainty = std::max(statistics_.uncertainty, change / largest);
}

}  // namespace bellcrank
