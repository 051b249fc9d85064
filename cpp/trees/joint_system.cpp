#include "trees/joint_system.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/branches.hpp"
#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Pivots of rows that depend on others but for rounding are below.
constexpr double kDependent = 1e-14;
// Digits may be short where mobilities differ by more, or less is left of a joint's inertia beside what it carries.
constexpr double kUneven = 1e6, kHidden = 1e-4;
// Part of the tolerance that closing rows at poses along chains of joints may be wrong by rounding.
constexpr double kRounding = 0.1;

RowOrder order_of_stops(const Model& model) {
    std::vector<int> blocks;
    for (size_t b = 0; b < model.blocks.size(); ++b)
        if (model.blocks[b].unilateral) blocks.push_back(static_cast<int>(b));
    return order_of(std::move(blocks));
}

std::vector<int> together(std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

void refuse(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    if (!text.empty()) throw std::invalid_argument(text);
}

JointSystem::JointSystem(const char* name, std::shared_ptr<const Model> model, const JointSystemOptions& options,
                         JointSpace space)
    : Projected(options, space.speeds, name, std::move(model)),
      joints_(*model_, std::move(space.joints), space.coordinates, space.speeds),
      reactions_(*model_, branches_, contacts_, joints_.joints(), together(space.closing_rows, space.rotor_rows)),
      closing_rows_(std::move(space.closing_rows)),
      derived_angles_(std::move(space.derived_angles)),
      stop_rows_(*model_, branches_, order_of_stops(*model_)),
      other_angles_(joints_.other_angles()),
      is_uneven_(spread_of_mobility(*model_) > kUneven),
      last_rotation_(model_->bodies(), {1, 0, 0, 0}) {
    for (auto* v : {&poses_, &twists_, &rates_}) v->assign(kPose * (model_->bodies() + 1), 0.0);
    errors_.assign(closing_rows_.size(), 0.0);
    residuals_.assign(model_->rows.size(), 0.0);
    std::erase_if(other_angles_,
                  [&](int angle) { return std::ranges::find(derived_angles_, angle) != derived_angles_.end(); });
    std::vector<std::uint8_t> alone(model_->rows.size(), 0);
    for (const Block& block : model_->blocks)
        std::fill(alone.begin() + block.row_begin, alone.begin() + block.row_end, block.of_velocity);
    for (const int row : closing_rows_) {
        of_velocity_.push_back(alone[row]);
        is_driven_.push_back(model_->rows[row].function >= 0);
    }
    if (std::count(of_velocity_.begin(), of_velocity_.end(), 1) == 0) of_velocity_.clear();
}

void JointSystem::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                               double* u) {
    if (!continued) branches_ = starting_branches(*model_, t, poses), contacts_.forget();
    const auto see = [&] {
        for (int b = 0; b < model_->bodies(); ++b) last_rotation_[b] = pose_rotation(poses, b);
    };
    see();
    joints_.read(branches_, poses, twists, x, u);
    joints_.continue_angles(branches_, x);
    followed_at_ = t;
    forget_step();
    follow_angles(x);
    see();  // where angles lack turns that are set later, couplings have placed the bodies elsewhere
}

// Joints given by formulas find their coordinates in the poses of bodies, from the angles set here on.
void JointSystem::set_angles(double* x, const double* values) {
    for (size_t i = 0; i < model_->coordinates.size(); ++i)
        if (model_->coordinates[i].followed()) branches_.set(static_cast<int>(i), values[i]);
    joints_.take_formula_angles(branches_, x);
    joints_.continue_angles(branches_, x);
    to_records(followed_at_, x, at_rest_.data(), poses_.data(), twists_.data());
    branches_.recognize(*model_, poses_.data());
    follow_angles(x);
}

// Angles that are coordinates of the tree count their turns themselves, however long a step.
void JointSystem::to_records(double t, const double* x, const double* u, double* poses, double* twists) {
    joints_.follow_angles(x, branches_);
    follow_derived_angles(t, x);
    place_bodies(t, x, u, poses, twists);
    for (int b = 0; b < model_->bodies(); ++b) store(poses + kPose * b + 4, nearest_sign(b, pose_rotation(poses, b)));
}

