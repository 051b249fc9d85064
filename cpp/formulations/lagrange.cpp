#include "formulations/lagrange.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

// Factors lose about as many digits as the smallest pivot has zeros, and as many again as masses differ; beyond three,
// one step of refinement restores them.
constexpr double kExactPivot = 1e-3;
constexpr double kExactMassRatio = 1e3;

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;

double mass_ratio(const Model& model) {
    if (model.bodies() == 0) return 1.0;
    const auto [least, most] = std::minmax_element(model.mass.begin(), model.mass.end());
    return *most / *least;
}

// Azimuths and angles along a curve change as points move, without any body turning.
bool turns_by_moving(const CoordinateKind& kind) {
    return kind.angular && !kind.name.starts_with("theta") && !kind.name.starts_with("universal");
}

// A locked quaternion component e_k turns half as fast as the angle it stands for, so its multiplier is twice a moment.
double row_weight(const Model& model, const Row& row) {
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name.size() == 2 && name[0] == 'e' ? 0.5 : 1.0;
}

}  // namespace

Lagrange::Lagrange(std::shared_ptr<const Model> model, const LagrangeOptions& options)
    : model_(std::move(model)),
      options_(options),
      branches_(*model_),
      delassus_(*model_),
      rows_(*model_, branches_, delassus_.block_order()) {
    delassus_.bind(rows_);
    const int n = tangent_size(), m = rows_.rows();
    for (auto* v : {&sqrt_mass_, &inverse_sqrt_mass_, &free_, &scaled_, &step_}) v->assign(n, 0.0);
    configuration_.assign(configuration_size(), 0.0);
    for (auto* v : {&lambda_, &rhs_, &impulse_, &solution_, &residual_, &speed_}) v->assign(m, 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double mass = model_->mass[b], diagonal[6] = {mass, mass, mass, I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) {
            sqrt_mass_[kTwist * b + kComponent[k]] = std::sqrt(diagonal[k]);
            inverse_sqrt_mass_[kTwist * b + kComponent[k]] = 1.0 / std::sqrt(diagonal[k]);
        }
    }
    rigid_.assign(m, 1);
    weight_.assign(m, 1.0);
    layout_of_.assign(model_->blocks.size(), 0);
    for (size_t i = 0; i < rows_.blocks().size(); ++i) {
        const BlockLayout& b = rows_.blocks()[i];
        const Block& block = model_->blocks[b.block];
        layout_of_[b.block] = static_cast<int>(i);
        for (int k = 0; k < b.size; ++k) {
            const int r = b.row + k;
            rigid_[r] = block.compliance == 0.0;
            weight_[r] = row_weight(*model_, model_->rows[block.row_begin + k]);
            if (!block.unilateral) continue;
            stops_.push_back(r);
            restitution_.push_back(block.restitution);
        }
    }
    active_.assign(stops_.size(), 0);
    candidate_.assign(stops_.size(), 0);
    if (!stops_.empty()) {
        enabled_.assign(m, 1);
        for (int r : stops_) enabled_[r] = 0;
    }
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (turns_by_moving(*model_->coordinates[i].kind)) drifting_.push_back(i);
    trusted_pivot_ = options_.rank_tolerance;
    wide_masses_ = mass_ratio(*model_) > kExactMassRatio;
}

bool Lagrange::is_current(double t, const double* x) const {
    return valid_ && t == time_ && std::memcmp(x, configuration_.data(), configuration_.size() * sizeof(double)) == 0;
}

void Lagrange::refresh(double t, const double* x) {
    rows_.evaluate_jacobians(t, x);
    std::copy_n(x, configuration_.size(), configuration_.begin());
    time_ = t;
    valid_ = true;
    refactor();
}

