// Directions along which rows hold.
#include <algorithm>
#include <cmath>

#include "bodies/closing.hpp"

namespace bellcrank {

namespace {

// Of what rows were off at first: what may be left of it, and how often it is solved for.
constexpr double kLeft = 1e-15;
constexpr int kMostRounds = 3;

}  // namespace

EquationsTangent& Closing::equations() {
    if (!equations_) equations_ = std::make_unique<EquationsTangent>(*model_, branches_);
    return *equations_;
}

void Closing::inputs_changed() {
    ConstrainedBodies::inputs_changed();
    constant_.reset();
    if (equations_) equations_->inputs_changed();
}

const ModelTangent& Closing::numbers_along(const Directions& directions) {
    if (directions.numbers != nullptr) return *directions.numbers;
    if (!constant_) constant_ = std::make_unique<ModelTangent>(*model_);
    return *constant_;
}

// Refined while the rows at hand say that something is left.
void Closing::solve_along(const std::vector<double>& wanted, double* v, std::vector<double>& mu) {
    mu.assign(rows_.rows(), 0.0);
    double most = 0.0;
    for (int round = 0; round < kMostRounds; ++round) {
        scale(v, scaled_.data());
        rows_.multiply(scaled_.data(), rhs_.data());
        double left = 0.0;
        for (int r = 0; r < rows_.rows(); ++r) {
            rhs_[r] = wanted[r] - rhs_[r];
            most = std::max(most, std::abs(rhs_[r]));
        }
        if (round > 0) factors().subtract_compliance(mu.data(), rhs_.data());
        for (int r = 0; r < rows_.rows(); ++r)
            if (!factors().dropped(r)) left = std::max(left, std::abs(rhs_[r]));
        if (!(left > kLeft * most)) return;
        judge_.solve(rhs_);
        for (int r = 0; r < rows_.rows(); ++r) mu[r] += rhs_[r];
        rows_.add_accelerations(rhs_.data(), v);
    }
}

// Positions first, without conditions of velocities: J δx = −(C by time and numbers). Then velocities, at this δx.
void Closing::close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                               double* du, double* left) {
    const MotionPoint at{t, x, u, at_rest_.data(),
                         lambda_.data()};  // of accelerations and multipliers nothing is asked
    std::fill_n(left, kDirections, 0.0);
    equations();  // which refuses what has no derivatives
    if (rows_.rows() == 0) return;
    if (!is_current(t, x)) refresh(t, x);
    const auto close = [&](int level, double* change) {
        EquationsTangent::Directions d{directions.t, dx, du, nullptr};
        EquationsTangent::ask(changes_, level);
        equations().along(at, d, numbers_along(directions), changes_);
        along_.resize(tangent_size());
        wanted_.resize(rows_.rows());
        for (int k = 0; k < kDirections; ++k) {
            std::fill(along_.begin(), along_.end(), 0.0);
            for (int r = 0; r < rows_.rows(); ++r) {
                const int row = rows_.storage_row(r);
                wanted_[row] = rigid_[row] ? -changes_.rows[level][kDirections * r + k] : 0.0;
            }
            solve_along(wanted_, along_.data(), mu_);
            scale(along_.data(), scaled_.data());
            rows_.multiply(scaled_.data(), rhs_.data());
            for (int r = 0; r < rows_.rows(); ++r)
                if (holds(r)) left[k] = std::max(left[k], std::abs(wanted_[r] - rhs_[r]));
            for (int i = 0; i < tangent_size(); ++i) change[kDirections * i + k] += along_[i];
        }
    };
    if (has_velocity_rows()) leave_out_velocity_rows(true, t, x);
    close(0, dx);
    if (has_velocity_rows()) leave_out_velocity_rows(false, t, x);
    close(1, du);
}

// The transpose, velocities first: where dx becomes dx + M⁻¹ Jᵀ μ with (J M⁻¹ Jᵀ + ε) μ = −(C along dx), the gradient
// by what rows are along dx is −(J M⁻¹ Jᵀ + ε)⁻¹ J M⁻¹ of the seeds.
void Closing::close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                            const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
    const auto n = static_cast<size_t>(tangent_size());
    out = {0.0, {of_dx, of_dx + n}, {of_du, of_du + n}};
    if (rows_.rows() == 0) return;
    if (!is_current(t, x)) refresh(t, x);
    const MotionPoint at{t, x, u, at_rest_.data(), lambda_.data()};
    const std::span<const double> root = rows_.inverse_sqrt_mass();
    std::vector<double> seeds(rows_.rows());
    EquationsTangent::Gradient found;
    const auto open = [&](int level, const std::vector<double>& of) {
        along_.resize(n);
        for (size_t i = 0; i < n; ++i) along_[i] = root[i] * root[i] * of[i];
        wanted_.assign(rows_.rows(), 0.0);
        solve_along(wanted_, along_.data(), mu_);
        for (int r = 0; r < rows_.rows(); ++r) {
            const int row = rows_.storage_row(r);
            seeds[r] = rigid_[row] ? mu_[row] : 0.0;
        }
        EquationsTangent::Seeds by_rows;
        by_rows.rows[level] = seeds.data();
        equations().transposed(at, by_rows, further, found, by_numbers);
        out.t += found.t;
        for (size_t i = 0; i < n; ++i) {
            out.x[i] += found.x[i];
            out.u[i] += found.u[i];
        }
    };
    open(1, out.u);
    if (has_velocity_rows()) leave_out_velocity_rows(true, t, x);
    open(0, out.x);
    if (has_velocity_rows()) leave_out_velocity_rows(false, t, x);
}

}  // namespace bellcrank
