// Back onto the constraints: position corrections (Tasora eq. 36), then velocity corrections (37).
#include <algorithm>
#include <cmath>

#include "closing/closing.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;

// Error of the acceleration of a prediction that does no harm.
constexpr double kBearable = 1e-2;

// Error up to which a row that was dropped for doubt holds.
constexpr double kHeld = 1e-7;

// An error that small and not falling any more is rounding.
constexpr double kStagnation = 1e-9;

// Below this relative pivot a configuration may be close to a singular one.
constexpr double kRegularPivot = 1e-4;

// No more is expected of a correction with the factors of a configuration close by.
constexpr double kBestContraction = 1e-3;

// Velocity corrections after the first where digits are short.
constexpr int kMostRepeated = 2;

// Errors that show that a row was dropped wrongly; those of rates in parts of the fastest speed, or of 1 m/s, 1 rad/s.
constexpr double kGivenUp = 1e-6;
constexpr double kRateGivenUp = 1e-4;

}  // namespace

// Largest |C| over the rows in force.
double Closing::largest_error() const {
    const double *in_force = in_force_.data(), *C = rows_.C.data();
    return largest_size(rows_.rows(), [&](int r, auto load) { return load(in_force + r) * load(C + r); });
}

bool Closing::project(double t, double* x, double* u) {
    trusted_pivot_ = options_.rank_tolerance;
    return ConstrainedBodies::project(t, x, u);
}

bool Closing::finish_correction(double t, double* x) {
    correct_doubted_rows(t, x);
    correct_without_velocity_rows(t, x);
    history_.end();
    return dropped_positions_hold() && largest_error() <= std::max(1e3 * options_.position_tolerance, 1e-8);
}

bool Closing::correct_velocities(double* u) {
    correct_velocities(u, true);
    return dropped_rates_hold(u, speed_);
}

bool Closing::project_step(double t, double* x, double* u) {
    anticipate_correction(t, x);
    return project(t, x, u);
}

// Moves x by what the last steps say of this one's correction, with the Jacobian and factors at hand. What is left is
// smaller by some orders of the step, and so takes fewer corrections. Near a singular configuration nothing is smooth,
// and where rows are doubtful for a displacement of that size the correction starts from nothing.
void Closing::anticipate_correction(double t, double* x) {
    if (!anticipates_ || rows_.rows() == 0) return;
    const double* expected = history_.expect(t);
    const bool as_before = delassus_.dropped_count() == dropped_then_;
    dropped_then_ = delassus_.dropped_count();
    if (expected == nullptr || known_ == Known::nothing || !as_before || statistics_.smallest_pivot < kRegularPivot)
        return;
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = in_force_[r] * expected[r];
    apply_multipliers(rhs_, step_.data());
    const double doubtful = options_.doubt * largest_rotation(step_.data());
    if (doubtful * doubtful > statistics_.smallest_pivot) return;
    retract(x, step_.data(), x);
    history_.add(rhs_.data());
}

// A row dropped for doubt holds as those do that it nearly depends on, or the configuration is on another branch than
// it seemed. Where one does not hold, those that are independent without doubt are corrected as well; what they are
// left with counts as an error again.
//
// A stop that was run into is corrected whatever the doubt: nothing else would ever hold it, for it is as deep in doubt
// in every step that follows.
void Closing::correct_doubted_rows(double t, double* x) {
    if (trusted_pivot_ <= options_.rank_tolerance || delassus_.dropped_count() == 0) return;
    if (runs_through_a_stop()) {
        trusted_pivot_ = options_.rank_tolerance;
        refactor();
        correct_positions(t, x, false);
        return;
    }
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r)
        if (rigid_[r] && !unilateral_[r]) largest = std::max(largest, std::abs(rows_.C[r]));
    if (largest <= kHeld) return;
    const int dropped = delassus_.dropped_count();
    trusted_pivot_ = options_.rank_tolerance;
    refactor();
    if (delassus_.dropped_count() == dropped) return;
    correct_positions(t, x);
    if (trusted_pivot_ > options_.rank_tolerance) {
        trusted_pivot_ = options_.rank_tolerance;
        refactor();
    }
}

// Where a condition of velocities says what the rate of a row of positions does, either may be the one that is dropped.
// Only the other can hold positions: where rows were dropped these are corrected once more, without such conditions.
void Closing::correct_without_velocity_rows(double t, double* x) {
    if (velocity_rows_.empty() || statistics_.dropped_rows == 0) return;
    for (const int r : velocity_rows_) enabled_[r] = 0;
    refactor();
    correct_positions(t, x, false);
    for (const int r : velocity_rows_) enabled_[r] = 1;
    refactor();
}

bool Closing::runs_through_a_stop() const {
    for (const int r : stop_rows_)
        if (enabled_[r] && delassus_.dropped(r) && rows_.C[r] < -options_.contact_tolerance) return true;
    return false;
}

