#include "bodies/constrained_bodies.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/topology.hpp"

namespace bellcrank {

namespace {

// Of a coordinate of size one.
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

// Up to so many redundant rows a basis of what exerts nothing is formed.
constexpr int kFew = 15;

// Whether some blocks connect bodies that others connect already.
bool has_loops(const Model& model) {
    DisjointSets connected(model.bodies() + 1);
    for (int i = 0; i < static_cast<int>(model.blocks.size()); ++i) {
        const std::vector<int> bodies = model.bodies_of(i);
        for (size_t k = 1; k < bodies.size(); ++k)
            if (!connected.join(bodies[0], bodies[k])) return true;
    }
    return false;
}

}  // namespace

ConstrainedBodies::ConstrainedBodies(const char* name, std::shared_ptr<const Model> model, const RowOrder& order,
                                     const ClosingOptions& options)
    : Projected(options, kTwist * (model->bodies() + 1), name, model, order),
      open_(!has_loops(*model_)),
      lambda_(rows_.rows(), 0.0),
      in_force_(rows_.rows(), 0.0),
      configuration_(Bodies::configuration_size(), 0.0),
      stop_rates_(rows_.rows(), 0.0) {
    loads_.poses = configuration_.data();
    for (const BlockLayout& b : rows_.blocks())
        for (int r = b.row; r < b.row + b.size; ++r)
            if (model_->blocks[b.block].of_velocity) velocity_rows_.push_back(r);
    for (const int row : stops_.rows()) stop_rows_.push_back(rows_.storage_row(row));
    for (const Block& block : model_->blocks)
        for (int row = block.row_begin; row < block.row_end && !block.unilateral; ++row)
            if (model_->rows[row].function >= 0) driven_rows_.push_back(rows_.storage_row(row));
    if (stops_.empty() && velocity_rows_.empty()) return;
    enabled_.assign(rows_.rows(), 1);
    for (const int r : stop_rows_) enabled_[r] = 0;
}

bool ConstrainedBodies::project(double t, double* x, double* u) {
    const bool met = move_onto_rows(t, x, u);
    if (has_rows()) flatten(u);
    return met;
}

void ConstrainedBodies::project_stage(double t, double* x, double* u) {
    if (close_stage(t, x, u)) flatten(u);
}

// Where rows are dependent up to an angle θ, an error C of the rows may be one of C/θ of the configuration, and costs
// the acceleration C/θ², θ² being the smallest relative pivot: there the stage is moved by Newton's method with its own
// Jacobian. That of a stage before, on the other side of a singular configuration, would move it the wrong way.
bool ConstrainedBodies::begin_stage(double t, const double* x, const double*) {
    if (rows_.rows() == 0) return false;
    trusted_pivot_ = options_.rank_tolerance;
    if (!is_current(t, x)) {
        known_ = Known::nothing;
        stops_.open_others();
        enable_stops();
        refresh(t, x);
    }
    return !(statistics_.smallest_pivot >= options_.stage_pivot);
}

bool ConstrainedBodies::is_current(double t, const double* x) const {
    return known_ == Known::all && t == time_ && is_configuration(x);
}

bool ConstrainedBodies::is_configuration(const double* x) const {
    return std::memcmp(x, configuration_.data(), configuration_.size() * sizeof(double)) == 0;
}

void ConstrainedBodies::remember(double t, const double* x) {
    std::copy_n(x, configuration_.size(), configuration_.begin());
    time_ = t;
    known_ = Known::all;
}

void ConstrainedBodies::evaluate_rows(double t, const double* x) {
    if (!is_current(t, x)) refresh(t, x);
}

void ConstrainedBodies::inputs_changed() {
    known_ = Known::nothing;
    is_shared_ = false;
    constant_.reset();
    if (equations_) equations_->inputs_changed();
    if (implicit_) implicit_->take_inputs(*model_);
}

void ConstrainedBodies::enable_stops() {
    bool changed = false;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        changed |= enabled_[stop_rows_[i]] != stops_.active()[i];
        enabled_[stop_rows_[i]] = stops_.active()[i];
    }
    if (changed) rows_changed();
}

void ConstrainedBodies::open_stops() {
    stops_.open();
    enable_stops();
}

void ConstrainedBodies::leave_out_velocity_rows(bool out, double, const double*) {
    for (const int r : velocity_rows_) enabled_[r] = !out;
    refactor();
}

void ConstrainedBodies::measure_stops(double t, const double* x, const double* u) {
    if (stops_.empty()) return;
    if (!is_current(t, x)) return Projector::measure_stops(t, x, u);
    const bool moves = u != at_rest_.data();
    if (moves) {
        scale(u, scaled_.data());
        rows_.multiply(scaled_.data(), stop_rates_.data());
    }
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        const int r = stop_rows_[i];
        stops_.gap[i] = rows_.C[r];
        stops_.speed[i] = rows_.Ct[r] + (moves ? stop_rates_[r] : 0.0);
    }
}

// Beyond what impacts ask for.
void ConstrainedBodies::find_rates(const double* u) {
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) speed_[r] = rigid_[r] ? speed_[r] + rows_.Ct[r] : 0.0;
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (stops_.active()[i]) speed_[stop_rows_[i]] -= stops_.bounce()[i];
}

