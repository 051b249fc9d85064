// The steps of an InverseKinematics: along the constraints towards its aims, and back onto the constraints.
#include <algorithm>
#include <cmath>

#include "assembly/inverse_kinematics.hpp"
#include "interruption/interruption.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kWholeness = 1e4;  // weight of constraints beside targets in a step
constexpr int kPasses = 2;          // with multipliers, after which a step satisfies the constraints to first order
constexpr double kNone = 1e-12;     // largest |C| that is as good as none
constexpr double kLoose = 0.1;      // gap that a step may leave, of the distance to go
constexpr double kLeastHold = 1e-8, kMostHold = 1e6;  // damping, relative
constexpr double kLeastGain = 1e-3;
constexpr double kNowhere = 1e-13;  // of the distance squared, by which a step leads nearer that leads nowhere
constexpr double kSure = 1e-3;      // damping from which rounding hides no step that leads nearer
constexpr double kStride = 0.3;     // of the size of the mechanism, that a body may go in one step
constexpr double kClosing = 1e-12;  // damping of a correction that closes, relative to the largest diagonal entry
constexpr int kCloseSteps = 12;
constexpr int kStopChoices = 60, kPatience = 3;
constexpr double kOpening = 1e-13;  // of a stop [m or rad]

}  // namespace

// Where `factor` of the step takes the bodies. Angles are expected where their rates lead them, which for shafts that
// turn many times is far from where they were.
void InverseKinematics::go(double factor) {
    const double* scale = rows_.inverse_sqrt_mass().data();
    for (size_t k = 0; k < twist_.size(); ++k) twist_[k] = factor * scale[k] * step_[k];
    for (const int i : followed_) {
        const CoordinateMotion c = coordinate_motion(*model_, branches_, i, x_.data(), twist_.data());
        if (std::isfinite(c.rate)) branches_.set(i, c.value + c.rate);
    }
    chart_.move(x_.data(), twist_.data(), trial_.data());
    x_.swap(trial_);
    branches_.follow(*model_, x_.data());
    evaluate();
}

void InverseKinematics::keep() {
    kept_ = x_;
    kept_branches_ = branches_;
}

void InverseKinematics::go_back() {
    x_ = kept_;
    branches_ = kept_branches_;
    evaluate();
}

// Corrections of nearly least norm until gaps are so small, in lengths.
bool InverseKinematics::close(double enough, int steps) {
    for (int i = 0; i < steps && violation() > kNone; ++i) {
        const double gap = std::sqrt(violation_squared());
        if (gap <= enough) return true;
        if (!std::isfinite(gap)) return false;
        for (int r = 0; r < rows_.rows(); ++r) {
            weight_[r] = takes_part_[r] && !(stop_[r] && rows_.C[r] >= 0.0) ? unit_[r] : 0.0;
            rate_[r] = -weight_[r] * rows_.C[r];
        }
        normal_.form(rows_, weight_);
        const double shift = kClosing * normal_.largest_diagonal();
        if (!(shift > 0.0)) break;
        std::fill(shift_.begin(), shift_.end(), shift);
        normal_.factor(shift_);
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(rate_.data(), step_.data());
        normal_.solve(step_.data());
        go(1.0);
    }
    return std::sqrt(violation_squared()) <= enough || violation() <= kClosed;
}

// The matrix of a step without its damping,  w Ĵᵀ W Ĵ + Σ Ĵ_tᵀ Ĵ_t  with t the targets.
void InverseKinematics::form() {
    for (int r = 0; r < rows_.rows(); ++r) weight_[r] = stop_[r] && !closed_[r] ? 0.0 : kWholeness * unit_[r];
    normal_.form(rows_, weight_);
    target_scale_ = 0.0;
    for (const Led& led : targets_) {
        double block[36] = {};
        for (const auto& row : led.J)
            for (int i = 0; i < 6; ++i)
                for (int k = 0; k < 6; ++k) block[6 * i + k] += row[i] * row[k];
        for (int i = 0; i < 6; ++i) target_scale_ = std::max(target_scale_, block[7 * i]);
        normal_.add(led.body, block);
    }
}

// right_ −= Ĵ_tᵀ e of the targets.
void InverseKinematics::add_targets() {
    for (const Led& led : targets_)
        for (int r = 0; r < 6; ++r)
            for (int k = 0; k < 6; ++k) right_[kTwist * led.body + kComponent[k]] -= led.J[r][k] * led.error[r];
}