// Of q and −q the one that goes on from where the body was seen last.
Quat JointSystem::nearest_sign(int body, const Quat& q) {
    Quat& last = last_rotation_[body];
    const bool flip = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0.0;
    return last = flip ? Quat{-q.w, -q.x, -q.y, -q.z} : q;
}

void JointSystem::follow_angles(const double* x) {
    to_records(followed_at_, x, at_rest_.data(), poses_.data(), twists_.data());
    branches_.follow(*model_, poses_.data());
    joints_.follow_angles(x, branches_);
}

void JointSystem::commit(double t, const double* x, const double* u) {
    followed_at_ = t;
    if (is_uneven_ || statistics_.smallest_inertia < kHidden) note_doubtful(t, x, u);
    joints_.follow_angles(x, branches_);
    if (joints_.has_other_angles()) follow_angles(x);
    if (!contacts_.empty()) {
        to_records(t, x, u, poses_.data(), twists_.data());
        contacts_.commit(poses_.data(), twists_.data());
    }
    begin_step(t, x, u);
}

void JointSystem::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    if (stops_.empty())
        accelerate_held(t, x, u, udot);
    else
        accelerate_loaded(t, x, u, udot, [&] { accelerate_with_stops(t, x, u, udot); });
    if (is_uneven_) last_largest_ = largest_component(udot);
    if (statistics_.largest_dropped > kDependent && trusted_pivot_ == options_.rank_tolerance)
        judge_dropped_rows(t, x, u, udot);
}

// Where a light body is on its own against heavy ones, it accelerates most, and least is left of its inertia.
void JointSystem::note_doubtful(double t, const double* x, const double* u) {
    const double doubt = std::max(last_largest_, 1.0) / statistics_.smallest_inertia;
    if (!(doubt > doubt_)) return;
    doubt_ = doubt;
    doubtful_.t = t;
    doubtful_.x.assign(x, x + configuration_size());
    doubtful_.u.assign(u, u + tangent_size());
}

bool JointSystem::take_doubtful_moment(Moment& out) {
    if (doubt_ == 0.0) return false;
    out = doubtful_;
    doubt_ = 0.0;
    return true;
}

// Forces of the last solution, and the size of all multipliers.
double JointSystem::gather_forces() {
    double scale = 1e-300;
    for (size_t i = 0; i < closing_rows_.size(); ++i) scale = std::max(scale, std::abs(multiplier(i)));
    for (int i = 0; i < stops_.count(); ++i) stops_.force[i] = stops_.active()[i] ? multiplier(loops() + i) : 0.0;
    return scale;
}

// With y the accelerations off the stops that something lies on: C̈ at the bodies' accelerations.
void JointSystem::accelerate_with_stops(double t, const double* x, const double* u, double* udot) {
    seek_contacts(t, x, u);
    double largest = norm(model_->gravity);
    stops_.find_active([&] {
        accelerate_held(t, x, u, udot);
        if (!stops_.seeks()) return 0.0;
        body_accelerations(t, x, u, udot, rates_.data());
        to_records(t, x, u, poses_.data(), twists_.data());
        stop_rows_.evaluate_jacobians(t, poses_.data());
        stop_rows_.evaluate_residuals(t, poses_.data(), twists_.data(), rates_.data(), residuals_.data());
        for (int i = 0; i < stops_.count(); ++i)
            stops_.leaving[i] = -residuals_[stop_rows_.storage_row(stops_.rows()[i])];
        largest = std::max(largest, largest_component(udot));
        return gather_forces();
    });
    note_contacts(largest);
}

