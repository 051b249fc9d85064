// Complementarity of all stops: which of them push where forces balance, and which are met by a step.
#include "statics/rest_search.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "interruption/interruption.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr int kLeft = 50;  // rests left for lower ones

Eigen::VectorXd masses(const Model& model, const Metric& metric) {
    Eigen::VectorXd mass(metric.size());
    for (int b = 0; b < model.bodies(); ++b) {
        const double square = metric.length(b) * metric.length(b), m = model.mass[b];
        const Vec3& I = model.principal_inertia[b];
        mass.segment<6>(6 * b) << m, m, m, I.x / square, I.y / square, I.z / square;
    }
    return mass;
}

}  // namespace

RestSearch::RestSearch(std::shared_ptr<const Model> model, double t, const RestOptions& options)
    : model_(std::move(model)),
      t_(t),
      options_(options),
      branches_(*model_, t),
      metric_(*model_),
      loads_(*model_, branches_, t),
      rows_(*model_, branches_, metric_),
      stiffness_(*model_, branches_, metric_, loads_, rows_),
      mass_(masses(*model_, metric_)),
      newton_(stiffness_, rows_, mass_),
      normal_(stiffness_, rows_, mass_),
      law_stiffness_(*model_, branches_, metric_, loads_, rows_),
      along_laws_(law_stiffness_, rows_, mass_),
      record_(kTwist * (model_->bodies() + 1), 0.0),
      held_(rows_.rows(), 1),
      closed_(rows_.rows(), 0),
      gaps_(rows_.rows(), 0.0),
      none_(Vector::Zero(metric_.size())),
      no_rows_(Vector::Zero(rows_.rows())) {}

std::vector<double> RestSearch::coordinates() const {
    const std::vector<double> rest(record_.size(), 0.0);
    std::vector<double> values;
    for (size_t c = 0; c < model_->coordinates.size(); ++c)
        values.push_back(coordinate_motion(*model_, branches_, static_cast<int>(c), x_.data(), rest.data()).value);
    return values;
}

Rest RestSearch::find(std::vector<double>& x, const std::vector<double>& angles) {
    Rest rest;
    x_ = x;
    for (size_t c = 0; c < angles.size(); ++c) branches_.set(static_cast<int>(c), angles[c]);
    Vec3 low = pose_position(x.data(), 0), high = low;
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 p = pose_position(x.data(), b);
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    size_ = std::max(metric_.extent(), norm(high - low));
    move_to(x_);
    for (int r : rows_.one_sided()) held_[r] = 0;
    energy_ = loads_.potential(x_.data());
    rest.energy_before = energy_.value;
    int left = 0;
    while (true) {
        balance();
        if (is_balanced()) {
            rest.stability = judge();
            rest.found = true;
            const bool unstable = rest.stability.unstable > 0;
            if (!options_.leave_unstable || !unstable || ++left > kLeft || !leave()) break;
            rest.found = false;
        } else if (++rest.iterations > options_.iterations) {
            break;
        } else if (!improve()) {  // what is left may be too little to go by where the stiffness is negative
            const bool leaves = options_.leave_unstable && ++left <= kLeft && judge().unstable > 0 && leave();
            if (!leaves) break;
            shift_ = 0.0;
        }
    }
    rest.energy = energy_.value;
    rest.force = force_;
    rest.scale = scale_;
    rest.has_potential = loads_.have_potentials();
    for (int b = 0; b < model_->bodies(); ++b)
        if (rest.worst_body < 0 || left_.segment<6>(6 * b).norm() > left_.segment<6>(6 * rest.worst_body).norm())
            rest.worst_body = b;
    x = x_;
    return rest;
}

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

// Goes from multipliers that push towards those of the balance, up to the first that would pull; false if none would.
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

// Stability of a rest: the least eigenvalues of the tangent stiffness against mass on the constraints, each with what
// it may be off by.

namespace {

constexpr double kSoft = 1e-8;      // stiffness that may be none, in parts of the largest
constexpr double kNeutral = 1e-11;  // stiffness that is none where directions are too many to be looked at one by one
constexpr int kModes = 4, kMostModes = 64, kIterations = 120;
constexpr double kSteady = 1e-12, kDecided = 0.1;  // changes of the least eigenvalue, and of others, with which it ends

}  // namespace

int RestSearch::negative_directions(double shift) {
    for (int i = 0; i < 4; ++i, shift *= 1.1)
        if (newton_.factor({1.0 / unit_, shift, 0.0})) return newton_.negative_directions();
    return 0;
}

// Factors of the stiffness with enough inertia to be positive, and far from singular.
bool RestSearch::shift_up(double& inertia) {
    bool positive = false;
    for (int i = 0; i < 60; ++i, inertia *= 8.0) {  // pivots may cancel at any of these
        const bool factored = newton_.factor({1.0 / unit_, 0.0, inertia});
        if (factored && positive) return true;
        positive = positive || (factored && newton_.negative_directions() <= 0);
    }
    return false;
}

