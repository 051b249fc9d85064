// Complementarity of all stops: which of them push where forces balance, and which are met by a step.
#include <algorithm>
#include <cmath>

#include "interruption/interruption.hpp"
#include "statics/rest_search.hpp"

namespace bellcrank {

namespace {

constexpr double kClosed = 1e-9;       // gap of a stop that is closed, in metres of the metric
constexpr double kInwards = 1e-3;      // of the force that may be left: what may push a stop in that does not push back
constexpr double kLeastShift = 1e-12;  // in parts of the stiffness
constexpr double kApproach = 1e-12;    // approach to a stop that is none, in parts of a step
constexpr int kPasses = 20;            // of a search for the stops that hold, beside some for each stop

}  // namespace

// The forces that rows exert are those that leave least, stops only pushing: the force p that is left is the projection
// of the loads onto the displacements that rows and closed stops admit, which is 0 only in equilibrium. By the active
// sets of C. Lawson and R. Hanson, Solving Least Squares Problems, 1974, chapter 23, from those that pushed last.
void RestSearch::balance() {
    look_for_interrupts();
    rows_.evaluate(t_, x_.data());
    rows_.evaluate_errors(t_, x_.data());
    for (int r : rows_.one_sided()) {
        gaps_[r] = rows_.error(r);
        closed_[r] = gaps_[r] <= kClosed * metric_.extent();
        held_[r] = held_[r] && closed_[r];
    }
    loads_.all(x_.data(), record_.data());
    metric_.force(record_.data(), applied_);
    release_all_that_pull();
    let_stops_push();
    rows_are_here_ = true;
    rounding_ = std::max(loads_.rounding(x_.data(), metric_), kRounding * scale_);
}

void RestSearch::solve_balance() {
    rows_.hold(held_);
    normal_.factor({0.0, 1.0, 0.0});
    normal_.solve(applied_, no_rows_, left_, lambda_);
    lambda_ = -lambda_;
    scale_ = loads_.largest(x_.data(), metric_);
    if (lambda_.size() > 0) scale_ = std::max(scale_, lambda_.cwiseAbs().maxCoeff());
    force_ = 0.0;
    for (int b = 0; b < model_->bodies(); ++b) force_ = std::max(force_, left_.segment<6>(6 * b).norm());
}

// So that the search for the set begins with one that pushes.
void RestSearch::release_all_that_pull() {
    for (bool pulls = true; pulls;) {
        solve_balance();
        pulls = false;
        for (int r : rows_.one_sided())
            if (held_[r] && lambda_[r] < 0.0) {
                held_[r] = 0;
                pulls = true;
            }
    }
}

void RestSearch::let_stops_push() {
    const int most = kPasses + 3 * static_cast<int>(rows_.one_sided().size());
    for (int pass = 0; pass < most; ++pass) {
        const int next = most_pushed_in();
        if (next < 0) return;
        Vector before = lambda_;
        before[next] = 0.0;
        held_[next] = 1;
        solve_balance();
        while (drop_first_to_pull(before)) solve_balance();
    }
}

// A closed stop that does not push although what is left pushes it in.
int RestSearch::most_pushed_in() const {
    int most = -1;
    double inwards = std::max(kInwards * options_.tolerance, kRounding) * scale_;
    for (int r : rows_.one_sided()) {
        if (held_[r] || !closed_[r]) continue;
        const double push = -rows_.along(r, left_);
        if (push > inwards) inwards = push, most = r;
    }
    return most;
}

// From multipliers that push towards those of the balance, up to the first that would pull; false if none would.
bool RestSearch::drop_first_to_pull(Vector& before) {
    double part = 1.0;
    int first = -1;
    for (int r : rows_.one_sided())
        if (held_[r] && lambda_[r] < 0.0) {
            const double reached = before[r] / (before[r] - lambda_[r]);
            if (first < 0 || reached < part) part = reached, first = r;
        }
    if (first < 0) return false;
    before += part * (lambda_ - before);
    before[first] = 0.0;
    held_[first] = 0;
    return true;
}

// The step that makes ½ s·H s − f·s least, with the factors' H, on the rows that hold and among the steps that no other
// stop is passed by: aᵀ s ≥ −gap. By active sets from s = 0 (J. Nocedal, S. Wright, Numerical Optimization, section
// 16.5); any set on the way has a step downhill. False if the form is not positive.
bool RestSearch::least_form(const Vector& force, Vector& step) {
    const SaddleMatrix::Form form{1.0 / unit_, std::max(shift_, kLeastShift), 0.0};
    std::vector<std::uint8_t> met(held_.size(), 0), mask = held_;
    Vector target, y, ahead = Vector::Zero(rows_.rows());
    step = Vector::Zero(metric_.size());
    const int most = kPasses + 3 * static_cast<int>(rows_.one_sided().size());
    for (int pass = 0; pass < most; ++pass) {
        for (size_t r = 0; r < mask.size(); ++r) mask[r] = held_[r] || met[r];
        rows_.hold(mask);
        if (!newton_.factor(form) || newton_.negative_directions() > 0) break;
        newton_.solve(force, ahead, target, y);
        double part = 1.0;
        const int first = first_met(step, target, met, part);
        step += part * (target - step);
        if (first >= 0) {
            met[first] = 1;
            ahead[first] = -std::max(gaps_[first], 0.0);
            continue;
        }
        int pulls = -1;  // y is what the stop would have to pull by
        for (int r : rows_.one_sided())
            if (met[r] && y[r] > 0.0 && (pulls < 0 || y[r] > y[pulls])) pulls = r;
        if (pulls < 0) break;
        met[pulls] = 0;
        ahead[pulls] = 0.0;
    }
    rows_.hold(held_);
    return step.squaredNorm() > 0.0;
}

int RestSearch::first_met(const Vector& from, const Vector& to, const std::vector<std::uint8_t>& met,
                          double& part) const {
    int first = -1;
    const double nothing = kApproach * (from.norm() + to.norm());
    for (int r : rows_.one_sided()) {
        if (held_[r] || met[r]) continue;
        const double here = rows_.along(r, from), there = rows_.along(r, to), room = std::max(gaps_[r], 0.0);
        if (there >= here - nothing || there + room >= -nothing) continue;
        const double reached = std::max(here + room, 0.0) / (here - there);
        if (reached < part) part = reached, first = r;
    }
    return first;
}

}  // namespace bellcrank