// A row that rounding cannot have made independent, and is dropped all the same: accelerations are as uncertain as they
// change with it.
void JointSystem::judge_dropped_rows(double t, const double* x, const double* u, double* udot) {
    other_udot_.resize(joints_.speeds());
    trusted_pivot_ = kDependent;
    accelerate_held(t, x, u, other_udot_.data());
    trusted_pivot_ = options_.rank_tolerance;
    accelerate_held(t, x, u, udot);
    double largest = 0.0, change = 0.0;
    for (int k = 0; k < joints_.speeds(); ++k) {
        largest = std::max({largest, std::abs(udot[k]), std::abs(other_udot_[k])});
        change = std::max(change, std::abs(udot[k] - other_udot_[k]));
    }
    if (change > 0.0) statistics_.uncertainty = std::max(statistics_.uncertainty, change / largest);
}

// Stops act at the ends of steps.
bool JointSystem::begin_stage(double t, const double* x, const double* u) {
    stops_.open();
    if (is_open()) return false;
    trusted_pivot_ = options_.rank_tolerance;
    factor_at(t, x, u);
    return !(statistics_.smallest_pivot >= options_.stage_pivot);
}

bool JointSystem::begin_corrections(double t, const double* x) {
    std::fill(errors_.begin(), errors_.end(), 0.0);
    if (!is_open()) prepare(t, x);
    return true;
}

bool JointSystem::evaluate(double t, const double* x, bool) {
    prepare(t, x);
    return true;
}

// Makes rows, factors and errors_ ready at x.
void JointSystem::prepare(double t, const double* x) {
    factor_at(t, x, at_rest_.data());
    find_errors(t, x);
    ignore_left_out();
    prepared_ = stops_.active();
}

void JointSystem::ignore_left_out() {
    for (size_t i = 0; i < errors_.size(); ++i)
        if (is_left_out(i)) errors_[i] = 0.0;
}

void JointSystem::leave_out_velocity_rows(bool out, double t, const double* x) {
    positions_alone_ = out;
    if (!out) prepare(t, x);
}

// Where rows are dependent up to an angle θ, an error C costs the acceleration C/θ². One that is rounding is left
// alone: its correction would be rounding by θ.
double JointSystem::sharpness() const { return std::clamp(statistics_.smallest_pivot, kRounding, 1.0); }

// Closing rows are left with errors up to the tolerance: coordinates on them are known no better than that.
double JointSystem::position_noise(const double*) const {
    return closing_rows_.empty() ? 0.0 : options_.position_tolerance;
}

// Where there are such rows, worst_row_ is the one with the largest error.
double JointSystem::largest_error(bool dropped) {
    double largest = 0.0;
    for (size_t i = 0; i < errors_.size(); ++i) {
        const double error = dropped && i >= loops() ? -errors_[i] : std::abs(errors_[i]);
        if (is_dropped(i) != dropped || error < largest) continue;
        largest = error;
        if (!dropped || !(error <= kGivenUp)) worst_row_ = closing_rows_[i];
        if (std::isnan(error)) break;
    }
    return largest;
}

bool JointSystem::dropped_rates_within(double limit) {
    for (size_t i = 0; i < loops(); ++i)
        if (is_dropped(i) && !(std::abs(errors_[i]) <= limit)) {
            worst_row_ = closing_rows_[i];
            return false;
        }
    return true;
}

void JointSystem::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    add_violation_of_drives(t, x, u, position, velocity);
    if (closing_rows_.empty()) return;
    evaluate_rows(t, x, u);
    find_errors(t, x);
    for (size_t i = 0; i < errors_.size(); ++i) {
        const double error = i < loops() ? std::abs(errors_[i]) : -errors_[i];
        if (error > *position) *position = error, worst_row_ = closing_rows_[i];
    }
    find_row_rates(t, x, u);
    for (size_t i = 0; i < loops(); ++i) *velocity = std::max(*velocity, std::abs(errors_[i]));
}

void JointSystem::find_rates(double t, const double* x, const double* u) {
    find_row_rates(t, x, u);
    for (int i = 0; i < stops_.count(); ++i) errors_[loops() + i] -= stops_.bounce()[i];
    ignore_left_out();
}

