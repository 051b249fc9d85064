// Around the descents of a RootFinder: restarts, the way to the nearest solution, continuation, rates.
#include "assembly/root_finder.hpp"

#include <algorithm>
#include <cmath>

#include "assembly/row_units.hpp"
#include "interruption/interruption.hpp"
#include "model/branches.hpp"
#include "model/topology.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kFirstDamping = 1e-3;  // relative to the largest diagonal entry
constexpr double kLeastDamping = 1e-12;
constexpr double kMostDamping = 1e8;
constexpr double kStagnation = 1e-10;  // relative decrease of the merit that leads nowhere
constexpr int kIdleSteps = 6;
constexpr double kSlender = 0.05;  // least moment of inertia, of a body's largest, in the damping

}  // namespace

RootFinder::RootFinder(std::shared_ptr<const Model> model, std::span<const int> pinned, const RootOptions& options)
    : model_(std::move(model)),
      options_(options),
      movable_([&] {
          std::vector<std::uint8_t> movable(model_->bodies(), 1);
          for (int body : pinned) movable.at(body) = 0;
          return movable;
      }()),
      branches_(*model_),
      rows_(*model_, branches_),
      normal_(*model_, rows_, movable_),
      random_(20010) {
    const int n = kTwist * (model_->bodies() + 1), m = rows_.rows();
    x_.assign(kPose * (model_->bodies() + 1), 0.0);
    trial_ = x_;
    for (auto* v : {&gradient_, &step_, &shift_}) v->assign(n, 0.0);
    floor_.assign(n, 1.0);
    for (auto* v : {&unit_, &error_, &trial_error_, &offset_, &weight_, &product_}) v->assign(m, 0.0);
    length_ = body_lengths(*model_);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double least = kSlender * std::max({I.x, I.y, I.z}), moment[3] = {I.x, I.y, I.z};
        for (int k = 0; k < 3; ++k) floor_[kTwist * b + 4 + k] = std::max(1.0, least / moment[k]);
    }
    takes_part_.assign(m, 1);
    stop_.assign(m, 0);
    of_velocity_.assign(m, 0);
    for (const BlockLayout& b : rows_.blocks())
        for (int r = b.row; r < b.row + b.size; ++r) {
            takes_part_[r] = model_->blocks[b.block].compliance == 0.0;
            stop_[r] = model_->blocks[b.block].unilateral;
            of_velocity_[r] = model_->blocks[b.block].of_velocity;
        }
    find_parts();
}

// Bodies that rows connect belong to one part; the ground and pinned bodies connect none.
void RootFinder::find_parts() {
    std::vector<std::vector<int>> moved;  // by each block
    for (const BlockLayout& block : rows_.blocks()) {
        moved.emplace_back();
        for (const BlockSide& s : rows_.sides(block))
            if (s.body < model_->bodies() && movable_[s.body]) moved.back().push_back(s.body);
    }
    Components found = components(model_->bodies() + 1, moved);
    part_ = std::move(found.of_node);
    parts_ = static_cast<int>(found.grounded.size());
    row_part_.assign(rows_.rows(), -1);
    for (size_t i = 0; i < moved.size(); ++i)
        std::fill_n(row_part_.begin() + rows_.blocks()[i].row, rows_.blocks()[i].size, found.of_group[i]);
}

void RootFinder::place(double t, const double* x) {
    time_ = t;
    std::copy_n(x, x_.size(), x_.begin());
    std::fill(offset_.begin(), offset_.end(), 0.0);
    branches_ = starting_branches(*model_, t, x);
    follow_angles();
    evaluate();
    weigh_rows();
}

void RootFinder::weigh_rows() {
    bellcrank::weigh_rows(*model_, rows_, length_, takes_part_, unit_);
    double least = HUGE_VAL;
    for (double unit : unit_)
        if (unit > 0.0) least = std::min(least, unit);
    met_value_ = 0.5 * least * options_.met * options_.met;
}

void RootFinder::evaluate() {
    rows_.evaluate_jacobians(time_, x_.data());
    take_errors();
    error_ = trial_error_;
}

