// Onto the drives and closing rows: driven coordinates are set, the others moved by the recursion's own factors.
#include <algorithm>
#include <cmath>

#include "formulations/recursive.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using recursive::Drive;
using recursive::Load;

namespace {

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};
// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;

}  // namespace

// Of closing rows that are not dropped.
double Recursive::largest_error() {
    double largest = -1.0;
    for (size_t i = 0; i < storage_.size(); ++i) {
        errors_[i] = compliance_[i] > 0.0 ? 0.0 : closing_.C[storage_[i]];
        const double error = std::abs(errors_[i]);
        if (recursion_.dropped()[i] || error <= largest) continue;
        largest = error;
        worst_row_ = tree_.closing_rows[i];
    }
    return std::max(largest, 0.0);
}

void Recursive::set_driven(double t, double* x, double* u) const {
    for (const Drive& drive : tree_.drives) {
        const recursive::Link& link = tree_.links[drive.link];
        const FunctionValue f = drive.function < 0 ? FunctionValue{0, 0, 0} : model_->functions[drive.function](t);
        x[link.x] = (f.f + drive.constant) / drive.factor;
        u[link.u] = f.d1 / drive.factor;
    }
}

bool Recursive::project(double t, double* x, double* u) {
    set_driven(t, x, u);
    if (is_open()) return true;
    trusted_pivot_ = options_.rank_tolerance;
    const double error = correct_positions(t, x);
    correct_velocities(t, x, u);
    return error <= std::max(1e3 * options_.position_tolerance, 1e-8);
}

void Recursive::project_stage(double t, double* x, double* u) {
    if (is_open()) return;
    trusted_pivot_ = options_.rank_tolerance;
    to_records(t, x, u, poses_.data(), twists_.data());
    load_jacobians(t);
    factor();
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    set_driven(t, x, u);
    correct_positions(t, x);
    correct_velocities(t, x, u);
}

// Newton's method along M⁻¹Jᵀ, the least motion in the norm of the kinetic energy; ends with J and factors at x. A
// configuration that is wrong by ε tells nothing about rows that are dependent up to an angle of that size: near a
// singular configuration such rows are dropped as if it were singular.
double Recursive::correct_positions(double t, double* x) {
    double error = 0.0;
    for (int i = 0; i <= options_.max_corrections; ++i) {
        std::fill(step_.begin(), step_.end(), 0.0);
        to_records(t, x, step_.data(), poses_.data(), twists_.data());
        load_jacobians(t);
        factor();
        const double next = largest_error();
        const bool slow = i > 0 && !(next < 0.25 * error);
        error = next;
        if (error <= options_.position_tolerance || (slow && error < 1e-9) || i == options_.max_corrections) break;
        position_step(step_.data());
        const double largest = std::abs(*std::max_element(
            step_.begin(), step_.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
        const double doubtful = options_.doubt * largest;
        if (doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                factor();
                position_step(step_.data());
            }
        }
        retract(x, step_.data(), x);
        ++statistics_.corrections;
    }
    return error;
}

// The least motion that meets the rows to first order, driven coordinates at rest.
void Recursive::position_step(double* xi) {
    for (size_t i = 0; i < errors_.size(); ++i) targets_[i] = -errors_[i];
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(kinematics_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, xi, lambda_.data());
}

void Recursive::correct_velocities(double t, const double* x, double* u) {
    go(t, x, u);
    kinematics_.write_twists(twists_.data());
    row_rates();
    for (size_t i = 0; i < targets_.size(); ++i) targets_[i] = compliance_[i] > 0.0 ? 0.0 : -errors_[i];
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(kinematics_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, step_.data(),
                     lambda_.data());
    for (int i = 0; i < tangent_size(); ++i) u[i] += step_[i];
}

// errors_ = Ċ of the closing rows at twists_, with the Jacobian at hand.
void Recursive::row_rates() {
    for (size_t i = 0; i < errors_.size(); ++i) errors_[i] = closing_.Ct[storage_[i]];
    for (const Entry& e : entries_) {
        const BlockSide& side = sides_[e.side];
        if (side.body == model_->ground()) continue;
        double row[6];
        side.rows.read(closing_.J.data(), e.row_in_block, row);
        for (int k = 0; k < 6; ++k)
            errors_[e.row] += row[k] * root_of_mass(side.body, k) * twists_[kTwist * side.body + kComponent[k]];
    }
}

void Recursive::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    for (const Drive& drive : tree_.drives) {
        const recursive::Link& link = tree_.links[drive.link];
        const FunctionValue f = drive.function < 0 ? FunctionValue{0, 0, 0} : model_->functions[drive.function](t);
        *position = std::max(*position, std::abs(drive.factor * x[link.x] - f.f - drive.constant));
        *velocity = std::max(*velocity, std::abs(drive.factor * u[link.u] - f.d1));
    }
    if (is_open()) return;
    to_records(t, x, u, poses_.data(), twists_.data());
    load_jacobians(t);
    largest_error();
    for (const double e : errors_) *position = std::max(*position, std::abs(e));
    row_rates();
    for (size_t i = 0; i < errors_.size(); ++i)
        if (compliance_[i] == 0.0) *velocity = std::max(*velocity, std::abs(errors_[i]));
}

}  // namespace bellcrank
