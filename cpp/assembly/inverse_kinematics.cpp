// Where an InverseKinematics starts again that is caught in a local minimum: anywhere within the limits.
#include "assembly/inverse_kinematics.hpp"

#include <algorithm>
#include <cmath>

#include "assembly/row_units.hpp"
#include "model/branches.hpp"
#include "spatial/body_state.hpp"
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

namespace {

constexpr std::uint64_t kSeed = 20010;

// How far restarts shake the bodies, of the size of the mechanism, over and over.
constexpr double kTries[] = {0.1, 0.3, 0.6, 1.0, 0.2, 0.8};
constexpr int kShaken = 4;  // of so many restarts one shakes the nearest configuration, the others go anywhere

constexpr int kAgain = 60;      // times that restarts end where the nearest one did, after which there is none nearer
constexpr double kSame = 1e-2;  // of the distance squared, by which they may differ

constexpr double kAcross = 1e4;       // weight of constraints beside pulls at coordinates
constexpr double kProjecting = 1e-6;  // damping, of the largest diagonal entry, that leaves what rows admit
constexpr int kPulls = 10;
constexpr double kThere = 1e-3;  // of a range, that a coordinate may be away from where it is pulled
constexpr int kScatterCloseSteps = 50;

}  // namespace

bool InverseKinematics::find(std::span<const Aim> aims, double tolerance, int steps, int restarts) {
    std::vector<double> best = x_;
    AngleBranches best_branches = branches_;
    if (reach(aims, tolerance, steps)) return true;
    double least = HUGE_VAL;
    if (violation() <= kClosed) least = merit(), best = x_, best_branches = branches_;
    random_.seed(kSeed);
    const auto begin_at_best = [&] {
        x_ = best;
        branches_ = best_branches;
        evaluate();
    };
    for (int k = 0, again = 0; k < restarts && again < kAgain; ++k) {
        begin_at_best();
        if (k % kShaken == kShaken - 1 || !scatter(k % 2 == 0)) shake(kTries[k % std::size(kTries)]);
        if (reach(aims, tolerance, steps)) return true;
        const double value = violation() <= kClosed ? merit() : HUGE_VAL;
        if (value <= (1.0 + kSame) * least) again = value < (1.0 - kSame) * least ? 0 : again + 1;
        if (value < least) least = value, best = x_, best_branches = branches_;
    }
    begin_at_best();
    close(0.0, kScatterCloseSteps);
    return false;
}

double InverseKinematics::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

// Stops that one coordinate alone runs into.
void InverseKinematics::find_ranges() {
    wanted_.assign(rows_.rows(), -1.0);
    for (const BlockLayout& b : rows_.blocks()) {
        const Block& block = model_->blocks[b.block];
        for (int r = 0; r < b.size; ++r) {
            const Row& row = model_->rows[block.row_begin + r];
            if (!stop_[b.row + r] || !takes_part_[b.row + r] || row.term_end - row.term_begin != 1) continue;
            const Term& term = model_->terms[row.term_begin];
            auto found = std::find_if(ranges_.begin(), ranges_.end(),
                                      [&](const Range& range) { return range.coordinate == term.coordinate; });
            if (found == ranges_.end()) found = ranges_.insert(found, Range{term.coordinate});
            (term.coefficient > 0.0 ? found->lower : found->upper) = b.row + r;
        }
    }
}

// A place for each coordinate between its stops: anywhere, or not far from where it is (half a turn, the size of the
// mechanism), as it is on the side where no stop is.
void InverseKinematics::draw_ranges(bool whole) {
    std::fill(wanted_.begin(), wanted_.end(), -1.0);
    for (const Range& range : ranges_) {
        const double far = model_->coordinates[range.coordinate].kind->angular() ? M_PI : size_;
        const bool both = range.lower >= 0 && range.upper >= 0;
        const double below = range.lower >= 0 ? rows_.C[range.lower] : far;
        const double above = range.upper >= 0 ? rows_.C[range.upper] : far;
        const double down = both && whole ? below : std::min(below, far);
        const double up = both && whole ? above : std::min(above, far);
        const double move = -down + (down + up) * uniform();
        if (range.lower >= 0)
            wanted_[range.lower] = std::max(below + move, 0.0);
        else
            wanted_[range.upper] = std::max(above - move, 0.0);
    }
}