// Subspace iteration with the factors at hand; modes are orthonormal against mass, the least one first. Neutral
// directions outgrow all others by far, so that vectors are made independent before they are combined. They are
// projected onto the rows, as near a neutral direction what rows give way is not taken back.
void RestSearch::iterate_modes(int times, Eigen::MatrixXd& modes, Vector& values) {
    const Eigen::Index n = modes.rows(), count = modes.cols();
    Eigen::MatrixXd stiff(n, count);
    Vector v, y;
    for (int i = 0; i < times; ++i) {
        for (Eigen::Index j = 0; j < count; ++j) {
            newton_.solve(mass_.cwiseProduct(modes.col(j)), no_rows_, v, y);
            modes.col(j) = v.normalized();
        }
        modes = Eigen::HouseholderQR<Eigen::MatrixXd>(modes).householderQ() * Eigen::MatrixXd::Identity(n, count);
        for (Eigen::Index j = 0; j < count; ++j) {
            normal_.solve(modes.col(j), no_rows_, v, y);
            modes.col(j) = v;
            stiffness_.multiply(modes.col(j), v);
            stiff.col(j) = v;
        }
        const Eigen::MatrixXd K = modes.transpose() * stiff, M = modes.transpose() * mass_.asDiagonal() * modes;
        const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(0.5 * (K + K.transpose()), M);
        if (solver.info() != Eigen::Success) return;
        modes = (modes * solver.eigenvectors()).eval();
        const Vector before = values;
        values = solver.eigenvalues();
        bool steady = i > 3;
        for (Eigen::Index j = 0; j < count && steady; ++j) {
            const double part = j == 0 ? kSteady : kDecided;
            steady = std::abs(values[j] - before[j]) <=
                     std::max(part * std::abs(values[j]), 0.1 * uncertainty(modes.col(j), values[j]));
        }
        if (steady) return;
    }
}

Eigen::MatrixXd RestSearch::stiffness(const std::vector<double>& x, const std::vector<double>& angles) {
    for (size_t c = 0; c < angles.size(); ++c) branches_.set(static_cast<int>(c), angles[c]);
    move_to(x);
    balance();
    stiffness_.evaluate(t_, x_.data(), lambda_, scale_);
    const int n = metric_.size();
    Eigen::MatrixXd K(n, n);
    Vector column;
    for (int j = 0; j < n; ++j) {
        stiffness_.multiply(Vector::Unit(n, j), column);
        K.col(j) = column;
    }
    const auto length = [&](int i) { return i % 6 < 3 ? 1.0 : metric_.length(i / 6); };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) K(i, j) *= length(i) * length(j);
    return K;
}

// The uncertainty of vᵀ K v / vᵀ M v: errors of the entries, and what forces that are left may have displaced.
double RestSearch::uncertainty(const Vector& mode, double value) const {
    const double against = mode.dot(mass_.cwiseProduct(mode));
    return (stiffness_.error_of_form(mode) + force_ / metric_.extent() * mode.squaredNorm()) / against +
           kRounding * std::abs(value);
}

RestStability RestSearch::judge() {
    RestStability s;
    stiffness_.evaluate(t_, x_.data(), lambda_, scale_);
    unit_ = std::max(stiffness_.largest(), scale_ / size_);
    if (!(unit_ > 0.0)) unit_ = 1.0;
    for (const double shift : {-0.618, -0.447, -0.293})  // rows of length one along an axis would cancel −1
        if (newton_.factor({0.0, shift, 0.0})) {
            s.freedoms = newton_.negative_directions();
            break;
        }
    s.least = std::numeric_limits<double>::infinity();
    if (s.freedoms == 0) return s;
    const int soft = negative_directions(-kSoft), looked_at = std::min({soft + kModes, kMostModes, s.freedoms});

    std::mt19937_64 random(1990);
    Eigen::MatrixXd modes(metric_.size(), looked_at);
    for (Eigen::Index i = 0; i < modes.size(); ++i)
        modes.data()[i] = 2.0 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1.0;
    Vector values = Vector::Constant(looked_at, std::numeric_limits<double>::infinity());
    double inertia = kNeutral / mass_.maxCoeff();
    if (shift_up(inertia)) iterate_modes(kIterations, modes, values);
    if (!std::isfinite(values[0])) {  // nothing is certain
        s.least = 0.0;
        s.uncertainty = std::numeric_limits<double>::infinity();
        s.neutral = s.freedoms;
        return s;
    }
    if (values[0] < -uncertainty(modes.col(0), values[0]) &&
        newton_.factor({1.0 / unit_, 0.0, -1.001 * values[0] / unit_}))
        iterate_modes(kIterations, modes, values);

    s.least = values[0];
    mode_ = modes.col(0);
    s.uncertainty = uncertainty(mode_, s.least);
    for (int i = 0; i < looked_at; ++i) {
        const double unsure = uncertainty(modes.col(i), values[i]);
        if (values[i] < -unsure)
            ++s.unstable;
        else if (values[i] <= unsure)
            ++s.neutral;
    }
    if (s.unstable + s.neutral == looked_at && looked_at < s.freedoms) {
        s.unstable = negative_directions(kNeutral);
        s.neutral = std::max(negative_directions(-kNeutral) - s.unstable, 0);
    }
    return s;
}

}  // namespace bellcrank
