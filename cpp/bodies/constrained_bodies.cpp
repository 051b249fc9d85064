#include "bodies/constrained_bodies.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrices/shared_loads.hpp"
#include "model/topology.hpp"

namespace bellcrank {

namespace {

// Of a coordinate of size one.
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

// What may be corrected beyond the way since the last step [rad], by coarse methods too.
constexpr double kLittleCorrected = 0.02;

// Of speeds: the most that rounding leaves of an impact.
constexpr double kRefined = 1e-6;

// Up to so many redundant rows a basis of what exerts nothing is formed.
constexpr int kFew = 15;

double largest_difference(const double* values, const std::vector<double>& before) {
    double largest = 0.0;
    for (size_t i = 0; i < before.size(); ++i) largest = std::max(largest, std::abs(values[i] - before[i]));
    return largest;
}

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
                                     const StopOptions& options)
    : Bodies(name, std::move(model), order),
      open_(!has_loops(*model_)),
      stops_(*model_, options),
      lambda_(rows_.rows(), 0.0) {
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

bool ConstrainedBodies::enable_stops(const std::vector<std::uint8_t>& active) {
    bool changed = false;
    for (size_t i = 0; i < stop_rows_.size(); ++i) {
        changed |= enabled_[stop_rows_[i]] != active[i];
        enabled_[stop_rows_[i]] = active[i];
    }
    if (changed) rows_changed();
    return changed;
}

bool ConstrainedBodies::open_stops() {
    stops_.open();
    return enable_stops(stops_.active());
}

void ConstrainedBodies::gather_gaps() {
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.gap[i] = rows_.C[stop_rows_[i]];
}

void ConstrainedBodies::gather_stops(const double* u) {
    gather_gaps();
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stop_rows_.size(); ++i) stops_.speed[i] = speed_[stop_rows_[i]] + rows_.Ct[stop_rows_[i]];
}

// y is the acceleration off the stops that something lies on.
void ConstrainedBodies::seek_contacts(const double* u) {
    gather_stops(u);
    stops_.seek_contacts();
}

void ConstrainedBodies::note_contacts(const std::vector<double>& wanted) {
    double scale = 1e-300;
    for (const double b : wanted) scale = std::max(scale, std::abs(b));
    stops_.note_touched(scale);
    statistics_.closed_stops = stops_.pushing();
}

double ConstrainedBodies::correct_rates(double* u) {
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

// Of a drive, beyond the errors of a method, with Ĵ û in speed_.
bool ConstrainedBodies::some_speed_jumps() const {
    return std::ranges::any_of(driven_rows_, [this](int r) { return stops_.is_fast(speed_[r] + rows_.Ct[r]); });
}

void ConstrainedBodies::meet_stops_at(double* u) {
    gather_stops(u);
    stops_.keep();
    stops_.seek_impacts();
    statistics_.impacts += stops_.bounces();
    if (some_speed_jumps()) stops_.open();
    enable_stops(stops_.active());
    before_.assign(u, u + tangent_size());
    const double wrong = correct_rates(u);
    if (stops_.pushing() > 1 && Stops::is_far(largest_difference(u, before_), wrong)) {  // none is held to both sides
        std::ranges::copy(before_, u);
        open_stops();
        correct_rates(u);
    }
    gather_stops(u);
    responses_.clear();
    impact_.find(stops_, [this](int stop, double* speeds) { return respond(stop, speeds); });
    std::fill(impulses_.begin(), impulses_.end(), 0.0);
    for (size_t k = 0; k < impact_.struck().size(); ++k)
        for (size_t r = 0; r < impulses_.size(); ++r)
            impulses_[r] += impact_.impulses()[k] * responses_[k * impulses_.size() + r];
    if (impact_.struck().empty()) return;
    rows_.add_accelerations(impulses_.data(), u);
    enable_stops(stops_.active());
    refine_impact(u);
}

// What rounding of the responses leaves: those that push have their speeds then, and equations hold. More than rounding
// is what rows that are nearly dependent make of it.
void ConstrainedBodies::refine_impact(double* u) {
    before_.assign(u, u + tangent_size());
    find_rates(u);
    for (int r = 0; r < rows_.rows(); ++r) impulses_[r] = -speed_[r];
    for (size_t i = 0; i < stop_rows_.size(); ++i)
        if (stops_.active()[i]) impulses_[stop_rows_[i]] += stops_.bounce()[i];
    find_impulses(impulses_);
    rows_.add_accelerations(impulses_.data(), u);
    double fastest = 0.0;
    for (const double speed : before_) fastest = std::max(fastest, std::abs(speed));
    if (!(largest_difference(u, before_) <= kRefined * fastest)) std::ranges::copy(before_, u);
}

// From the speed 1 off one stop, by what pushes.
bool ConstrainedBodies::respond(int stop, double* speeds) {
    stops_.push_alone(stop);
    enable_stops(stops_.active());
    const int row = stop_rows_[stop];
    std::fill(impulses_.begin(), impulses_.end(), 0.0);
    impulses_[row] = 1.0;
    find_impulses(impulses_);
    const double impulse = impulses_[row];
    if (!(impulse > 0.0)) return false;
    for (double& l : impulses_) l /= impulse;
    std::fill(scaled_.begin(), scaled_.end(), 0.0);
    rows_.add_transposed(impulses_.data(), scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (size_t i = 0; i < stop_rows_.size(); ++i) speeds[i] = speed_[stop_rows_[i]];
    responses_.insert(responses_.end(), impulses_.begin(), impulses_.end());
    return true;
}

bool ConstrainedBodies::close_positions(double t, double* x) {
    rows_.evaluate_values(t, x);
    corrected_ = 0.0;
    gather_gaps();
    stops_.reset();
    began_.assign(x, x + (stops_.empty() ? 0 : configuration_size()));
    const double wrong = close_together(t, x);
    if (stops_.pushing() > 1 && Stops::is_far(largest_difference(x, began_), wrong)) {
        std::ranges::copy(began_, x);
        close_singly(t, x);
    }
    const bool met = finish_correction(t, x);
    gather_gaps();
    return met && stops_.hold();
}

// Pushing out of one stop may push into another. The largest error of rows, and of stops that came to push.
double ConstrainedBodies::close_together(double t, double* x) {
    double wrong = 0.0;
    for (size_t pass = 0; pass <= stop_rows_.size(); ++pass) {
        gather_gaps();
        stops_.close_penetrated();
        const bool more = enable_stops(stops_.active());
        if (pass > 0 && !more) break;
        for (int r = 0; r < rows_.rows() && !stops_.empty(); ++r)
            if (rigid_[r] && enabled_[r]) wrong = std::max(wrong, std::abs(rows_.C[r]));
        correct_positions(t, x);
    }
    return wrong;
}

void ConstrainedBodies::close_singly(double t, double* x) {
    rows_.evaluate_values(t, x);
    corrected_ = 0.0;
    gather_gaps();
    stops_.close_singly([&] {
        enable_stops(stops_.active());
        correct_positions(t, x);
        gather_gaps();
    });
    close_together(t, x);
}

bool ConstrainedBodies::project(double t, double* x, double* u) {
    if (rows_.rows() == 0) return true;
    const bool held = close_positions(t, x), pushed = stops_.pushing() > 0;
    const auto impacts = statistics_.impacts;
    const bool rates = correct_velocities(u);
    if (!stops_.empty() && statistics_.impacts == impacts) {
        gather_stops(u);
        statistics_.impacts += stops_.passed(t);
    }
    // Out of a stop that it ran into a body may be pushed as far as it went.
    return held && (pushed || in_proportion(t, u)) && rates;
}

void ConstrainedBodies::find_rates(const double* u) {
    scale(u, scaled_.data());
    rows_.multiply(scaled_.data(), speed_.data());
    for (int r = 0; r < rows_.rows(); ++r) speed_[r] = rigid_[r] ? speed_[r] + rows_.Ct[r] : 0.0;
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

// Where a coordinate jumps, as a rotation vector does at half a turn, its row can be met by going somewhere else, where
// no motion leads.
bool ConstrainedBodies::in_proportion(double t, const double* u) const {
    const double passed = std::abs(t - followed_at_);
    if (last_fastest_ < 0.0 || passed == 0.0 || corrected_ <= kLittleCorrected) return true;
    const double fastest = std::max(last_fastest_, largest_rotation(u));
    return corrected_ <= passed * fastest + kLittleCorrected;
}

void ConstrainedBodies::watch_stops(double t, const double* x, const double* u) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watch();
}

void ConstrainedBodies::gaps(double t, const double* x, const double* u, double* out, double* rates) {
    stops_.measure(*model_, branches_, t, x, u);
    stops_.watched_gaps(out, rates);
}

double ConstrainedBodies::first_met(double t, const double* x, const double* u) {
    stops_.measure(*model_, branches_, t, x, u);
    return stops_.first_met(t);
}

void ConstrainedBodies::commit(double t, const double* x, const double* u) {
    Bodies::commit(t, x, u);
    if (stops_.empty()) return;
    stops_.measure(*model_, branches_, t, x, u);
    stops_.remember(t);
}

void ConstrainedBodies::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                                     double* u) {
    Bodies::from_records(t, poses, twists, continued, x, u);
    stops_.forget();
}

void ConstrainedBodies::set_angles(double* x, const double* values) {
    Bodies::set_angles(x, values);
    stops_.forget();
}

// Redundant rows: how they share their load is open. What is reported is of least norm, reactions and efforts together:
// among multipliers that exert the same on every body, those with the least ‖D λ‖, D the moment or force per row. Stops
// push all the same, and those that something lies on without pushing may take a share.
void ConstrainedBodies::share_loads() {
    std::copy(lambda_.begin(), lambda_.end(), shared_.begin());
    nothing_.clear();
    if (rows_.rows() == 0) return;
    const bool more = enable_stops(stops_.touched());
    const int dimension = null_dimension();
    if (dimension > 0 && !(dimension > kFew && !stops_.touches() && share_by_bodies())) {
        add_null_vectors(nothing_);
        std::vector<int> pushing;
        for (size_t i = 0; i < stop_rows_.size(); ++i)
            if (stops_.touched()[i]) pushing.push_back(stop_rows_[i]);
        share_by_basis(weight_, pushing, nothing_, shared_);
        for (const int r : stop_rows_) shared_[r] = std::max(shared_[r], 0.0);
    }
    if (more) enable_stops(stops_.active());
}

// For many redundant rows: what they exert together is shared anew. False, with nothing shared, where digits are short.
bool ConstrainedBodies::share_by_bodies() {
    if (!sharing_) sharing_ = std::make_unique<LoadSharing>(*model_, rows_);
    std::vector<std::uint8_t> takes_part(rigid_);
    for (size_t r = 0; r < enabled_.size(); ++r) takes_part[r] &= enabled_[r];
    return sharing_->share_all(takes_part, weight_, shared_, nothing_);
}

}  // namespace bellcrank
