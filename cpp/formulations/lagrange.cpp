#include "formulations/lagrange.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

// Beyond this ratio of masses factors lose more digits than one solution with them can spare.
constexpr double kExactMassRatio = 1e3;

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

// A locked quaternion component e_k turns half as fast as the angle it stands for, so its multiplier is twice a moment.
double row_weight(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return 1.0;
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
            weight_[r] = row_weight(*model_, model_->rows[block.row_begin + k]);
            if (!block.unilateral) continue;
            unilateral_[r] = 1;
            stops_.push_back(r);
            restitution_.push_back(block.restitution);
        }
    }
    active_.assign(stops_.size(), 0);
    candidate_.assign(stops_.size(), 0);
    for (auto* v : {&gap_, &closing_, &reached_}) v->assign(stops_.size(), 0.0);
    if (!stops_.empty()) {
        enabled_.assign(m, 1);
        for (int r : stops_) enabled_[r] = 0;
    }
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (turns_by_moving(model_->coordinates[i])) drifting_.push_back(i);
    trusted_pivot_ = options_.rank_tolerance;
    forget_dependent_rows();
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
    if (wide_masses_ && rows_.rows() > 0) restore_rows(udot);
}

// Between heavy bodies the force that is left for a light one is a small difference of large ones, and its acceleration
// has their rounding. Where the rows say more they are right: u̇ += M⁻¹Jᵀ S⁻¹ (Qc − J u̇).
void Lagrange::restore_rows(double* udot) {
    scale(udot, scaled_.data());
    rows_.multiply(scaled_.data(), rhs_.data());
    for (size_t r = 0; r < rhs_.size(); ++r) rhs_[r] = rigid_[r] ? rows_.Qc[r] - rhs_[r] : 0.0;
    solve(rhs_);
    std::fill(step_.begin(), step_.end(), 0.0);
    apply_multipliers(rhs_, step_.data(), step_.data());
    for (size_t k = 0; k < step_.size(); ++k) udot[k] += step_[k];
}

}  // namespace bellcrank
