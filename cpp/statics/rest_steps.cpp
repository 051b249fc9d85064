// Steps downhill: Newton's on the constraints, shortened by a shift of the stiffness until the energy falls along the
// whole of them as expected.
#include <algorithm>
#include <cmath>
#include <limits>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "statics/rest_search.hpp"

namespace bellcrank {

namespace {

constexpr double kFirstShift = 1e-8;
constexpr int kTrials = 80;
constexpr double kLongStep = 0.1;  // in parts of what one may be; a longer one is looked at on the way
constexpr int kLooks = 4;
constexpr double kAsExpected = 0.75, kPoor = 0.1, kBeyond = 3.0;  // fall of the energy, in parts of that expected
constexpr double kLeastFall = 1e-3;                               // of forces, in a step that counts
constexpr double kStray = 1e-2;  // energy of laws that do not follow a step, in parts of that which it sets free
constexpr int kBends = 8;
constexpr int kChords = 12, kClosings = 12;
constexpr double kMet = 16.0 * kEpsilon;                 // errors of rows, in parts of the largest length
constexpr double kPassed = 1e-10;                        // by which a stop may be passed, in parts of the largest body
constexpr int kProjections = 8;                          // of a place onto stops that are passed
constexpr double kFirstLeave = 0.2, kLeastLeave = 1e-5;  // along a direction that falls off, in parts of a step

}  // namespace

void RestSearch::move_to(const std::vector<double>& x) {
    x_ = x;
    branches_.follow(*model_, x_.data());
    rows_are_here_ = settled_ = false;
}

void RestSearch::factor_normal(const double* x, const std::vector<std::uint8_t>& held) {
    rows_.evaluate(t_, x);
    rows_.hold(held);
    normal_.factor({0.0, 1.0, 0.0});
    rows_are_here_ = false;
}

// A step in parts of what one may be: no body turns by more than an angle, or goes farther than a part of the whole.
double RestSearch::farthest(const Vector& step) const {
    double part = 0.0;
    for (int b = 0; b < model_->bodies(); ++b)
        part = std::max(
            {part, step.segment<3>(6 * b).norm() / size_, step.segment<3>(6 * b + 3).norm() / metric_.length(b)});
    return part / options_.largest_turn;
}

// The largest of the lengths that rounding of places goes by.
double RestSearch::reach(const std::vector<double>& x) const {
    double reach = metric_.extent();
    for (int b = 0; b < model_->bodies(); ++b) reach = std::max(reach, norm(pose_position(x.data(), b)));
    return reach;
}

void RestSearch::retract(const std::vector<double>& x, const Vector& step, std::vector<double>& out) const {
    out.resize(x.size());
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 phi{step[6 * b + 3], step[6 * b + 4], step[6 * b + 5]};
        const Quat q = advanced(pose_rotation(x.data(), b), (1.0 / metric_.length(b)) * phi);
        for (int k = 0; k < 3; ++k) out[kPose * b + k] = x[kPose * b + k] + step[6 * b + k];
        out[kPose * b + 3] = 0.0;
        store(&out[kPose * b + 4], q);
    }
    std::copy_n(x.end() - kPose, kPose, out.end() - kPose);
}

// Onto rows that hold; with the gradients at hand, of x_ and held_, as long as that goes fast.
bool RestSearch::close(std::vector<double>& x, const std::vector<std::uint8_t>& held) {
    if (rows_.rows() == 0) return true;
    const double reach = this->reach(x);
    double before = std::numeric_limits<double>::infinity();
    bool fresh = false;  // whether gradients are of a place near enough to tell rounding from slow progress
    Vector errors(rows_.rows()), step, y;
    for (int i = 0; i < kChords + kClosings; ++i) {
        rows_.evaluate_errors(t_, x.data());
        for (int r = 0; r < rows_.rows(); ++r) errors[r] = held[r] ? -rows_.error(r) : 0.0;
        const double error = errors.cwiseAbs().maxCoeff();
        if (!std::isfinite(error)) return false;
        if (error <= kMet * reach) return true;
        const bool slow = error > 0.3 * before;
        if (slow && fresh && error <= 1e3 * kRounding * reach) return true;
        if (slow || i >= kChords || rows_.held() != held) {
            factor_normal(x.data(), held);
            fresh = true;
        }
        before = error;
        normal_.solve(none_, errors, step, y);
        retract(x, step, x);
    }
    return false;
}

