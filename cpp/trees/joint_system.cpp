#include "trees/joint_system.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/breaks.hpp"
#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;
// Part of the tolerance that closing rows at poses along chains of joints may be wrong by rounding.
constexpr double kRounding = 0.1;
// Error up to which a row that was dropped for doubt holds.
constexpr double kHeld = 1e-7;
// Error beyond which a row that was dropped does not follow from the others: it is given up, and the constraints are
// not met. Of velocities in parts of the fastest, or of 1 m/s, 1 rad/s.
constexpr double kGivenUp = 1e-6;
constexpr double kRateGivenUp = 1e-4;
// Part of the way of a step by which its end may be corrected, and what may be corrected in any case [m, rad].
constexpr double kMostCorrected = 0.5;
constexpr double kLittleCorrected = 1e-6;

double largest_size(const double* v, int size) {
    double largest = 0.0;
    for (int k = 0; k < size; ++k) largest = std::max(largest, std::abs(v[k]));
    return largest;
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

JointSystem::JointSystem(std::shared_ptr<const Model> model, const JointSystemOptions& options, JointSpace space)
    : model_(std::move(model)),
      options_(options),
      joints_(*model_, std::move(space.joints), space.coordinates, space.speeds),
      branches_(*model_),
      reactions_(*model_, branches_, joints_.joints(), together(space.closing_rows, space.rotor_rows)),
      trusted_pivot_(options.rank_tolerance),
      at_rest_(joints_.speeds(), 0.0),
      closing_rows_(std::move(space.closing_rows)),
      told_angles_(std::move(space.told_angles)),
      other_angles_(joints_.other_angles()),
      observed_(joints_.speeds(), 0.0),
      last_rotation_(model_->bodies(), {1, 0, 0, 0}) {
    for (auto* v : {&poses_, &twists_, &rates_}) v->assign(kPose * (model_->bodies() + 1), 0.0);
    errors_.assign(closing_rows_.size(), 0.0);
    std::erase_if(other_angles_, [&](int angle) { return std::ranges::find(told_angles_, angle) != told_angles_.end(); });
}

void JointSystem::break_times(double from, double to, std::vector<double>& out) const {
    append_break_times(*model_, from, to, out);
}

void JointSystem::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                               double* u) {
    if (!continued) branches_ = AngleBranches(*model_, t);
    for (int b = 0; b < model_->bodies(); ++b) last_rotation_[b] = pose_rotation(poses, b);
    joints_.read(branches_, poses, twists, x, u);
    joints_.continue_angles(branches_, x);
    followed_at_ = t;
    last_fastest_ = -1.0;
    follow_angles(x);
}

void JointSystem::set_angles(double* x, const double* values) {
    to_records(followed_at_, x, at_rest_.data(), poses_.data(), twists_.data());
    for (size_t i = 0; i < model_->coordinates.size(); ++i)
        if (model_->coordinates[i].followed()) branches_.set(static_cast<int>(i), values[i]);
    joints_.read_formulas(branches_, poses_.data(), twists_.data(), x, observed_.data());
    joints_.continue_angles(branches_, x);
    follow_angles(x);
}

// Angles that are coordinates of the tree count their turns themselves, however long a step.
void JointSystem::to_records(double t, const double* x, const double* u, double* poses, double* twists) {
    joints_.follow_angles(x, branches_);
    follow_told_angles(t, x);
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
    last_fastest_ = largest_size(u, tangent_size());
    joints_.follow_angles(x, branches_);
    if (joints_.has_other_angles()) follow_angles(x);
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

void JointSystem::coordinates(double t, const double* x, const double* u, double* value, double* rate) {
    to_records(t, x, u, poses_.data(), twists_.data());
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i) {
        const CoordinateMotion c = coordinate_motion(*model_, branches_, i, poses_.data(), twists_.data());
        value[i] = c.value;
        rate[i] = c.rate;
    }
}

Energy JointSystem::energy_at(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    return energy(*model_, branches_, t, poses_.data(), twists_.data());
}

// Rows that were dropped are judged as well: they follow from the others, or are given up.
bool JointSystem::project(double t, double* x, double* u) {
    set_driven(t, x, u);
    if (is_open()) return true;
    trusted_pivot_ = options_.rank_tolerance;
    corrected_ = 0.0;
    correct_positions(t, x);
    correct_doubted_rows(t, x);
    const bool given_up = largest_error(true) > kGivenUp;
    const bool met = !given_up && largest_error(false) <= std::max(1e3 * options_.position_tolerance, 1e-8);
    correct_velocities(t, x, u);
    return met && in_proportion(t, u) && rates_hold(t, x, u);
}

// Where a coordinate jumps, as a rotation vector does at half a turn, its row can be met by going somewhere else, where
// no motion leads.
bool JointSystem::in_proportion(double t, const double* u) const {
    const double passed = std::abs(t - followed_at_);
    if (last_fastest_ < 0.0 || passed == 0.0 || corrected_ <= kLittleCorrected) return true;
    const double fastest = std::max(last_fastest_, largest_size(u, tangent_size()));
    return corrected_ <= kMostCorrected * passed * fastest + kLittleCorrected;
}

// A row dropped for doubt holds as those do that it nearly depends on, or the configuration is on another branch than
// it seemed. Where one does not hold, those that are independent without doubt are corrected as well; what they are
// left with counts as an error again.
void JointSystem::correct_doubted_rows(double t, double* x) {
    if (trusted_pivot_ <= options_.rank_tolerance || largest_error(true) <= kHeld) return;
    trusted_pivot_ = options_.rank_tolerance;
    correct_positions(t, x);
    if (trusted_pivot_ <= options_.rank_tolerance) return;
    trusted_pivot_ = options_.rank_tolerance;
    factor();
}