// step_ minimises |e + Ĵ_t ξ|² + damping |ξ|² under C + Ĵ ξ = 0, by multipliers λ that grow by w W (C + Ĵ ξ).
void InverseKinematics::solve(double damping) {
    look_for_interrupts();
    std::fill(shift_.begin(), shift_.end(), damping * target_scale_);
    normal_.factor(shift_);
    for (int r = 0; r < rows_.rows(); ++r) multiplier_[r] = weight_[r] * rows_.C[r];
    for (int pass = 0;; ++pass) {
        std::fill(right_.begin(), right_.end(), 0.0);
        for (int r = 0; r < rows_.rows(); ++r) rate_[r] = -multiplier_[r];
        rows_.add_transposed(rate_.data(), right_.data());
        add_targets();
        step_ = right_;
        normal_.solve(step_.data());
        rows_.multiply(step_.data(), rate_.data());
        if (pass + 1 == kPasses) return;
        for (int r = 0; r < rows_.rows(); ++r) multiplier_[r] += weight_[r] * (rows_.C[r] + rate_[r]);
    }
}

// Whether a stop belongs to the other side after a solution: one that the step runs into, or that would have to pull.
bool InverseKinematics::is_misjudged(int r) const {
    if (!stop_[r] || !takes_part_[r]) return false;
    const double after = rows_.C[r] + rate_[r];
    return closed_[r] ? multiplier_[r] + weight_[r] * after > 0.0 : after < -kOpening;
}

// A step and the stops that push in it: all that are misjudged change sides, as long as they become fewer; if they do
// not, one after the other, which comes to an end (K. G. Murty 1974; J. J. Judice and F. M. Pires, Computers and
// Operations Research 21, 1994). False if that would take too long.
bool InverseKinematics::solve_with_stops(double damping) {
    int fewest = rows_.rows() + 1, patience = kPatience;
    for (int i = 0; i < kStopChoices; ++i) {
        form();
        solve(damping);
        int misjudged = 0;
        for (int r = 0; r < rows_.rows(); ++r) misjudged += is_misjudged(r);
        if (misjudged == 0) return true;
        patience = misjudged < fewest ? kPatience : patience - 1;
        fewest = std::min(fewest, misjudged);
        for (int r = 0; r < rows_.rows(); ++r) {
            if (!is_misjudged(r)) continue;
            closed_[r] = !closed_[r];
            if (patience < 0) break;
        }
    }
    return false;
}

// The part of a step in which no body goes farther than `most` times the size of the mechanism.
double InverseKinematics::stride(double most) const {
    const double* scale = rows_.inverse_sqrt_mass().data();
    double longest = 1e-300;
    for (int b = 0; b < model_->bodies(); ++b) {
        double way = 0.0;
        for (int k = kTwist * b; k < kTwist * b + 3; ++k) way += scale[k] * step_[k] * scale[k] * step_[k];
        longest = std::max(longest, way);
    }
    return std::min(1.0, most * size_ / std::sqrt(longest));
}

// The fall of the squared distance along the step, to second order.
double InverseKinematics::predicted(double factor) const {
    double fall = 0.0;
    for (const Led& led : targets_)
        for (int r = 0; r < 6; ++r) {
            double rate = 0.0;
            for (int k = 0; k < 6; ++k) rate += led.J[r][k] * step_[kTwist * led.body + kComponent[k]];
            fall -= factor * rate * (2.0 * led.error[r] + factor * rate);
        }
    return fall;
}

// One step that leads nearer, with the damping of H. B. Nielsen (root_finder.cpp). False if there is none.
bool InverseKinematics::step_nearer(Descent& d) {
    keep();
    touch_stops();
    while (d.damping < kMostHold) {
        const bool settled = solve_with_stops(d.damping);
        const double factor = stride(kStride), fall = predicted(factor), away = std::sqrt(distance_squared());
        const bool was_open = violation_squared() > kLoose * kLoose * away * away;
        // What is damped little is lost in rounding beside light bodies, whose rows weigh more by the ratio of the
        // masses in the matrix: a step that leads nowhere shows that there is no better one only where it is damped
        // more.
        if (was_open || fall > kNowhere * away * away) {
            ++steps_;
            go(factor);
            const bool whole = close(kLoose * std::sqrt(distance_squared()), kCloseSteps);
            const double next = merit(), gain = (d.value - next) / std::max(fall, 1e-300);
            if (whole && next < d.value && gain > kLeastGain) {
                d.damping = std::max(d.damping * std::max(0.1, 1.0 - std::pow(2.0 * gain - 1.0, 3)), kLeastHold);
                d.growth = 2.0;
                d.value = next;
                return true;
            }
            go_back();
        } else if (settled && d.damping >= kSure) {
            return false;
        }
        d.damping *= d.growth;
        d.growth *= 2.0;
    }
    return false;
}

}  // namespace bellcrank