void RootFinder::evaluate_values(const double* x) {
    rows_.evaluate_values(time_, x);
    take_errors();
}

void RootFinder::take_errors() {
    for (int r = 0; r < rows_.rows(); ++r) {
        const double error = rows_.C[r] - offset_[r];
        trial_error_[r] = !takes_part_[r] || (stop_[r] && error >= 0.0) ? 0.0 : error;
    }
}

void RootFinder::follow_angles() { branches_.follow(*model_, x_.data()); }

// x = where factor × the scaled displacement takes the bodies; none of them turns by more than the largest turn.
void RootFinder::move_by(double factor, const double* step, double largest_turn, double* x) const {
    const double* scale = rows_.inverse_sqrt_mass().data();
    for (int b = 0; b < model_->bodies(); ++b) {
        double d[kTwist];
        for (int k = 0; k < kTwist; ++k) d[k] = factor * scale[kTwist * b + k] * step[kTwist * b + k];
        Vec3 turn{d[4], d[5], d[6]};
        const double angle = norm(turn);
        if (angle > largest_turn) turn = largest_turn / angle * turn;
        const double* p = &x_[kPose * b];
        const Quat q = advanced(pose_rotation(x_.data(), b), turn);
        double* o = x + kPose * b;
        for (int k = 0; k < 3; ++k) o[k] = p[k] + d[k];
        o[3] = 0.0, o[4] = q.w, o[5] = q.x, o[6] = q.y, o[7] = q.z;
    }
    std::copy_n(&x_[kPose * model_->ground()], kPose, x + kPose * model_->ground());
}

double RootFinder::largest(const std::vector<double>& error) const {
    double largest = 0.0;
    for (double e : error) largest = std::isfinite(e) ? std::max(largest, std::abs(e)) : HUGE_VAL;
    return largest;
}

double RootFinder::merit(const std::vector<double>& error) const {
    double sum = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) sum += 0.5 * unit_[r] * error[r] * error[r];
    return std::isfinite(sum) ? sum : HUGE_VAL;
}

// Ĵᵀ W e of the errors at hand, and the weights of the rows in force.
void RootFinder::gradient() {
    for (int r = 0; r < rows_.rows(); ++r) {
        weight_[r] = of_velocity_[r] || (stop_[r] && error_[r] >= 0.0) ? 0.0 : unit_[r];
        product_[r] = weight_[r] * error_[r];
    }
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    rows_.add_transposed(product_.data(), gradient_.data());
}

bool RootFinder::descend(int steps) {
    evaluate();
    double damping = kFirstDamping, growth = 2.0, value = merit(error_);
    int idle = 0;
    for (int i = 0; i < steps && largest(error_) > options_.tolerance; ++i) {
        const double before = value;
        ++counts_.steps;
        if (!step_down(damping, growth, value)) break;
        idle = before - value <= kStagnation * before ? idle + 1 : 0;
        if (idle >= kIdleSteps) break;
    }
    return largest(error_) <= options_.met;
}

// step_ = −(Ĵᵀ W Ĵ + damping)⁻¹ Ĵᵀ W e of what was formed.
void RootFinder::solve_step(double damping) {
    look_for_interrupts();
    const double size = normal_.largest_diagonal();
    for (size_t k = 0; k < shift_.size(); ++k) shift_[k] = damping * size * floor_[k];
    for (size_t k = 0; k < step_.size(); ++k) step_[k] = -gradient_[k];
    normal_.factor(shift_);
    normal_.solve(step_.data());
    ++counts_.factorizations;
}

bool RootFinder::correct(int steps, double damping, double largest_turn) {
    evaluate();
    for (int i = 0; i < steps && largest(error_) > options_.tolerance; ++i) {
        ++counts_.steps;
        gradient();
        normal_.form(rows_, weight_);
        if (!(normal_.largest_diagonal() > 0.0)) break;
        solve_step(damping);
        move_by(1.0, step_.data(), largest_turn, trial_.data());
        x_.swap(trial_);
        follow_angles();
        evaluate();
        if (!std::isfinite(largest(error_))) break;
    }
    return largest(error_) <= options_.met;
}

