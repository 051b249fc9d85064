#include "bodies/closing.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// Error of the acceleration of a prediction that does no harm.
constexpr double kBearable = 1e-2;

// Below this relative pivot a configuration may be close to a singular one.
constexpr double kRegularPivot = 1e-4;

// Velocity corrections after the first where digits are short.
constexpr int kMostRepeated = 2;

// Of what rows were off at first: what may be left of it, and how often it is solved for.
constexpr double kLeft = 1e-15;
constexpr int kMostRounds = 3;

}  // namespace

Closing::Closing(const char* name, std::shared_ptr<const Model> model, const RefinedClosingOptions& options,
                 Delassus delassus)
    : ConstrainedBodies(name, std::move(model), delassus.row_order(), options),
      judge_(std::move(delassus), *model_, rows_, enabled_, open_, options, statistics_),
      step_(tangent_size(), 0.0),
      rhs_(rows_.rows(), 0.0),
      // A condition of velocities has no error of its own that would correct what is anticipated of its multiplier.
      anticipates_(stops_.empty() && velocity_rows_.empty()) {
    history_.resize(rows_.rows());
    in_force_.assign(rigid_.begin(), rigid_.end());
}

void Closing::refresh(double t, const double* x) {
    rows_.evaluate_jacobians(t, x);
    remember(t, x);
    refactor();
}

void Closing::rows_changed() {
    judge_.forget();
    if (known_ != Known::nothing) refactor();
}

void Closing::refactor() {
    judge_.factor(trusted_pivot_);
    note_rows_in_force();
}

bool Closing::judge() {
    const bool again = judge_.judge();
    note_rows_in_force();
    return again;
}

void Closing::note_rows_in_force() {
    const bool some = factors().dropped_count() > 0;
    if (some || out_of_force_)
        for (int r = 0; r < rows_.rows(); ++r) in_force_[r] = rigid_[r] && !factors().dropped(r) ? 1.0 : 0.0;
    out_of_force_ = some;
}

// out = M⁻¹ Jᵀ λ
void Closing::apply_multipliers(const std::vector<double>& lambda, double* out) const {
    std::fill_n(out, tangent_size(), 0.0);
    rows_.add_accelerations(lambda.data(), out);
}

void Closing::add_null_vectors(RowLoads& out) {
    judge_.for_each_null_vector([&](const std::vector<double>& w) { out.add_nothing() = w; });
}

// Refined while the rows at hand say that something is left.
void Closing::solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) {
    mu.assign(rows_.rows(), 0.0);
    double most = 0.0;
    for (int round = 0; round < kMostRounds; ++round) {
        scale(v, scaled_.data());
        rows_.multiply(scaled_.data(), rhs_.data());
        double left = 0.0;
        for (int r = 0; r < rows_.rows(); ++r) {
            rhs_[r] = wanted[r] - rhs_[r];
            most = std::max(most, std::abs(rhs_[r]));
        }
        if (round > 0) factors().subtract_compliance(mu.data(), rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r)
            if (!factors().dropped(r)) left = std::max(left, std::abs(rhs_[r]));
        if (!(left > kLeft * most)) return;
        judge_.solve(rhs_);
        for (int r = 0; r < rows_.rows(); ++r) mu[r] += rhs_[r];
        rows_.add_accelerations(rhs_.data(), v);
    }
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
    for (int r : factors().dependent_rows()) dropped.push_back(model_row[r]);
    std::sort(dropped.begin(), dropped.end());
    return dropped;
}

std::vector<Dependence> Closing::dependences(int most) {
    const std::vector<int> model_row = model_rows();
    std::vector<Dependence> found = factors().dependences(most);
    for (Dependence& one : found) {
        one.row = model_row[one.row];
        for (auto& [row, factor] : one.of) row = model_row[row];
        std::sort(one.of.begin(), one.of.end());
    }
    std::sort(found.begin(), found.end(), [](const Dependence& a, const Dependence& b) { return a.row < b.row; });
    return found;
}

bool Closing::project_step(double t, double* x, double* u) {
    anticipate_correction(t, x);
    const bool met = project(t, x, u);
    history_.end();
    return met;
}

// Moves x by what the last steps say of this one's correction, with the Jacobian and factors at hand. What is left is
// smaller by some orders of the step, and so takes fewer corrections. Near a singular configuration nothing is smooth,
// and where rows are doubtful for a displacement of that size the correction starts from nothing.
void Closing::anticipate_correction(double t, double* x) {
    if (!anticipates_ || rows_.rows() == 0) return;
    const double* expected = history_.expect(t);
    const bool as_before = factors().dropped_count() == dropped_then_;
    dropped_then_ = factors().dropped_count();
    if (expected == nullptr || known_ == Known::nothing || !as_before || statistics_.smallest_pivot < kRegularPivot)
        return;
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = in_force_[r] * expected[r];
    apply_multipliers(rhs_, step_.data());
    const double doubtful = options_.doubt * largest_rotation(step_.data());
    if (doubtful * doubtful > statistics_.smallest_pivot) return;
    take(step_.data(), x);
}

bool Closing::project_prediction(double t, double* x, double* u) {
    const double pivot = statistics_.smallest_pivot;
    if (rows_.rows() == 0 || pivot >= options_.stage_pivot || largest_error(false) < kBearable * pivot) return false;
    project_stage(t, x, u);
    return true;
}

double Closing::largest_error(bool dropped) {
    if (dropped) return largest_given_up();
    const double *in_force = in_force_.data(), *C = rows_.C.data();
    return largest_size(rows_.rows(), [&](int r, auto load) { return load(in_force + r) * load(C + r); });
}

bool Closing::begin_corrections(double t, const double* x) {
    if (known_ != Known::nothing) return false;
    refresh(t, x);
    return true;
}

bool Closing::evaluate(double t, const double* x, bool last) {
    last ? rows_.evaluate_jacobians(t, x) : rows_.evaluate_values(t, x);
    return false;
}

void Closing::finish_corrections(double t, const double* x, bool evaluated) {
    if (is_current(t, x)) return;
    if (!evaluated) rows_.evaluate_jacobians(t, x);
    remember(t, x);
    refactor();
}

// With its multipliers in rhs_.
const double* Closing::displacement() {
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -in_force_[r] * rows_.C[r];
    judge_.solve(rhs_);
    apply_multipliers(rhs_, step_.data());
    return step_.data();
}

void Closing::take(const double* xi, double* x) {
    retract(x, xi, x);
    history_.add(rhs_.data());
}

double Closing::position_noise(const double* x) const {
    return rows_.rows() == 0 ? 0.0 : std::max(options_.position_tolerance, rounding_of_rows(x));
}

// Of a very light body the sum of impulses has the rounding of large ones: what that left is small.
double Closing::correct_rates(double t, const double* x, double* u) {
    const double wrong = ConstrainedBodies::correct_rates(t, x, u);
    for (int i = 0; i < kMostRepeated && judge_.factors().is_precise() && stops_.empty(); ++i)
        ConstrainedBodies::correct_rates(t, x, u);
    return wrong;
}

}  // namespace bellcrank