// A random motion of all joints against each other that the constraints admit, by up to half a turn, or the size of
// the mechanism, of what moves most.
void InverseKinematics::wander() {
    const double* scale = rows_.inverse_sqrt_mass().data();
    for (int r = 0; r < rows_.rows(); ++r) weight_[r] = stop_[r] ? 0.0 : unit_[r];
    normal_.form(rows_, weight_);
    const double shift = kProjecting * std::max(normal_.largest_diagonal(), 1e-300);
    std::fill(shift_.begin(), shift_.end(), shift);
    normal_.factor(shift_);
    std::fill(twist_.begin(), twist_.end(), 0.0);
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < 3; ++k) {
            twist_[kTwist * b + k] = size_ * (2.0 * uniform() - 1.0);
            twist_[kTwist * b + 4 + k] = M_PI * (2.0 * uniform() - 1.0);
        }
    chart_.carry(x_.data(), twist_.data());
    for (size_t k = 0; k < step_.size(); ++k) step_[k] = scale[k] > 0.0 ? shift * twist_[k] / scale[k] : 0.0;
    normal_.solve(step_.data());
    for (size_t k = 0; k < step_.size(); ++k) twist_[k] = scale[k] * step_[k];
    const CarriedChart::Extent most = chart_.extent(x_.data(), twist_.data());
    const double factor = std::min(M_PI / std::max(most.turn, 1e-300), size_ / std::max(most.shift, 1e-300));
    go(uniform() * factor);
}

// Gauss and Newton's steps that take coordinates to where they are wanted, as far as the constraints admit.
void InverseKinematics::pull() {
    for (int i = 0; i < kPulls; ++i) {
        double away = 0.0;
        for (int r = 0; r < rows_.rows(); ++r) {
            const bool pulled = stop_[r] && wanted_[r] >= 0.0;
            const double error = rows_.C[r] - (pulled ? wanted_[r] : 0.0);
            weight_[r] = pulled ? unit_[r] : stop_[r] ? 0.0 : kAcross * unit_[r];
            rate_[r] = -weight_[r] * error;
            if (pulled) away = std::max(away, std::abs(error));
        }
        if (away <= kThere) return;
        normal_.form(rows_, weight_);
        std::fill(shift_.begin(), shift_.end(), kProjecting * 1e-3 * std::max(normal_.largest_diagonal(), 1e-300));
        normal_.factor(shift_);
        std::fill(step_.begin(), step_.end(), 0.0);
        rows_.add_transposed(rate_.data(), step_.data());
        normal_.solve(step_.data());
        go(1.0);
    }
}

// Goes to a random configuration. Goes back, and is false, where the constraints cannot be met there.
bool InverseKinematics::scatter(bool whole) {
    keep();
    draw_ranges(whole);
    wander();
    pull();
    if (close(0.0, kScatterCloseSteps)) return true;
    go_back();
    return false;
}

// A random displacement, of which (w Ĵᵀ W Ĵ + s)⁻¹ s leaves what the constraints admit.
void InverseKinematics::shake(double size) {
    const double* scale = rows_.inverse_sqrt_mass().data();
    keep();
    touch_stops();
    form();
    const double shift = std::max(target_scale_, 1e-300);
    std::fill(shift_.begin(), shift_.end(), shift);
    normal_.factor(shift_);
    for (size_t k = 0; k < step_.size(); ++k) {
        const double unit = k % kTwist < 3 ? 1.0 : 1.0 / std::max(length_[k / kTwist], 1e-300);
        step_[k] = scale[k] > 0.0 ? shift * size_ * unit * (2.0 * uniform() - 1.0) / scale[k] : 0.0;
    }
    normal_.solve(step_.data());
    go(stride(size));
    if (!close(0.0, kScatterCloseSteps)) go_back();
}

}  // namespace bellcrank