// One step that lowers the merit; the damping follows H. B. Nielsen, Damping parameter in Marquardt's method (1999).
bool RootFinder::step_down(double& damping, double& growth, double& value) {
    gradient();
    normal_.form(rows_, weight_);
    if (!(normal_.largest_diagonal() > 0.0)) return false;
    while (damping < kMostDamping) {
        solve_step(damping);
        move_by(1.0, step_.data(), options_.largest_turn, trial_.data());
        evaluate_values(trial_.data());
        const double next = merit(trial_error_);
        if (next < value) {
            rows_.multiply(step_.data(), product_.data());
            double slope = 0.0, curvature = 0.0;
            for (size_t k = 0; k < step_.size(); ++k) slope += gradient_[k] * step_[k];
            for (int r = 0; r < rows_.rows(); ++r) curvature += weight_[r] * product_[r] * product_[r];
            const double predicted = -slope - 0.5 * curvature;
            const double gain = (value - next) / std::max(predicted, 1e-300);
            damping = std::max(damping * std::max(0.1, 1.0 - std::pow(2.0 * gain - 1.0, 3)), kLeastDamping);
            growth = 2.0;
            value = next;
            x_.swap(trial_);
            follow_angles();
            evaluate();
            return true;
        }
        damping *= growth;
        growth *= 2.0;
    }
    return false;
}

std::vector<double> RootFinder::errors() const {
    std::vector<double> out(rows_.rows());
    for (int i = 0; i < rows_.rows(); ++i) out[i] = error_[rows_.storage_row(i)];
    return out;
}

namespace {

// Damping of Newton's steps. Long chains buckle where a descent would creep along a valley of closed joints: there the
// steps are many, short, and free to open joints again.
constexpr double kNewtonDamping = 1e-12, kCautiousDamping = 1e-7, kCautiousTurn = 0.2;
constexpr int kCautious = 300;

constexpr double kTangential = 1e-9;  // damping of a step along the constraints, relative to the largest diagonal
constexpr double kNearest = 1e-6;     // step along the constraints, of the distance, that is none
constexpr int kApproaches = 40, kHalvings = 6, kRestoring = 25, kLeading = 15;
constexpr int kManyBodies = 200;  // mechanisms with more are tried less often
constexpr double kLeastLead = 1e-5;
constexpr int kRefinements = 3;

// How far restarts shake the bodies, in lengths of theirs and in quarter turns, over and over.
constexpr double kShakes[] = {0.1, 0.3, 0.6, 1.0, 0.2, 0.8, 1.5, 0.4};

// Whether no body has turned by more than an angle.
bool turned_little(const std::vector<double>& a, const std::vector<double>& b, double angle) {
    const int bodies = static_cast<int>(a.size()) / kPose;
    for (int i = 0; i < bodies; ++i) {
        const Quat p = pose_rotation(a.data(), i), q = pose_rotation(b.data(), i);
        if (std::abs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z) < std::cos(0.5 * angle)) return false;
    }
    return true;
}

}  // namespace

bool RootFinder::find() {
    const std::vector<double> start = x_;
    bool met = descend(options_.steps);
    std::vector<double> best = x_, value = part_values();
    // Far from their joint formulas cost much to solve, and what is there tells little.
    const bool costly = !model_->formula_joints.empty();
    if (!met && !costly) {
        x_ = start;
        follow_angles();
        evaluate();
        met = correct(kCautious, kCautiousDamping, kCautiousTurn);
        if (!met) keep_better_parts(best, value);
    }
    const bool accepted = largest(error_) <= options_.accepted;
    const int most = costly || accepted ? 0 : options_.restarts * kManyBodies / std::max(model_->bodies(), kManyBodies);
    for (int k = 0; !met && k < most; ++k) {
        ++counts_.restarts;
        if (k % 2 == 0) x_ = start;
        perturb(kShakes[(k / 2) % std::size(kShakes)], best, value);
        descend(options_.steps);
        keep_better_parts(best, value);
        met = largest(error_) <= options_.met;
    }
    if (met) approach(start);
    return met;
}