// Along a straight step the coordinate φ of a law changes by ∇φ s and, beside it, by a square of s that a stiff law
// does not allow: a beam that bends would grow longer. The step is bent until all of them have changed as it says, as
// far as they can together, by Gauss and Newton's method on ½ Σ k (φ − φ*)². Its energy is then that which Newton's
// form has of laws, and their efforts are those that this form leaves in balance.
void RestSearch::follow_laws(const Vector& step, std::vector<double>& x) {
    const size_t laws = model_->laws.size();
    if (laws == 0) return;
    law_slope_.assign(laws, 0.0), law_target_.assign(laws, 0.0), along_law_.resize(laws);
    std::vector<double> displacement(record_.size());
    metric_.displacement(step, displacement.data());
    for (size_t i = 0; i < laws; ++i) {
        const Law& law = model_->laws[i];
        const CoordinateMotion c =
            coordinate_motion(*model_, branches_, law.coordinate, x_.data(), displacement.data());
        law_target_[i] = c.value + c.rate;
        law_slope_[i] = std::max(-loads_.slope(law, c.value).value, 0.0);
    }
    const double enough = std::max(kStray * std::abs(left_.dot(step)), energy_noise());
    double before = stray(x);
    if (!(before > enough)) return;
    bent_ = true;
    Vector force, errors(rows_.rows()), bend, y;
    std::vector<double> trial;
    for (int i = 0; i < kBends; ++i) {
        rows_.evaluate(t_, x.data());
        rows_.evaluate_errors(t_, x.data());
        rows_.hold(held_);
        rows_are_here_ = false;
        law_stiffness_.evaluate_laws(along_law_, law_slope_);
        const double unit = law_stiffness_.largest();
        std::fill(displacement.begin(), displacement.end(), 0.0);
        for (size_t l = 0; l < laws; ++l) {
            if (law_slope_[l] == 0.0) continue;
            const MarkerPair& pair = model_->pairs[model_->coordinates[model_->laws[l].coordinate].pair];
            const double pull = law_slope_[l] * (along_law_[l].value - law_target_[l]) / unit;
            for (int s = 0; s < 2; ++s)
                for (int k = 0; k < 6 && pair.body[s] != model_->ground(); ++k)
                    displacement[kTwist * pair.body[s] + kComponent[k]] -= pull * along_law_[l].J[s][k];
        }
        metric_.force(displacement.data(), force);
        for (int r = 0; r < rows_.rows(); ++r) errors[r] = held_[r] ? -rows_.error(r) : 0.0;
        if (!along_laws_.factor({1.0 / unit, kFirstShift, 0.0})) return;
        along_laws_.solve(force, errors, bend, y);
        retract(x, bend, trial);
        const double now = stray(trial);
        if (!(now < 0.5 * before)) return;
        x = trial;
        if (now <= enough) return;
        before = now;
    }
}

// ½ Σ k (φ − φ*)²
double RestSearch::stray(const std::vector<double>& x) {
    const std::vector<double> still(record_.size(), 0.0);
    double sum = 0.0;
    for (size_t i = 0; i < law_slope_.size(); ++i) {
        if (law_slope_[i] == 0.0) continue;
        evaluate_coordinate(*model_, branches_, model_->laws[i].coordinate, x.data(), still.data(), along_law_[i]);
        const double error = along_law_[i].value - law_target_[i];
        sum += 0.5 * law_slope_[i] * error * error;
    }
    return sum;
}

// Onto the rows that hold, and onto stops that would be passed.
bool RestSearch::place(const Vector& step, double part, bool bent, std::vector<double>& x) {
    if (!rows_are_here_) {
        factor_normal(x_.data(), held_);
        rows_are_here_ = true;
    }
    retract(x_, part * step, x);
    if (bent) follow_laws(part * step, x);
    std::vector<std::uint8_t> held = held_;
    for (int i = 0; i < kProjections; ++i) {
        if (!close(x, held)) return false;
        rows_.evaluate_errors(t_, x.data());
        bool passed = false;
        for (int r : rows_.one_sided())
            if (!held[r] && rows_.error(r) < -kPassed * metric_.extent()) held[r] = 1, passed = true;
        if (!passed) return true;
    }
    return false;
}

// What loads without a potential do on the way between two places.
double RestSearch::work(const std::vector<double>& from, const std::vector<double>& to) const {
    if (loads_.have_potentials()) return 0.0;
    Vector step(metric_.size()), force;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Quat turn = conjugate(pose_rotation(from.data(), b)) * pose_rotation(to.data(), b);
        const Vec3 moved = pose_position(to.data(), b) - pose_position(from.data(), b),
                   turned = metric_.length(b) * quaternion_log(turn);
        step.segment<6>(6 * b) << moved.x, moved.y, moved.z, turned.x, turned.y, turned.z;
    }
    double sum = 0.0;
    std::vector<double> x, record(record_.size());
    for (int i = 0; i <= 2; ++i) {
        retract(from, (0.5 * i) * step, x);
        loads_.without_potential(x.data(), record.data());
        metric_.force(record.data(), force);
        sum += (i == 1 ? 4.0 : 1.0) / 6.0 * force.dot(step);
    }
    return sum;
}