// Leaves in errors_ what the rates were.
double JointSystem::correct_rates(double t, const double* x, double* u) {
    if (is_open()) return 0.0;
    if (prepared_ != stops_.active()) prepare(t, x);
    find_rates(t, x, u);
    double wrong = 0.0;
    for (const double error : errors_) wrong = std::max(wrong, std::abs(error));
    const double* change = step();
    for (int k = 0; k < tangent_size(); ++k) u[k] += change[k];
    return wrong;
}

double JointSystem::largest_jump(double t, const double* x, const double* u) {
    if (loops() == 0) return 0.0;
    find_row_rates(t, x, u);
    double largest = 0.0;
    for (size_t i = 0; i < loops(); ++i)
        if (is_driven_[i]) largest = std::max(largest, std::abs(errors_[i]));
    return largest;
}

double JointSystem::push_off(double t, const double* x, int stop, double* change) {
    prepare(t, x);
    const size_t row = loops() + stop;
    if (is_dropped(row)) return 0.0;
    std::fill(errors_.begin(), errors_.end(), 0.0);
    errors_[row] = -1.0;
    std::copy_n(step(), tangent_size(), change);
    return multiplier(row);
}

int JointSystem::redundant_at(double t, const double* x) {
    trusted_pivot_ = options_.rank_tolerance;
    prepare(t, x);
    return statistics_.dropped_rows;
}

// As far as one radian of the fastest angle that is followed from step to step.
double JointSystem::longest_step(const double* x, const double* u, double h) {
    if (other_angles_.empty()) return h;
    to_records(followed_at_, x, u, poses_.data(), twists_.data());
    double rate = 0.0;
    for (const int i : other_angles_)
        rate = std::max(rate, std::abs(coordinate_motion(*model_, branches_, i, poses_.data(), twists_.data()).rate));
    return rate * h > 1.0 ? std::max(1.0 / rate, 1e-3 * h) : h;
}

Scenery JointSystem::scenery(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    return {*model_, branches_, t, poses_.data(), twists_.data()};
}

void JointSystem::load_reactions(double t, const double* x, const double* u, const double* udot) {
    to_records(t, x, u, poses_.data(), twists_.data());
    body_accelerations(t, x, u, udot, rates_.data());
    reactions_.take_motion(t, poses_.data(), twists_.data(), rates_.data());
}

// Stops that something lies on without pushing may be redundant with others: then the loads of all rows are open.
void JointSystem::share_loads(double t, const double* x, const double* u, const double* udot) {
    solve_multipliers(t, x, u, udot);
    share_within_limits(reactions_.loads(), poses_.data());
    if (stops_.touched() == stops_.active()) return;
    const std::vector<double> told = reactions_.loads().multipliers;
    load_reactions(t, x, u, udot);
    for (const Block& block : model_->blocks)
        for (int row = block.row_begin; row < block.row_end; ++row)
            if (block.compliance > 0.0) reactions_.loads().multipliers[row] = told[row];
    reactions_.spread_least_norm(rigid_rows(), stops_.touched_of(stops_.rows()));
}

RowLoads& JointSystem::loads_at(double t, const double* x, const double* u, const double* udot) {
    share_loads(t, x, u, udot);
    return reactions_.loads();
}

std::vector<int> JointSystem::rigid_rows() const {
    std::vector<int> rigid;
    for (const Block& block : model_->blocks)
        for (int row = block.row_begin; row < block.row_end; ++row)
            if (block.compliance == 0.0 && !block.unilateral) rigid.push_back(row);
    for (int i = 0; i < stops_.count(); ++i)
        if (stops_.is_holding(i)) rigid.push_back(stops_.rows()[i]);
    return rigid;
}

void JointSystem::multipliers(double t, const double* x, const double* u, const double* udot, double* out) {
    share_loads(t, x, u, udot);
    std::copy(reactions_.loads().multipliers.begin(), reactions_.loads().multipliers.end(), out);
}

void JointSystem::reactions(const double*, const std::vector<Observation::Reaction>& which,
                            std::vector<ReactionWrench>& out) {
    reactions_.wrenches(which, out);
}

}  // namespace bellcrank