// Eq. 37: Δu = M⁻¹ Jᵀ μ with S μ = −Ċ.
double ConstrainedBodies::correct_rates(double, const double*, double* u) {
    find_rates(u);
    double wrong = 0.0;
    impulses_.resize(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) {
        impulses_[r] = -speed_[r];
        if (enabled_.empty() || enabled_[r]) wrong = std::max(wrong, std::abs(speed_[r]));
    }
    find_impulses(impulses_);
    rows_.add_accelerations(impulses_.data(), u);
    return wrong;
}

double ConstrainedBodies::largest_jump(double, const double*, const double* u) {
    if (driven_rows_.empty()) return 0.0;
    find_rates(u);
    double largest = 0.0;
    for (const int r : driven_rows_) largest = std::max(largest, std::abs(speed_[r]));
    return largest;
}

double ConstrainedBodies::push_off(double, const double*, int stop, double* change) {
    const int row = stop_rows_[stop];
    impulses_.assign(rows_.rows(), 0.0);
    impulses_[row] = 1.0;
    find_impulses(impulses_);
    std::fill_n(change, tangent_size(), 0.0);
    rows_.add_accelerations(impulses_.data(), change);
    return impulses_[row];
}

int ConstrainedBodies::redundant_at(double t, const double* x) {
    trusted_pivot_ = options_.rank_tolerance;
    enable_stops();
    refresh(t, x);
    return statistics_.dropped_rows;
}

double ConstrainedBodies::largest_given_up() const {
    double largest = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        const double error = unilateral_[r] ? (enabled_[r] ? -rows_.C[r] : 0.0) : std::abs(rows_.C[r]);
        if (is_given_up(r) && !(error <= largest)) largest = error;
    }
    return largest;
}

bool ConstrainedBodies::dropped_rates_within(double limit) {
    for (int r = 0; r < rows_.rows(); ++r)
        if (is_given_up(r) && !unilateral_[r] && !(std::abs(speed_[r]) <= limit)) return false;
    return true;
}

double ConstrainedBodies::largest_of_rows(const std::vector<double>& values) {
    double largest = 1e-300;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

double ConstrainedBodies::largest_rotation(const double* displacement) const {
    double largest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 phi = twist_angular(displacement, b);
        largest = std::max(largest, dot(phi, phi));
    }
    return std::sqrt(largest);
}

// A gap is the difference of coordinates, each with the rounding of its size.
double ConstrainedBodies::rounding_of_rows(const double* x) const {
    double largest = 0.0;
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(x[kPose * b + k]));
    return kRounding * largest;
}

void ConstrainedBodies::commit(double t, const double* x, const double* u) {
    Bodies::commit(t, x, u);
    begin_step(t, x, u);
}

void ConstrainedBodies::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                                     double* u) {
    Bodies::from_records(t, poses, twists, continued, x, u);
    forget_step();
}

void ConstrainedBodies::set_angles(double* x, const double* values) {
    Bodies::set_angles(x, values);
    forget_step();
}

// Stops push all the same, and those that something lies on without pushing may take a share. A basis of what exerts
// nothing is formed where few rows are redundant, or digits are short.
void ConstrainedBodies::share_loads() {
    loads_.clear();
    std::copy(lambda_.begin(), lambda_.end(), loads_.multipliers.begin());
    if (rows_.rows() == 0) return;
    pushing_ = stops_.active();
    stops_.push(stops_.touched());
    enable_stops();
    const int dimension = null_dimension();
    shares_linearly_ = true;
    if (dimension > kFew && !stops_.touches() && share_by_bodies()) {
        shares_linearly_ = false;
    } else if (dimension > 0) {
        add_null_vectors(loads_);
        const std::vector<int> pushing = stops_.touched_of(stop_rows_);
        loads_.share_by_basis(pushing);
        shares_linearly_ = !share_within_limits(loads_) && pushing.empty();
    }
    stops_.push(pushing_);
    enable_stops();
}

bool ConstrainedBodies::respond(const std::vector<double>& efforts, double* v, std::vector<double>& mu) {
    rows_.add_accelerations(efforts.data(), v);
    targets_.assign(rows_.rows(), 0.0);
    solve_along(targets_, v, mu);
    return true;
}

bool ConstrainedBodies::add_efforts(const std::vector<double>& efforts, double* udot) {
    row_efforts_.assign(rows_.rows(), 0.0);
    for (size_t i = 0; i < stop_rows_.size(); ++i) row_efforts_[stop_rows_[i]] = efforts[i];
    more_.assign(tangent_size(), 0.0);
    if (!respond(row_efforts_, more_.data(), mu_)) return false;
    for (size_t k = 0; k < more_.size(); ++k) udot[k] += more_[k];
    for (size_t r = 0; r < lambda_.size(); ++r) lambda_[r] += mu_[r];
    is_shared_ = is_shared_ && shares_linearly_;
    if (is_shared_) loads_.add_share(mu_);
    return true;
}

bool ConstrainedBodies::share_by_bodies() {
    std::vector<std::uint8_t> takes_part(rigid_);
    for (size_t r = 0; r < enabled_.size(); ++r) takes_part[r] &= enabled_[r];
    std::vector<double> counted(lambda_), load(tangent_size(), 0.0);
    for (size_t r = 0; r < counted.size(); ++r) counted[r] = takes_part[r] ? counted[r] : 0.0;
    rows_.add_transposed(counted.data(), load.data());
    return loads_.share_by_bodies(takes_part, load);
}

}  // namespace bellcrank
