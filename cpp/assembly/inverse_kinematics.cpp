#include "assembly/inverse_kinematics.hpp"

#include <algorithm>
#include <cmath>

#include "assembly/row_units.hpp"
#include "model/starting_branches.hpp"
#include "spatial/body_state.hpp"
#include "spatial/components.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

constexpr double kGapsCount = 10.0;  // in the merit, beside the distance
constexpr int kFirstCloseSteps = 50;

}  // namespace

InverseKinematics::InverseKinematics(std::shared_ptr<const Model> model, std::span<const Target> targets,
                                     std::span<const int> open)
    : model_(std::move(model)),
      branches_(*model_),
      kept_branches_(*model_),
      rows_(*model_, branches_),
      normal_(*model_, rows_, std::vector<std::uint8_t>(model_->bodies(), 1)),
      chart_(*model_, rows_),
      length_(body_lengths(*model_)) {
    const int n = kTwist * (model_->bodies() + 1), m = rows_.rows();
    for (auto* v : {&x_, &kept_, &trial_}) v->assign(kPose * (model_->bodies() + 1), 0.0);
    for (auto* v : {&step_, &twist_, &shift_, &right_}) v->assign(n, 0.0);
    for (auto* v : {&unit_, &weight_, &multiplier_, &rate_}) v->assign(m, 0.0);
    takes_part_.assign(m, 1);
    for (auto* v : {&stop_, &closed_}) v->assign(m, 0);
    for (const BlockLayout& b : rows_.blocks()) {
        const Block& block = model_->blocks[b.block];
        const bool part = block.compliance == 0.0 && !block.of_velocity;
        const bool left_out = std::find(open.begin(), open.end(), b.block) != open.end();
        std::fill_n(takes_part_.begin() + b.row, b.size, part && !left_out);
        std::fill_n(stop_.begin() + b.row, b.size, block.unilateral);
    }
    find_ranges();
    for (int i = 0; i < static_cast<int>(model_->coordinates.size()); ++i)
        if (model_->coordinates[i].followed()) followed_.push_back(i);
    for (const Target& t : targets) {
        const Quat principal = conjugate(model_->principal_rotation[t.body]);
        const Vec3 arm = rotation_matrix(principal) * (t.position - model_->com[t.body]);
        Led led{t.body, arm, normalized(principal * t.rotation), {}, length_[t.body], {}, {}};
        for (int k = 0; k < 6; ++k) led.asked[k] = k < 3 ? t.placed : t.turned;
        targets_.push_back(led);
    }
    aims_.resize(targets_.size());
}

void InverseKinematics::place(double t, const double* x, const double* angles) {
    time_ = t;
    std::copy_n(x, x_.size(), x_.begin());
    branches_ = starting_branches(*model_, t, x, angles);
    branches_.follow(*model_, x_.data());
    rows_.evaluate_jacobians(time_, x_.data());
    weigh_rows(*model_, rows_, length_, takes_part_, unit_);
    Vec3 low = pose_position(x_.data(), 0), high = low;
    for (int b = 1; b < model_->bodies(); ++b) {
        const Vec3 p = pose_position(x_.data(), b);
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    size_ = std::max(norm(high - low), *std::max_element(length_.begin(), length_.end()));
    if (!(size_ > 0.0)) size_ = 1.0;
}

// Rows, and errors of targets, where the bodies are.
void InverseKinematics::evaluate() {
    rows_.evaluate_jacobians(time_, x_.data());
    for (size_t i = 0; i < targets_.size(); ++i) evaluate_target(targets_[i], aims_[i]);
}

// With p the com, R its rotation, a the arm: e = p + R a − aim, ė = v + R (ω × a). Of the rotation, with q that of the
// frame in the axes of the aim, e = log q and ė is its rate for the angular velocity in the frame's axes.
void InverseKinematics::evaluate_target(Led& led, const Aim& aim) const {
    const double* scale = &rows_.inverse_sqrt_mass()[kTwist * led.body];
    const Quat q = pose_rotation(x_.data(), led.body);
    const Mat3 R = rotation_matrix(q), A = rotation_matrix(led.axes);
    const Vec3 gap = pose_position(x_.data(), led.body) + R * led.arm - aim.position;
    const Vec3 turn = quaternion_log(conjugate(aim.rotation) * (q * led.axes));
    for (int k = 0; k < 3; ++k) {
        led.error[k] = component(gap, k);
        led.error[3 + k] = led.length * component(turn, k);
        const Vec3 axis{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        const Vec3 lever = R * cross(axis, led.arm), rate = rotation_vector_rate(turn, transpose_times(A, axis));
        for (int i = 0; i < 3; ++i) {
            led.J[i][k] = i == k ? scale[k] : 0.0;
            led.J[i][3 + k] = component(lever, i) * scale[4 + k];
            led.J[3 + i][k] = 0.0;
            led.J[3 + i][3 + k] = led.length * component(rate, i) * scale[4 + k];
        }
    }
    for (int r = 0; r < 6; ++r) {
        if (led.asked[r]) continue;
        led.error[r] = 0.0;
        std::fill_n(led.J[r], 6, 0.0);
    }
}

double InverseKinematics::distance_squared() const {
    double sum = 0.0;
    for (const Led& led : targets_)
        for (const double e : led.error) sum += e * e;
    return sum;
}

// Stops that are touched count as closed until a step is known.
void InverseKinematics::touch_stops() {
    for (int r = 0; r < rows_.rows(); ++r) closed_[r] = stop_[r] && rows_.C[r] <= kClosed;
}

double InverseKinematics::violation_squared() const {
    double sum = 0.0;
    for (int r = 0; r < rows_.rows(); ++r)
        if (takes_part_[r] && !(stop_[r] && rows_.C[r] >= 0.0)) sum += unit_[r] * rows_.C[r] * rows_.C[r];
    return sum;
}

double InverseKinematics::violation() const {
    double most = 0.0;
    for (int r = 0; r < rows_.rows(); ++r) {
        if (!takes_part_[r] || (stop_[r] && rows_.C[r] >= 0.0)) continue;
        most = std::isfinite(rows_.C[r]) ? std::max(most, std::abs(rows_.C[r])) : HUGE_VAL;
    }
    return most;
}

double InverseKinematics::merit() const {
    const double sum = distance_squared() + kGapsCount * violation_squared();
    return std::isfinite(sum) ? sum : HUGE_VAL;
}

InverseKinematics::Miss InverseKinematics::miss(int target) const {
    const Led& led = targets_[target];
    const double length = led.length > 0.0 ? led.length : 1.0;
    return {norm(load(led.error)), norm(load(led.error + 3)) / length};
}

bool InverseKinematics::reach(std::span<const Aim> aims, double tolerance, int steps) {
    std::copy(aims.begin(), aims.end(), aims_.begin());
    evaluate();
    if (!close(0.0, kFirstCloseSteps)) return false;
    Descent d{.value = merit()};
    const double enough = tolerance * tolerance;
    for (int i = 0; i < steps && !(distance_squared() <= enough && violation() <= kClosed); ++i)
        if (!step_nearer(d)) break;
    close(0.0, kFirstCloseSteps);
    return distance_squared() <= 4.0 * enough && violation() <= kClosed;
}

}  // namespace bellcrank
