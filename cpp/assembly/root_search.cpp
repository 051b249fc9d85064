// Around the descents of a RootFinder: restarts, the way to the nearest solution, continuation, rates.
#include <algorithm>
#include <cmath>

#include "assembly/root_finder.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

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

// Along the constraints towards `start`, by the projected gradient of D² with steps of Gauss and Newton: the Hessian of
// D² at the start is the mass matrix. Each step is followed by corrections back onto the constraints.
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
