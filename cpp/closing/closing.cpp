#include "closing/closing.hpp"

#include <algorithm>
#include <cstring>

#include "model/forces.hpp"

namespace bellcrank {

namespace {

// Beyond this ratio of masses factors lose more digits than one solution with them can spare.
constexpr double kExactMassRatio = 1e3;

double mass_ratio(const Model& model) {
    if (model.bodies() == 0) return 1.0;
    const auto [least, most] = std::minmax_element(model.mass.begin(), model.mass.end());
    return *most / *least;
}

}  // namespace

Closing::Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options,
                 Delassus delassus)
    : ConstrainedBodies(name, std::move(model), delassus.row_order(), options),
      options_(options),
      delassus_(std::move(delassus)) {
    delassus_.bind(rows_);
    const int m = rows_.rows();
    step_.assign(tangent_size(), 0.0);
    configuration_.assign(configuration_size(), 0.0);
    for (auto* v : {&rhs_, &impulse_, &solution_, &residual_}) v->assign(m, 0.0);
    history_.resize(m);
    in_force_.assign(rigid_.begin(), rigid_.end());
    // A condition of velocities has no error of its own that would correct what is anticipated of its multiplier.
    anticipates_ = stops_.empty() && velocity_rows_.empty();
    trusted_pivot_ = options_.rank_tolerance;
    given_up_.reserve(BlockLdlt::kMostListed);
    forget_dependent_rows();
    wide_masses_ = mass_ratio(*model_) > kExactMassRatio;
    spread_ = spread_of_mobility(*model_);
    always_precise_ = spread_ > kMostSpread && rows_.rows() > 0;
}

bool Closing::is_current(double t, const double* x) const {
    return known_ == Known::all && t == time_ && is_configuration(x);
}

bool Closing::is_configuration(const double* x) const {
    return std::memcmp(x, configuration_.data(), configuration_.size() * sizeof(double)) == 0;
}

void Closing::refresh(double t, const double* x) {
    rows_.evaluate_jacobians(t, x);
    remember(t, x);
    refactor();
}

void Closing::remember(double t, const double* x) {
    std::copy_n(x, configuration_.size(), configuration_.begin());
    time_ = t;
    known_ = Known::all;
}

void Closing::evaluate_rows(double t, const double* x) {
    if (!is_current(t, x)) refresh(t, x);
}

void Closing::inputs_changed() {
    known_ = Known::nothing;
    is_shared_ = false;
}

void Closing::rows_changed() {
    forget_dependent_rows();
    if (known_ != Known::nothing) refactor();
}

// rhs ← S⁺ rhs, refined: the residual of the kept rows is solved for again.
void Closing::solve(std::vector<double>& rhs) {
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

// out = M⁻¹ Jᵀ λ
void Closing::apply_multipliers(const std::vector<double>& lambda, double* out) const {
    std::fill_n(out, tangent_size(), 0.0);
    rows_.add_accelerations(lambda.data(), out);
}

void Closing::add_null_vectors(std::vector<std::vector<double>>& out) {
    delassus_.for_each_null_vector([&](const std::vector<double>& w) { out.push_back(w); });
}

// The model row of each storage row.
std::vector<int> Closing::model_rows() const {
    std::vector<int> model_row(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) model_row[rows_.storage_row(r)] = r;
    return model_row;
}

std::vector<int> Closing::redundant_rows(double t, const double* x) {
    if (rows_.rows() == 0) return {};
    trusted_pivot_ = options_.rank_tolerance;
    known_ = Known::nothing;
    open_stops();
    refresh(t, x);
    return dropped_rows();
}

std::vector<int> Closing::dropped_rows() {
    const std::vector<int> model_row = model_rows();
    std::vector<int> dropped;
    for (int r : delassus_.dependent_rows()) dropped.push_back(model_row[r]);
    std::sort(dropped.begin(), dropped.end());
    return dropped;
}

std::vector<Dependence> Closing::dependences(int most) {
    const std::vector<int> model_row = model_rows();
    std::vector<Dependence> found = delassus_.dependences(most);
    for (Dependence& one : found) {
        one.row = model_row[one.row];
        for (auto& [row, factor] : one.of) row = model_row[row];
        std::sort(one.of.begin(), one.of.end());
    }
    std::sort(found.begin(), found.end(), [](const Dependence& a, const Dependence& b) { return a.row < b.row; });
    return found;
}

}  // namespace bellcrank