// Largest of errors_ over the rows that are dropped, or over the others; where there are such, worst_row_ is its row.
double JointSystem::largest_error(bool dropped) {
    double largest = 0.0;
    for (size_t i = 0; i < errors_.size(); ++i) {
        const double error = std::abs(errors_[i]);
        if (is_dropped(i) != dropped || error < largest) continue;
        largest = error;
        if (!dropped || error > kGivenUp) worst_row_ = closing_rows_[i];
    }
    return largest;
}

// A correction changes rates by little: they are found again only where one did not hold before it.
bool JointSystem::rates_hold(double t, const double* x, const double* u) {
    const double fastest = std::max(1.0, largest_size(u, tangent_size()));
    const int worst = worst_row_;
    const bool hold = largest_error(true) <= kRateGivenUp * fastest;
    if (!hold) find_rates(t, x, u);
    const bool met = hold || largest_error(true) <= kRateGivenUp * fastest;
    if (met) worst_row_ = worst;
    return met;
}

void JointSystem::project_stage(double t, double* x, double* u) {
    if (is_open()) return;
    trusted_pivot_ = options_.rank_tolerance;
    factor_at(t, x, u);
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    set_driven(t, x, u);
    correct_positions(t, x);
    correct_velocities(t, x, u);
}

// The error at which corrections may end. Where rows are dependent up to an angle θ, an error C costs the acceleration
// C/θ². One that is rounding is left alone: its correction would be rounding by θ.
double JointSystem::tolerance() const {
    return options_.position_tolerance * std::clamp(statistics_.smallest_pivot, kRounding, 1.0);
}

// Newton's method along M⁻¹Jᵀ, the least motion in the norm of the kinetic energy; ends with J and factors at x. A
// configuration that is wrong by ε tells nothing about rows that are dependent up to an angle of that size: near a
// singular configuration such rows are dropped as if it were singular.
double JointSystem::correct_positions(double t, double* x) {
    double error = 0.0;
    for (int i = 0; i <= options_.max_corrections; ++i) {
        factor_at(t, x, at_rest_.data());
        find_errors(t, x);
        const double next = largest_error(false);
        const bool slow = i > 0 && !(next < 0.25 * error);
        error = next;
        if (error <= tolerance() || (slow && error < 1e-9) || i == options_.max_corrections) break;
        const double* xi = position_step();
        const double doubtful = options_.doubt * largest_size(xi, tangent_size());
        if (doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                factor();
                xi = position_step();
            }
        }
        retract(x, xi, x);
        corrected_ += largest_size(xi, tangent_size());
        ++statistics_.corrections;
    }
    return error;
}

void JointSystem::load_reactions(double t, const double* x, const double* u, const double* udot) {
    to_records(t, x, u, poses_.data(), twists_.data());
    body_accelerations(t, x, u, udot, rates_.data());
    reactions_.take_motion(t, poses_.data(), twists_.data(), rates_.data());
}

void JointSystem::multipliers(double t, const double* x, const double* u, const double* udot, double* out) {
    solve_multipliers(t, x, u, udot);
    std::copy(reactions_.lambda.begin(), reactions_.lambda.end(), out);
}

void JointSystem::reactions(double t, const double* x, const double* u, const double* udot,
                            const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out) {
    solve_multipliers(t, x, u, udot);
    reactions_.wrenches(which, out);
}

int JointSystem::observation_size(const Observation& what) const {
    return 13 * model_->bodies() + static_cast<int>(2 * what.coordinates.size() + what.force_size()) + 4 +
           (what.accelerations ? 6 * model_->bodies() : 0);
}

void JointSystem::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
    const int nb = model_->bodies();
    to_records(t, x, u, poses_.data(), twists_.data());
    to_neutral(*model_, poses_.data(), twists_.data(), out, out + 3 * nb, out + 7 * nb, out + 10 * nb);
    out += 13 * nb;
    const size_t nq = what.coordinates.size();
    for (size_t i = 0; i < nq; ++i) {
        const int coordinate = what.coordinates[i];
        const CoordinateMotion c = coordinate_motion(*model_, branches_, coordinate, poses_.data(), twists_.data());
        out[i] = c.value;
        out[nq + i] = c.rate;
    }
    out += 2 * nq;
    const bool forces = !what.rows.empty() || !what.reactions.empty();
    if (forces || what.accelerations) accelerate(t, x, u, observed_.data());
    if (forces) solve_multipliers(t, x, u, observed_.data());
    for (size_t i = 0; i < what.rows.size(); ++i) out[i] = reactions_.lambda[what.rows[i]];
    out += what.rows.size();
    for (const Observation::Reaction& reaction : what.reactions) {
        reactions_.wrench_of(reaction, out);
        out += 6;
    }
    for (const int row : what.rows) *out++ = reactions_.determines(row);
    for (const Observation::Reaction& reaction : what.reactions) {
        bool unique[2];
        reactions_.judge(reaction, unique);
        out = std::copy_n(unique, 2, out);
    }
    const Energy e = energy(*model_, branches_, t, poses_.data(), twists_.data());
    out[0] = e.kinetic;
    out[1] = e.potential;
    violation(t, x, u, out + 2, out + 3);
    out += 4;
    if (!what.accelerations) return;
    body_accelerations(t, x, u, observed_.data(), rates_.data());
    accelerations_to_neutral(*model_, poses_.data(), twists_.data(), rates_.data(), out, out + 3 * nb);
}

}  // namespace bellcrank