void Lagrange::refactor() {
    delassus_.factor(trusted_pivot_, enabled_);
    ++statistics_.factorizations;
    const auto disabled = static_cast<int>(std::count(enabled_.begin(), enabled_.end(), 0));
    statistics_.dropped_rows = delassus_.dropped_count() - disabled;
    statistics_.smallest_pivot = delassus_.smallest_pivot();
    const bool asked = wide_masses_ || delassus_.smallest_pivot() < kExactPivot;
    refinements_ = options_.refinements >= 0 ? options_.refinements : asked;
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

// out = M^(−1/2) (free + Ĵᵀ λ)
void Lagrange::apply_multipliers(const std::vector<double>& lambda, const double* free, double* out) {
    std::copy_n(free, scaled_.size(), scaled_.begin());
    rows_.add_transposed(lambda.data(), scaled_.data());
    for (size_t k = 0; k < scaled_.size(); ++k) out[k] = inverse_sqrt_mass_[k] * scaled_[k];
}

// Eq. 35 after elimination of the bodies: with â0 = M^(−1/2) f, S λ = Qc − Ĵ â0 and u̇ = M^(−1/2) (â0 + Ĵᵀ λ).
void Lagrange::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    if (!is_current(t, x)) refresh(t, x);
    applied_forces(*model_, branches_, t, x, u, free_.data());
    for (size_t k = 0; k < free_.size(); ++k) free_[k] *= inverse_sqrt_mass_[k];
    if (rows_.rows() > 0) {
        rows_.evaluate_biases(t, x, u);
        rows_.multiply(free_.data(), rhs_.data());
        for (size_t r = 0; r < rhs_.size(); ++r) rhs_[r] = rows_.Qc[r] - rhs_[r];
        if (stops_.empty()) {
            std::copy(rhs_.begin(), rhs_.end(), lambda_.begin());
            solve(lambda_);
        } else {
            accelerate_with_stops(u);
        }
    }
    apply_multipliers(lambda_, free_.data(), udot);
}

void Lagrange::retract(const double* x0, const double* xi, double* out) const {
    for (int b = 0; b < model_->bodies(); ++b) {
        const double *p = x0 + kPose * b, *d = xi + kTwist * b;
        const Quat q = advanced(pose_rotation(x0, b), {d[4], d[5], d[6]});
        double* o = out + kPose * b;
        for (int k = 0; k < 3; ++k) o[k] = p[k] + d[k];
        o[3] = 0.0;
        o[4] = q.w, o[5] = q.x, o[6] = q.y, o[7] = q.z;
    }
    if (out != x0) std::copy_n(x0 + kPose * model_->ground(), kPose, out + kPose * model_->ground());
}

namespace {

void store_record(double* r, const Vec3& linear, const Vec3& angular) {
    r[0] = linear.x, r[1] = linear.y, r[2] = linear.z, r[3] = 0.0;
    r[4] = angular.x, r[5] = angular.y, r[6] = angular.z, r[7] = 0.0;
}

}  // namespace

void Lagrange::chart_rate(const double* xi, const double* u, double* rate) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(rate + kTwist * b, twist_linear(u, b),
                     rotation_vector_rate(twist_angular(xi, b), twist_angular(u, b)));
}

void Lagrange::chart_velocity(const double* xi, const double* rate, double* u) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(u + kTwist * b, twist_linear(rate, b),
                     angular_velocity(twist_angular(xi, b), twist_angular(rate, b)));
}

void Lagrange::chart_acceleration(const double* xi, const double* rate, const double* udot, double* out) const {
    for (int b = 0; b <= model_->bodies(); ++b)
        store_record(
            out + kTwist * b, twist_linear(udot, b),
            rotation_vector_acceleration(twist_angular(xi, b), twist_angular(rate, b), twist_angular(udot, b)));
}

// Largest |C| over the rows in force: rigid and not dropped (an open stop counts as dropped).
double Lagrange::largest_error() const {
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r)
        if (rigid_[r] && !delassus_.dropped(r)) largest = std::max(largest, std::abs(rows_.C[r]));
    return largest;
}

bool Lagrange::project(double t, double* x, double* u) {
    if (rows_.rows() == 0) return true;
    trusted_pivot_ = options_.rank_tolerance;
    rows_.evaluate_values(t, x);
    if (close_penetrated_stops() && valid_) refactor();
    correct_positions(t, x);
    correct_velocities(u, true);
    return largest_error() <= std::max(1e3 * options_.position_tolerance, 1e-8);
}