// The merit of each part.
std::vector<double> RootFinder::part_values() const {
    std::vector<double> value(parts_, 0.0);
    for (int r = 0; r < rows_.rows(); ++r)
        if (row_part_[r] >= 0) value[row_part_[r]] += 0.5 * unit_[r] * error_[r] * error_[r];
    return value;
}

// Parts whose constraints are met stay as they were at their best, the others are shaken.
void RootFinder::perturb(double size, const std::vector<double>& best, const std::vector<double>& value) {
    const double* scale = rows_.inverse_sqrt_mass().data();
    const auto uniform = [this] { return 2.0 * (static_cast<double>(random_() >> 11) * 0x1p-53) - 1.0; };
    std::fill(step_.begin(), step_.end(), 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        if (!movable_[b]) continue;
        if (!(value[part_[b]] > met_value_)) {
            std::copy_n(&best[kPose * b], kPose, &x_[kPose * b]);
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            step_[kTwist * b + k] = size * length_[b] * uniform() / scale[kTwist * b + k];
            step_[kTwist * b + 4 + k] = size * M_PI_2 * uniform() / scale[kTwist * b + 4 + k];
        }
    }
    move_by(1.0, step_.data(), M_PI, trial_.data());
    x_.swap(trial_);
    follow_angles();
}

void RootFinder::keep_better_parts(std::vector<double>& best, std::vector<double>& value) {
    const std::vector<double> now = part_values();
    for (int b = 0; b < model_->bodies(); ++b)
        if (movable_[b] && now[part_[b]] < value[part_[b]]) std::copy_n(&x_[kPose * b], kPose, &best[kPose * b]);
    for (int p = 0; p < parts_; ++p) value[p] = std::min(value[p], now[p]);
    x_ = best;
    follow_angles();
    evaluate();
}

// ½ D² from `start`, and its gradient against scaled displacements. With A the rotation since the start and Σ the
// second moments of mass, all in principal axes, a rotation adds tr Σ (1 − A).
double RootFinder::pull_towards(const std::vector<double>& start, double* pull) const {
    const double* scale = rows_.inverse_sqrt_mass().data();
    double value = 0.0;
    std::fill_n(pull, gradient_.size(), 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        if (!movable_[b]) continue;
        const Vec3 d = pose_position(x_.data(), b) - pose_position(start.data(), b);
        const Vec3& I = model_->principal_inertia[b];
        const double half = 0.5 * (I.x + I.y + I.z), sigma[3] = {half - I.x, half - I.y, half - I.z};
        const Mat3 A = transpose_times(rotation_matrix(pose_rotation(start.data(), b)),
                                       rotation_matrix(pose_rotation(x_.data(), b)));
        value += 0.5 * model_->mass[b] * dot(d, d);
        for (int k = 0; k < 3; ++k) value += sigma[k] * (1.0 - A.m[4 * k]);
        const Vec3 turn{sigma[2] * A.m[7] - sigma[1] * A.m[5], sigma[0] * A.m[2] - sigma[2] * A.m[6],
                        sigma[1] * A.m[3] - sigma[0] * A.m[1]};
        const double linear[3] = {d.x, d.y, d.z}, angular[3] = {turn.x, turn.y, turn.z};
        for (int k = 0; k < 3; ++k) {
            pull[kTwist * b + k] = linear[k] / scale[kTwist * b + k];
            pull[kTwist * b + 4 + k] = angular[k] * scale[kTwist * b + 4 + k];
        }
    }
    return value;
}