// Where rows are dependent up to an angle θ, an error C of the rows may be one of C/θ of the configuration, and costs
// the acceleration C/θ², θ² being the smallest relative pivot: there the stage is moved by Newton's method with its own
// Jacobian. That of a stage before, on the other side of a singular configuration, would move it the wrong way.
void Closing::project_stage(double t, double* x, double* u) {
    if (rows_.rows() == 0) return;
    trusted_pivot_ = options_.rank_tolerance;
    if (!is_current(t, x)) {
        known_ = Known::nothing;
        if (!stops_.empty()) open_stops();
        refresh(t, x);
    }
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    correct_positions(t, x);
    correct_velocities(u, false);
}

bool Closing::project_prediction(double t, double* x, double* u) {
    const double pivot = statistics_.smallest_pivot;
    if (rows_.rows() == 0 || pivot >= options_.stage_pivot || largest_error() < kBearable * pivot) return false;
    project_stage(t, x, u);
    return true;
}

// Eq. 36, iterated from the C at hand: Δx = M⁻¹ Jᵀ τ with S τ = −C. The Jacobian and the factors are those of a
// configuration close by, as in section 5; they are renewed when the error does not fall fast, and at the end, where
// the velocity correction and the next acceleration use them. The Jacobian is evaluated along with the values that are
// expected to be the last.
//
// A configuration that is wrong by a rotation ε tells nothing about rows that are dependent up to an angle of that
// size: near a singular configuration it could be moved onto another branch. Such rows are dropped as if it were
// singular.
void Closing::correct_positions(double t, double* x, bool doubting) {
    bool fresh = known_ == Known::nothing;
    if (fresh) refresh(t, x);
    const double tolerance = std::max(options_.position_tolerance, rounding_of_rows(x));
    double error = largest_error(), contraction = contraction_;
    bool evaluated = false;
    for (int i = 0; !(error <= tolerance) && i < options_.max_corrections; ++i) {
        position_step();
        const double rotation = largest_rotation(step_.data()), doubtful = options_.doubt * rotation;
        if (doubting && doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                refactor();
                position_step();
            }
        }
        retract(x, step_.data(), x);
        corrected_ += rotation;
        history_.add(rhs_.data());
        ++statistics_.corrections;
        evaluated = 2.0 * error * contraction <= tolerance;
        evaluated ? rows_.evaluate_jacobians(t, x) : rows_.evaluate_values(t, x);
        const double next = largest_error();
        contraction = next / error;
        if (i == 0) contraction_ = std::max(contraction, kBestContraction);
        error = next;
        const bool slow = !(contraction < 0.25), renewed = slow || (evaluated && !(error <= tolerance));
        if (slow && fresh && error < kStagnation) break;
        if (renewed) refresh(t, x);
        fresh = renewed;
    }
    if (is_current(t, x)) return;
    if (!evaluated) rows_.evaluate_jacobians(t, x);
    remember(t, x);
    refactor();
}

double Closing::position_noise(const double* x) const {
    return rows_.rows() == 0 ? 0.0 : std::max(options_.position_tolerance, rounding_of_rows(x));
}

void Closing::position_step() {
    for (int r = 0; r < rows_.rows(); ++r) rhs_[r] = -in_force_[r] * rows_.C[r];
    solve(rhs_);
    apply_multipliers(rhs_, step_.data());
}

// Eq. 37: Δu = M⁻¹ Jᵀ μ with S μ = −Ċ; with impacts, stops take part.
void Closing::correct_velocities(double* u, bool impacts) {
    if (impacts && !stops_.empty())
        meet_stops_at(u);
    else
        correct_rates(u);
    // Of a very light body the sum of impulses has the rounding of large ones: what that left is small.
    for (int i = 0; i < kMostRepeated && delassus_.is_precise() && stops_.empty(); ++i) {
        scale(u, scaled_.data());
        rows_.multiply(scaled_.data(), impulse_.data());
        for (int r = 0; r < rows_.rows(); ++r) impulse_[r] = rigid_[r] ? -(impulse_[r] + rows_.Ct[r]) : 0.0;
        solve(impulse_);
        rows_.add_accelerations(impulse_.data(), u);
    }
    flatten(u);
}

// Whether rows that were dropped follow from the others. One that does not hold is given up, and the constraints are
// not met.
bool Closing::dropped_rows_within(const std::vector<double>& errors, double limit) const {
    if (!out_of_force_) return true;
    for (int r = 0; r < rows_.rows(); ++r)
        if (rigid_[r] && !unilateral_[r] && in_force_[r] == 0.0 && !(std::abs(errors[r]) <= limit)) return false;
    return true;
}

bool Closing::dropped_positions_hold() const { return dropped_rows_within(rows_.C, kGivenUp); }

// `before`: the rates before the last correction, which changes them by little: they are found again only where one did
// not hold.
bool Closing::dropped_rates_hold(const double* u, const std::vector<double>& before) {
    if (!out_of_force_) return true;
    double fastest = 1.0;
    for (int k = 0; k < tangent_size(); ++k) fastest = std::max(fastest, std::abs(u[k]));
    if (dropped_rows_within(before, kRateGivenUp * fastest)) return true;
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) speed_[r] += rows_.Ct[r];
    return dropped_rows_within(speed_, kRateGivenUp * fastest);
}

}  // namespace bellcrank