bool RestSearch::improve() {
    stiffness_.evaluate(t_, x_.data(), lambda_, scale_);
    unit_ = std::max(stiffness_.largest(), scale_ / size_);
    Vector step, along;
    for (int i = 0; i < kTrials; ++i) {
        const auto more = [&](double factor) { shift_ = std::max(factor * shift_, kFirstShift); };
        if (!rows_are_here_) {
            factor_normal(x_.data(), held_);
            rows_are_here_ = true;
        }
        if (!least_form(left_ / unit_, step)) {
            more(2.0);
            continue;
        }
        settled_ = shift_ == 0.0 && step.cwiseAbs().maxCoeff() <= kRounding * reach(x_);
        if (settled_) return true;
        const double part = farthest(step);
        if (!(part <= 4.0)) {
            more(std::clamp(part, 2.0, 30.0));
            continue;
        }
        const double cut = part > 1.0 ? 1.0 / part : 1.0;
        stiffness_.multiply(step, along);
        const double slope = left_.dot(step), curvature = step.dot(along);
        if (!(slope > 0.0)) return false;
        const double before = shift_;
        const double falls = cut * (1.0 - shift_ * unit_ * step.norm() / left_.norm());
        const double predicted = cut * slope - 0.5 * cut * cut * curvature;
        bent_ = false;
        if (attempt(cut * step, true, predicted, falls)) return true;
        if (bent_ && attempt(cut * step, false, predicted, falls)) return true;
        shift_ = before;
        more(8.0);
    }
    return false;
}

// What rounding of the energy's parts, and of the places where forces act, may change of it.
double RestSearch::energy_noise() const { return kRounding * (energy_.size + scale_ * reach(x_)); }

// Goes along a step if the energy falls on all of the way, as much as is expected and not much more: what falls by more
// has passed into another valley. What it takes to close the last of the gaps of stops that push is no part of that.
bool RestSearch::attempt(const Vector& step, bool bent, double predicted, double falls) {
    const int looks = farthest(step) > kLongStep ? kLooks : 1;
    const double noise = energy_noise();
    double closed = energy_.value;
    for (int r : rows_.one_sided())
        if (held_[r]) closed -= lambda_[r] * gaps_[r];
    double before = closed, actual = 0.0, work_done = 0.0;
    std::vector<double> last = x_;
    for (int i = 1; i <= looks; ++i) {
        const double part = static_cast<double>(i) / looks;
        if (!place(step, part, bent, trial_)) return false;
        work_done += work(last, trial_);
        last = trial_;
        const double energy = loads_.potential(trial_.data()).value - work_done;
        if (!(energy <= before + noise)) return false;
        before = energy;
        actual = closed - energy;
    }
    return accept(trial_, predicted, actual, falls, noise);
}

// Where differences of energies are rounding, the forces that are left decide. falls: part of them that the step is
// expected to take away, which is small where the stiffness is small against its shift.
bool RestSearch::accept(const std::vector<double>& x, double predicted, double actual, double falls, double noise) {
    if (predicted > 10.0 * noise) {
        const double ratio = actual / predicted;
        if (ratio < kPoor || ratio > kBeyond) return false;
        if (ratio > kAsExpected) shift_ *= 0.1;
        if (shift_ < kFirstShift) shift_ = 0.0;
        move_to(x);
        energy_ = loads_.potential(x_.data());
        return true;
    }
    const std::vector<double> start = x_, here = x;
    const double force = left_.norm();
    move_to(here);
    balance();
    if (left_.norm() < (1.0 - kPoor * std::max(falls, kLeastFall)) * force || is_balanced()) {
        shift_ *= 0.1;
        energy_ = loads_.potential(x_.data());
        return true;
    }
    move_to(start);
    balance();
    return false;
}

// Off a rest that is no minimum, along the direction in which the energy falls off most.
bool RestSearch::leave() {
    const Vector direction = mode_ / (farthest(mode_) * (left_.dot(mode_) < 0.0 ? -1.0 : 1.0));
    const double noise = energy_noise();
    for (double part = kFirstLeave; part > kLeastLeave; part *= 0.5)
        for (const double sign : {1.0, -1.0}) {
            if (!place(sign * part * direction, 1.0, false, trial_)) continue;
            const Loads::Potential energy = loads_.potential(trial_.data());
            if (!(energy.value - work(x_, trial_) < energy_.value - 10.0 * noise)) continue;
            move_to(trial_);
            energy_ = energy;
            return true;
        }
    return false;
}

}  // namespace bellcrank
