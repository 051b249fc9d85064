#include "assembly/root_finder.hpp"

#include <algorithm>
#include <cmath>

#include "assembly/row_units.hpp"
#include "interruption/interruption.hpp"
#include "model/starting_branches.hpp"
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

}  // namespace bellcrank
