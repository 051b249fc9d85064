// Directions along which rows hold, what is measured along them, and impacts.
#include <algorithm>
#include <cmath>

#include "bodies/constrained_bodies.hpp"
#include "tangents/measures.hpp"

namespace bellcrank {

EquationsTangent& ConstrainedBodies::equations() {
    if (!equations_) equations_ = std::make_unique<EquationsTangent>(*model_, branches_, contacts_);
    return *equations_;
}

const ModelTangent& ConstrainedBodies::numbers_along(const Directions& directions) {
    if (directions.numbers != nullptr) return *directions.numbers;
    if (!constant_) constant_ = std::make_unique<ModelTangent>(*model_);
    return *constant_;
}

// Positions first, without conditions of velocities: J δx = −(C by time and numbers). Then velocities, at this δx.
void ConstrainedBodies::close_directions(double t, const double* x, const double* u, const Directions& directions,
                                         double* dx, double* du, double* left) {
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
        targets_.resize(rows_.rows());
        for (int k = 0; k < kDirections; ++k) {
            std::fill(along_.begin(), along_.end(), 0.0);
            for (int r = 0; r < rows_.rows(); ++r) {
                const int row = rows_.storage_row(r);
                targets_[row] = rigid_[row] ? -changes_.rows[level][kDirections * r + k] : 0.0;
            }
            solve_along(targets_, along_.data(), mu_);
            scale(along_.data(), scaled_.data());
            met_.resize(rows_.rows());
            rows_.multiply(scaled_.data(), met_.data());
            for (int r = 0; r < rows_.rows(); ++r)
                if (holds(r)) left[k] = std::max(left[k], std::abs(targets_[r] - met_[r]));
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
void ConstrainedBodies::close_adjoint(double t, const double* x, const double* u, const double* of_dx,
                                      const double* of_du, const std::vector<NumberPlace>& further, Gradient& out,
                                      ModelGradient& by_numbers) {
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
        targets_.assign(rows_.rows(), 0.0);
        solve_along(targets_, along_.data(), mu_);
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

void ConstrainedBodies::add_turning(const double*, const double* u, double sign, const double* dx, const double*,
                                    int lanes, double* of_dx, double*) {
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 w = sign * twist_angular(u, b);
        const double* at = dx + lanes * (kTwist * b + 4);
        double* to = of_dx + lanes * (kTwist * b + 4);
        for (int k = 0; k < lanes; ++k) {
            const Vec3 turned = cross(w, Vec3{at[k], at[lanes + k], at[2 * lanes + k]});
            to[k] -= turned.x, to[lanes + k] -= turned.y, to[2 * lanes + k] -= turned.z;
        }
    }
}

void ConstrainedBodies::measure_tangent(double t, const double* x, const double* u, const double* udot,
                                        const Directions& directions, const double* dudot, Measured& out) {
    model_multipliers_.assign(rows_.rows(), 0.0);
    measured_along(*model_, equations(), {t, x, u, udot, model_multipliers_.data()},
                   {directions.t, directions.x, directions.u, dudot}, numbers_along(directions), changes_, out);
}

void ConstrainedBodies::measure_adjoint(double t, const double* x, const double* u, const double* udot,
                                        const Measured& of, const std::vector<NumberPlace>& further, Gradient& out,
                                        ModelGradient& by_numbers) {
    model_multipliers_.assign(rows_.rows(), 0.0);
    EquationsTangent::Gradient found;
    measured_transposed(*model_, equations(), {t, x, u, udot, model_multipliers_.data()}, of, further, found,
                        by_numbers);
    out = {found.t, std::move(found.x), std::move(found.u), std::move(found.udot)};
}

// Impulses Λ of those rows that push, and Newton's law of impact where they are stops:
//   M (u1 − u) = Jᵀ Λ,   Ċ(u1) = −e Ċ(u),
// e = 0 for all others. It is of the form of the equations of motion with u1 − u for u̇ and nothing applied, rows with
// compliance among them.
ConstrainedBodies::Impact ConstrainedBodies::impact_of(double t, const double* x, const double* u, const double* u1) {
    if (!is_current(t, x)) refresh(t, x);
    const int n = tangent_size();
    Impact found;
    found.jump.resize(n);
    for (int i = 0; i < n; ++i) found.jump[i] = u1[i] - u[i];
    std::vector<double> wanted(rows_.rows()), impulses;
    scale(found.jump.data(), scaled_.data());
    rows_.multiply(scaled_.data(), wanted.data());
    for (int r = 0; r < rows_.rows(); ++r)
        if (!rigid_[r]) wanted[r] = 0.0;
    std::vector<double> none(n, 0.0);
    solve_along(wanted, none.data(), impulses);
    if (!is_explained(found.jump.data(), none.data()))
        refuse("derivatives of an impact that rows which push do not explain");
    found.impulses.resize(rows_.rows());
    for (int r = 0; r < rows_.rows(); ++r) found.impulses[r] = impulses[rows_.storage_row(r)];
    measure_stops(t, x, u);
    if (!stops_.find_bounced(found.restitution)) refuse("derivatives of an impact whose restitution was weakened");
    return found;
}

void ConstrainedBodies::impact_tangent(double t, const double* x, const double* u, const double* u1,
                                       const Directions& directions, double* du1) {
    equations();
    const Impact impact = impact_of(t, x, u, u1);
    const ModelTangent& numbers = numbers_along(directions);
    const int n = tangent_size(), rows = rows_.rows();
    std::vector<double> wanted(kDirections * rows), mu;
    const MotionPoint before{t, x, u, at_rest_.data(), lambda_.data()},
        after{t, x, u1, at_rest_.data(), lambda_.data()};
    EquationsTangent::ask(changes_, 1);
    equations().along(before, {directions.t, directions.x, directions.u, nullptr}, numbers, changes_);
    const std::span<const Dual4> e = numbers.values(NumberArray::block_restitution);
    for (int i = 0; i < stops_.count(); ++i) {
        if (impact.restitution[i] == 0.0) continue;
        const int row = stops_.rows()[i];
        const Dual4& own = e[model_->block_of(row)];
        for (int k = 0; k < kDirections; ++k)
            wanted[kDirections * row + k] =
                -own.value * changes_.rows[1][kDirections * row + k] - own.d[k] * stops_.speed[i];
    }
    equations().along(after, {directions.t, directions.x, directions.u, nullptr}, numbers, changes_);
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] -= changes_.rows[1][i];
    EquationsTangent::ask(changes_, 2);
    changes_.of_loads = true;
    equations().along({t, x, at_rest_.data(), impact.jump.data(), impact.impulses.data(), false},
                      {directions.t, directions.x, nullptr, nullptr}, numbers, changes_);
    const std::span<const double> root = rows_.inverse_sqrt_mass();
    targets_.resize(rows);
    along_.resize(n);
    for (int k = 0; k < kDirections; ++k) {
        for (int i = 0; i < n; ++i) along_[i] = root[i] * root[i] * changes_.loads[kDirections * i + k];
        for (int r = 0; r < rows; ++r) {
            const int row = rows_.storage_row(r);
            targets_[row] = rigid_[row] ? wanted[kDirections * r + k] : -changes_.rows[2][kDirections * r + k];
        }
        solve_along(targets_, along_.data(), mu);
        for (int i = 0; i < n; ++i) du1[kDirections * i + k] = directions.u[kDirections * i + k] + along_[i];
    }
}

void ConstrainedBodies::impact_adjoint(double t, const double* x, const double* u, const double* u1,
                                       const double* of_after, const std::vector<NumberPlace>& further, Gradient& out,
                                       ModelGradient& by_numbers) {
    const Impact impact = impact_of(t, x, u, u1);
    const int n = tangent_size(), rows = rows_.rows();
    const std::span<const double> root = rows_.inverse_sqrt_mass();
    std::vector<double> load(n), mu, seeds(rows), compliant(rows);
    for (int i = 0; i < n; ++i) load[i] = root[i] * root[i] * of_after[i];
    targets_.assign(rows, 0.0);
    solve_along(targets_, load.data(), mu);
    for (int r = 0; r < rows; ++r) {
        const int row = rows_.storage_row(r);
        (rigid_[row] ? seeds : compliant)[r] = mu[row];
    }
    out = {0.0, std::vector<double>(n, 0.0), {of_after, of_after + n}, {}};
    EquationsTangent::Gradient found;
    const auto take = [&](const MotionPoint& at, const EquationsTangent::Seeds& of, bool of_rates) {
        equations().transposed(at, of, further, found, by_numbers);
        out.t += found.t;
        for (int i = 0; i < n; ++i) {
            out.x[i] += found.x[i];
            if (of_rates) out.u[i] += found.u[i];
        }
    };
    EquationsTangent::Seeds by_rows;
    by_rows.rows[1] = seeds.data();
    take({t, x, u1, at_rest_.data(), lambda_.data()}, by_rows, true);
    EquationsTangent::Seeds by_loads;
    by_loads.loads = load.data();
    by_loads.rows[2] = compliant.data();
    take({t, x, at_rest_.data(), impact.jump.data(), impact.impulses.data(), false}, by_loads, false);
    std::vector<double> bounced(rows, 0.0);
    bool any = false;
    for (int i = 0; i < stops_.count(); ++i) {
        if (impact.restitution[i] == 0.0) continue;
        const int row = stops_.rows()[i];
        any = true;
        bounced[row] = impact.restitution[i] * seeds[row];
        by_numbers[NumberArray::block_restitution][model_->block_of(row)] += stops_.speed[i] * seeds[row];
    }
    by_rows.rows[1] = bounced.data();
    if (any) take({t, x, u, at_rest_.data(), lambda_.data()}, by_rows, true);
}

}  // namespace bellcrank
