#include "closing/implicit_rows.hpp"

#include <algorithm>
#include <cmath>

#include "closing/row_judge.hpp"
#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kMostRows = 6;  // of a block

// The model's data with a row for the coordinate of each law, its compliance to be set at each linearization. Laws side
// by side between the same markers, as those of a beam, are one block.
ModelData with_law_rows(const Model& model) {
    ModelData data = model.data();
    int last_pair = -1, rows = 0;
    for (const int coordinate : data.law_coordinate) {
        data.term_coordinate.push_back(coordinate);
        data.term_coefficient.push_back(1.0);
        data.row_term_start.push_back(static_cast<int>(data.term_coordinate.size()));
        data.row_function.push_back(-1);
        data.row_constant.push_back(0.0);
        const int pair = data.coordinate_pair[coordinate], end = static_cast<int>(data.row_function.size());
        if (pair == last_pair && rows < kMostRows) {
            data.block_row_start.back() = end;
            ++rows;
            continue;
        }
        last_pair = pair;
        rows = 1;
        data.block_row_start.push_back(end);
        data.block_unilateral.push_back(0);
        data.block_compliance.push_back(1.0);
        data.block_restitution.push_back(0.0);
        if (!data.block_formula.empty()) data.block_formula.push_back(-1);
        if (!data.block_friction.empty()) data.block_friction.push_back(-1);
    }
    return data;
}

}  // namespace

ImplicitRows::ImplicitRows(const Model& model, const AngleBranches& branches, Contacts& contacts)
    : model_(std::make_unique<Model>(with_law_rows(model))),
      branches_(branches),
      contacts_(contacts),
      delassus_(*model_),
      rows_(*model_, branches_, delassus_.row_order()),
      model_rows_(model.rows_total()) {
    delassus_.bind(rows_);
    delassus_.be_precise(spread_of_mobility(*model_) > kMostSpread);
    const int m = rows_.rows(), n = kTwist * (model_->bodies() + 1);
    for (auto* v : {&compliance_, &lambda_, &trusted_, &residual_, &product_, &acceleration_rows_}) v->assign(m, 0.0);
    for (auto* v : {&scaled_, &step_}) v->assign(n, 0.0);
    for (auto* v : {&rigid_, &enabled_}) v->assign(m, 1);
    for (auto* v : {&inertance_, &unilateral_}) v->assign(m, 0);
    model_row_.assign(m, 0);
    for (int r = 0; r < m; ++r) model_row_[rows_.storage_row(r)] = r;
    for (int r = model_rows_; r < m; ++r) {
        law_row_.push_back(rows_.storage_row(r));
        damping_.push_back(0.0);
        taken_.push_back(0);
        rigid_[law_row_.back()] = 0;
    }
    for (const Block& block : model_->blocks)
        for (int i = block.row_begin; i < std::min(block.row_end, model_rows_); ++i) {
            const int r = rows_.storage_row(i);
            compliance_[r] = block.compliance;
            inertance_[r] = block.compliance > 0.0;
            has_inertance_ |= block.compliance > 0.0;
            rigid_[r] = block.compliance == 0.0;
            unilateral_[r] = block.unilateral;
        }
}

void ImplicitRows::linearize(double t, const double* x, const double* u, double gamma, double tolerance,
                             const std::vector<std::uint8_t>& stops) {
    rows_.evaluate_jacobians(t, x);
    lambda_ = trusted_;
    for (int r = 0; r < rows_.rows(); ++r)
        if (unilateral_[r]) enabled_[r] = !stops.empty() && stops[model_row_[r]];
    multiply(u, product_);
    for (size_t i = 0; i < law_row_.size(); ++i) {
        const int r = law_row_[i];
        const LawSlopes slopes = law_slopes(*model_, model_->laws[i], motion_of(i, t, product_[r]), law_numbers_);
        const double kappa = -gamma * (slopes.rate + gamma * slopes.value);
        if (kappa > 0.0 && (!enabled_[r] || !linearized_)) lambda_[r] = effort(i, t, product_[r]);
        enabled_[r] = taken_[i] = kappa > 0.0;
        compliance_[r] = kappa > 0.0 ? 1.0 / kappa : 1.0;
        damping_[i] = -gamma * slopes.rate;
    }
    linearized_ = true;
    delassus_.set_compliances(compliance_);
    delassus_.factor({tolerance, tolerance, tolerance}, enabled_);
}

// φ of the rows as they are evaluated, and its rate.
LawInput<double> ImplicitRows::motion_of(size_t law, double t, double rate) const {
    const AngleBranches::Friction& friction = branches_.friction(model_->laws[law].friction);
    return {rows_.C[law_row_[law]], rate, t, friction.sense, friction.load};
}

