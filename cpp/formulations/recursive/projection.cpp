// Where the bodies are, and the way onto the drives and closing rows: driven coordinates are set, the others moved by
// the recursion's own factors.
#include <algorithm>
#include <cmath>

#include "formulations/recursive.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using recursive::Drive;

namespace {

// Beyond rounding and errors of a method: a drive's rate has jumped [m/s or rad/s], in parts of it.
constexpr double kJump = 1e-6;

}  // namespace

void Recursive::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                             double* u) {
    if (!continued) recursion_.forget_sizes();
    JointSystem::from_records(t, poses, twists, continued, x, u);
}

// Leaves frames and velocities in state_.
void Recursive::move_to(const double* x, const double* u) {
    joints_.follow_formulas(x, branches_);
    state_.place(x, u);
    state_.move(u);
}

void Recursive::place_bodies(double, const double* x, const double* u, double* poses, double* twists) {
    move_to(x, u);
    state_.write_poses(poses);
    state_.write_twists(twists);
}

void Recursive::body_accelerations(double, const double* x, const double* u, const double* udot, double* records) {
    move_to(x, u);
    recursion_.accelerations(state_, state_.bias.data(), udot, link_accelerations_);
    state_.write_accelerations(link_accelerations_.data(), records);
}

void Recursive::factor_at(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    load_jacobians(t);
    factor();
}

void Recursive::find_errors(double, const double*) {
    for (size_t i = 0; i < storage_.size(); ++i) errors_[i] = compliance_[i] > 0.0 ? 0.0 : closing_.C[storage_[i]];
}

void Recursive::find_rates(double, const double* x, const double* u) {
    move_to(x, u);
    state_.write_twists(twists_.data());
    row_rates();
}

// The coordinate of a drive, and its derivatives.
FunctionValue Recursive::driven(const Drive& drive, double t) const {
    const FunctionValue f = drive.function < 0 ? FunctionValue{0, 0, 0} : model_->functions[drive.function](t);
    return {(f.f + drive.constant) / drive.factor, f.d1 / drive.factor, f.d2 / drive.factor};
}

void Recursive::lead_positions(double t, double* x) const {
    for (const Drive& drive : tree_.drives) x[tree_.links[drive.link].x] = driven(drive, t).f;
}

double Recursive::set_driven(double t, double* x, double* u) {
    bool jumps = false;
    double most = 0.0;
    lead_positions(t, x);
    for (size_t i = 0; i < tree_.drives.size(); ++i) {
        const recursive::Link& link = tree_.links[tree_.drives[i].link];
        given_[i] = driven(tree_.drives[i], t).d1 - u[link.u];
        most = std::max(most, std::abs(given_[i]));
        jumps |= std::abs(given_[i]) > kJump * std::max(1.0, std::abs(u[link.u]));
    }
    if (jumps)
        spread_jumps(t, x, u);
    else
        for (size_t i = 0; i < given_.size(); ++i) u[tree_.links[tree_.drives[i].link].u] += given_[i];
    return most;
}

// A speed that is led to another value at once is an impulse of its drive, to which all joints respond: the
// accelerations for drives whose second derivatives are the jumps, without other loads.
void Recursive::spread_jumps(double t, const double* x, double* u) {
    trusted_pivot_ = options_.rank_tolerance;
    to_records(t, x, u, poses_.data(), twists_.data());
    if (recursion_.rows() > 0) load_jacobians(t);
    factor();
    std::fill(targets_.begin(), targets_.end(), 0.0);
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(state_, {loads_.data(), nullptr, nullptr, given_.data(), targets_.data()}, step_.data(),
                     lambda_.data());
    for (int k = 0; k < tangent_size(); ++k) u[k] += step_[k];
}

// Driven coordinates rest.
const double* Recursive::step() {
    for (size_t i = 0; i < errors_.size(); ++i) targets_[i] = -errors_[i];
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(state_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, step_.data(), lambda_.data());
    return step_.data();
}

// errors_ = Ċ of the closing rows at twists_, with the Jacobian at hand.
void Recursive::row_rates() {
    for (size_t i = 0; i < errors_.size(); ++i) errors_[i] = closing_.Ct[storage_[i]];
    for (const Entry& e : entries_) {
        double row[6];
        const int body = read(e, row);
        for (int k = 0; k < 6; ++k)
            errors_[e.row] += row[k] * reactions_.root_of_mass(body, k) * twists_[kTwist * body + kComponent[k]];
    }
    for (size_t i = 0; i < errors_.size(); ++i)
        if (compliance_[i] > 0.0) errors_[i] = 0.0;
}

void Recursive::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    for (const Drive& drive : tree_.drives) {
        const recursive::Link& link = tree_.links[drive.link];
        const FunctionValue f = driven(drive, t);
        *position = std::max(*position, std::abs(drive.factor * (x[link.x] - f.f)));
        *velocity = std::max(*velocity, std::abs(drive.factor * (u[link.u] - f.d1)));
    }
    if (closing_rows().empty()) return;
    to_records(t, x, u, poses_.data(), twists_.data());
    load_jacobians(t);
    find_errors(t, x);
    *position = std::max(*position, largest_violation());
    row_rates();
    *velocity = std::max(*velocity, largest_rate());
}

}  // namespace bellcrank