// Where rows are nearly dependent, an error ε of the configuration costs the acceleration ε/√(smallest pivot): there
// the stage is moved by Newton's method with its own Jacobian. That of a stage before, on the other side of a singular
// configuration, would move it the wrong way.
void Lagrange::project_stage(double t, double* x, double* u) {
    if (rows_.rows() == 0) return;
    trusted_pivot_ = options_.rank_tolerance;
    if (!stops_.empty()) open_stops();
    if (!is_current(t, x)) refresh(t, x);
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    correct_positions(t, x);
    correct_velocities(u, false);
}

// Eq. 36, iterated from the C at hand: Δx = M⁻¹ Jᵀ τ with S τ = −C. The Jacobian and the factors are those of a
// configuration close by, as in section 5; they are renewed when the error does not fall fast, and at the end, where
// the velocity correction and the next acceleration use them.
//
// A configuration that is wrong by a rotation ε tells nothing about rows that are dependent up to an angle of that
// size: near a singular configuration it could be moved onto another branch. Such rows are dropped as if it were
// singular.
void Lagrange::correct_positions(double t, double* x) {
    if (!valid_) refresh(t, x);
    double error = largest_error();
    for (int i = 0; !(error <= options_.position_tolerance) && i < options_.max_corrections; ++i) {
        position_step();
        const double doubtful = options_.doubt * largest_rotation(step_.data());
        if (doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                refactor();
                position_step();
            }
        }
        retract(x, step_.data(), x);
        ++statistics_.corrections;
        rows_.evaluate_values(t, x);
        const double next = largest_error();
        if (!(next < 0.25 * error)) refresh(t, x);
        error = next;
    }
    if (!is_current(t, x)) refresh(t, x);
}

void Lagrange::position_step() {
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = rigid_[r] ? -rows_.C[r] : 0.0;
    solve(rhs_);
    std::fill(step_.begin(), step_.end(), 0.0);
    apply_multipliers(rhs_, step_.data(), step_.data());
}

double Lagrange::largest_rotation(const double* displacement) const {
    double largest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 phi = twist_angular(displacement, b);
        largest = std::max(largest, dot(phi, phi));
    }
    return std::sqrt(largest);
}

// Eq. 37: Δu = M⁻¹ Jᵀ μ with S μ = −Ċ; with impacts, stops take part.
void Lagrange::correct_velocities(double* u, bool impacts) {
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) speed_[r] = rigid_[r] ? speed_[r] + rows_.Ct[r] : 0.0;
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -speed_[r];
    if (stops_.empty() || !impacts) {
        std::copy(rhs_.begin(), rhs_.end(), impulse_.begin());
        solve(impulse_);
    } else {
        set_impact_speeds();
        solve_with_stops(impulse_);
    }
    std::fill(step_.begin(), step_.end(), 0.0);
    apply_multipliers(impulse_, step_.data(), step_.data());
    for (size_t k = 0; k < step_.size(); ++k) u[k] += step_[k];
}

void Lagrange::reset_angles(double t) { branches_ = AngleBranches(*model_, t); }

void Lagrange::follow_angles(const double* x) {
    std::fill(step_.begin(), step_.end(), 0.0);
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (model_->coordinates[i].kind->angular) follow_angle(i, x);
}

void Lagrange::follow_angle(int coordinate, const double* x) {
    BodyCoordinate c;
    evaluate_coordinate(*model_, branches_, coordinate, x, step_.data(), c);
    branches_.set(coordinate, c.value);
}

// Angles between bodies need following only once a joint may have turned by about a radian; relative rotations are at
// most twice the fastest body's. Directions to a point that moves are followed always.
void Lagrange::commit(double t, const double* x, const double* u) {
    double fastest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = twist_angular(u, b);
        fastest = std::max(fastest, dot(w, w));
    }
    traveled_ += 2.0 * std::sqrt(fastest) * std::abs(t - followed_at_);
    followed_at_ = t;
    if (!drifting_.empty()) std::fill(step_.begin(), step_.end(), 0.0);
    for (int i : drifting_) follow_angle(i, x);
    if (traveled_ < 0.5) return;
    follow_angles(x);
    traveled_ = 0.0;
}

}  // namespace bellcrank