// Goes along the constraints towards `start`, by the projected gradient of D² with steps of Gauss and Newton: the
// Hessian of D² at the start is the mass matrix. Each step is followed by corrections back onto the constraints.
void RootFinder::approach(const std::vector<double>& start) {
    std::vector<double> pull(gradient_.size()), kept;
    double distance = pull_towards(start, pull.data());
    for (int i = 0; i < kApproaches; ++i) {
        gradient();
        normal_.form(rows_, weight_);
        const double shift = kTangential * normal_.largest_diagonal();
        if (!(shift > 0.0)) return;
        std::fill(shift_.begin(), shift_.end(), shift);
        normal_.factor(shift_);
        ++counts_.factorizations;
        std::vector<double> tangent(pull.size());
        for (size_t k = 0; k < pull.size(); ++k) tangent[k] = -shift * pull[k] - gradient_[k];
        normal_.solve(tangent.data());
        double size = 0.0;
        for (double v : tangent) size += v * v;
        if (!(size > kNearest * kNearest * 2.0 * distance)) return;
        double factor = 1.0;
        kept = x_;
        bool nearer = false;
        for (int k = 0; k < kHalvings && !nearer; ++k, factor *= 0.5) {
            x_ = kept;
            move_by(factor, tangent.data(), options_.largest_turn, trial_.data());
            x_.swap(trial_);
            follow_angles();
            const bool met = correct(kRestoring, kNewtonDamping, options_.largest_turn);
            const double next = pull_towards(start, pull.data());
            nearer = met && next < distance * (1.0 - 1e-9);
            if (nearer) distance = next;
        }
        if (nearer) continue;
        x_ = kept;
        follow_angles();
        evaluate();
        return;
    }
}

bool RootFinder::lead() {
    const std::vector<double> start = x_, hidden = error_;
    const auto shifted = [&](double done) {
        for (size_t r = 0; r < offset_.size(); ++r) offset_[r] = (1.0 - done) * hidden[r];
    };
    double done = 0.0, ahead = 0.25;
    for (int i = 0; i < options_.continuations && done < 1.0 && ahead > kLeastLead; ++i) {
        const double reached = std::min(1.0, done + ahead);
        const std::vector<double> before = x_;
        shifted(reached);
        if (correct(kLeading, kNewtonDamping, options_.largest_turn) &&
            turned_little(before, x_, options_.largest_turn)) {
            done = reached, ahead *= 2.0;
            continue;
        }
        ahead *= 0.5;
        x_ = before;
        follow_angles();
    }
    if (done < 1.0) x_ = start;
    shifted(1.0);
    follow_angles();
    evaluate();
    return done >= 1.0 && largest(error_) <= options_.met;
}

// The least squares problem by its normal equations, damped and refined.
std::vector<double> RootFinder::least_rates(const double* u) {
    evaluate();
    for (int r = 0; r < rows_.rows(); ++r) weight_[r] = stop_[r] ? 0.0 : unit_[r];
    return least(u, rows_.Ct);
}

std::vector<double> RootFinder::least_errors() {
    evaluate();
    for (int r = 0; r < rows_.rows(); ++r)
        weight_[r] = of_velocity_[r] || (stop_[r] && error_[r] == 0.0) ? 0.0 : unit_[r];
    const std::vector<double> still(step_.size(), 0.0);
    return least(still.data(), error_);
}

// J u + constant for the weights of the rows.
std::vector<double> RootFinder::least(const double* u, const std::vector<double>& constant) {
    const double* scale = rows_.inverse_sqrt_mass().data();
    normal_.form(rows_, weight_);
    std::fill(shift_.begin(), shift_.end(), kTangential * std::max(normal_.largest_diagonal(), 1e-300));
    normal_.factor(shift_);
    ++counts_.factorizations;
    for (size_t k = 0; k < step_.size(); ++k) step_[k] = scale[k] > 0.0 ? u[k] / scale[k] : 0.0;
    std::vector<double> rate(rows_.rows());
    for (int i = 0; i <= kRefinements; ++i) {
        rows_.multiply(step_.data(), rate.data());
        for (int r = 0; r < rows_.rows(); ++r) rate[r] = weight_[r] > 0.0 ? rate[r] + constant[r] : 0.0;
        if (i == kRefinements) break;
        for (int r = 0; r < rows_.rows(); ++r) product_[r] = -weight_[r] * rate[r];
        std::fill(gradient_.begin(), gradient_.end(), 0.0);
        rows_.add_transposed(product_.data(), gradient_.data());
        normal_.solve(gradient_.data());
        for (size_t k = 0; k < step_.size(); ++k) step_[k] += gradient_[k];
    }
    std::vector<double> out(rows_.rows());
    for (int i = 0; i < rows_.rows(); ++i) out[i] = rate[rows_.storage_row(i)];
    return out;
}

}  // namespace bellcrank