double ImplicitRows::effort(size_t law, double t, double rate) const {
    const Law& at = model_->laws[law];
    const Function* function = at.function < 0 ? nullptr : &model_->functions[at.function];
    return at.kind->effort(motion_of(law, t, rate), at.params, function);
}

// J v for all rows.
void ImplicitRows::multiply(const double* v, std::vector<double>& out) {
    const std::span<const double> root = rows_.sqrt_mass();
    for (size_t k = 0; k < scaled_.size(); ++k) scaled_[k] = root[k] * v[k];
    rows_.multiply(scaled_.data(), out.data());
}

// With ν = γ λ:  M δ = γ (f − M rate) + Jᵀ ν and J δ = −(J u + Ct); on a rotor's row J δ + ε ν = γ (Qc − J rate). In f
// the laws have the efforts of their multipliers.
void ImplicitRows::correct(double t, const double* x, const double* u, const double* rate, double gamma,
                           double* delta) {
    const int m = rows_.rows();
    applied_forces(*model_, branches_, contacts_, t, x, u, delta, taken_.data());
    const double* inverse = rows_.inverse_sqrt_mass().data();
    for (size_t k = 0; k < scaled_.size(); ++k) delta[k] = gamma * (delta[k] * inverse[k] * inverse[k] - rate[k]);
    rows_.evaluate_jacobians(t, x);
    if (has_inertance_) rows_.evaluate_residuals(t, x, u, rate, acceleration_rows_.data());
    multiply(u, residual_);
    for (int r = 0; r < m; ++r) {
        residual_[r] = inertance_[r] ? gamma * (acceleration_rows_[r] - compliance_[r] * lambda_[r])
                                     : -(residual_[r] + rows_.Ct[r]);
        product_[r] = gamma * lambda_[r];
    }
    for (size_t i = 0; i < law_row_.size(); ++i) {
        const int r = law_row_[i];
        const double rate = -residual_[r];  // its row moves by nothing else
        residual_[r] = product_[r] = 0.0;
        if (!enabled_[r]) continue;
        product_[r] = gamma * lambda_[r];
        residual_[r] = gamma * (effort(i, t, rate) - lambda_[r]) * compliance_[r];
    }
    rows_.add_accelerations(product_.data(), delta);
    multiply(delta, product_);
    for (int r = 0; r < m; ++r) residual_[r] -= product_[r];
    delassus_.solve(residual_.data());
    rows_.add_accelerations(residual_.data(), delta);
    for (int r = 0; r < m; ++r) lambda_[r] += residual_[r] / gamma;
}

void ImplicitRows::apply(const double* defect, double* delta) {
    multiply(defect, residual_);
    for (int r = 0; r < rows_.rows(); ++r) residual_[r] = rigid_[r] || inertance_[r] ? 0.0 : -residual_[r];
    delassus_.solve(residual_.data());
    std::copy_n(defect, scaled_.size(), delta);
    rows_.add_accelerations(residual_.data(), delta);
}

void ImplicitRows::solve(const double* r, double* out) {
    multiply(r, residual_);
    for (int k = 0; k < rows_.rows(); ++k) residual_[k] = enabled_[k] && !inertance_[k] ? -residual_[k] : 0.0;
    delassus_.solve(residual_.data());
    std::copy_n(r, scaled_.size(), out);
    rows_.add_accelerations(residual_.data(), out);
}

double ImplicitRows::damping_part(const double* v) {
    multiply(v, product_);
    double damping = 0.0, whole = 0.0;
    for (size_t i = 0; i < law_row_.size(); ++i) {
        const int r = law_row_[i];
        if (!enabled_[r]) continue;
        damping += product_[r] * product_[r] * damping_[i];
        whole += product_[r] * product_[r] / compliance_[r];
    }
    return damping / whole;
}

// −C into residual_; the largest |C|.
double ImplicitRows::position_residuals() {
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        residual_[r] = holds(r) ? -rows_.C[r] : 0.0;
        largest = std::max(largest, std::abs(residual_[r]));
    }
    return largest;
}

// −Ċ into residual_; the largest |Ċ|.
double ImplicitRows::speed_residuals(const double* u) {
    multiply(u, residual_);
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        residual_[r] = holds(r) ? -(residual_[r] + rows_.Ct[r]) : 0.0;
        largest = std::max(largest, std::abs(residual_[r]));
    }
    return largest;
}

void ImplicitRows::solve_displacement(double* delta) {
    delassus_.solve(residual_.data());
    std::fill_n(delta, scaled_.size(), 0.0);
    rows_.add_accelerations(residual_.data(), delta);
}

// Forces given by formulas and contacts have no rows.
bool has_rows_of_forces(const Model& model) { return model.formula_forces.empty() && model.contacts.empty(); }

}  // namespace bellcrank
