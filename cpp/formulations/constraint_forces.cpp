#include "formulations/constraint_forces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/frame_writer.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Of rows of length one. Where rows contradict each other off the constraints and agree on them, their difference is as
// small as the errors are; forces from it would be as large as these are small.
constexpr double kDamping = 1e-4;
constexpr double kTolerance = 1e-11;
constexpr int kIterations = 4;  // for each row

}  // namespace

ConstraintForces::ConstraintForces(std::shared_ptr<const Model> model, const ConstraintForceOptions& options)
    : Bodies("constraint forces", model, order_of(*model)), options_(options), lsqr_(rows_.rows(), tangent_size()) {
    for (auto* v : {&required_, &steady_, &row_scale_, &product_}) v->assign(rows_.rows(), 0.0);
    for (auto* v : {&found_, &at_rest_}) v->assign(tangent_size(), 0.0);
}

// J a = φ (5.13) by least squares of least norm, weighed by mass; a = M^(−1/2) â is added to what acts anyway.
void ConstraintForces::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    const double* scale = rows_.inverse_sqrt_mass().data();
    if (options_.released) {
        applied_forces(*model_, branches_, contacts_, t, x, u, udot);
        for (int k = 0; k < tangent_size(); ++k) udot[k] *= scale[k] * scale[k];
    } else {
        for (int k = 0; k < tangent_size(); ++k) udot[k] = -2.0 / options_.time_constant * u[k];
    }
    if (rows_.rows() == 0) return;
    required(t, x, u, udot);
    LsqrOptions lsqr{kTolerance, kDamping, kIterations * rows_.rows()};
    iterations_ += lsqr_.solve(
        required_, found_, lsqr,
        [&](const std::vector<double>& v, std::vector<double>& out) {
            rows_.multiply(v.data(), product_.data());
            for (size_t r = 0; r < out.size(); ++r) out[r] += row_scale_[r] * product_[r];
        },
        [&](const std::vector<double>& lambda, std::vector<double>& out) {
            for (size_t r = 0; r < lambda.size(); ++r) product_[r] = row_scale_[r] * lambda[r];
            rows_.add_transposed(product_.data(), out.data());
        });
    for (int k = 0; k < tangent_size(); ++k) udot[k] += scale[k] * found_[k];
}

// φ − J u̇, each row divided by its length. Inertances take no part, stops where they are violated.
void ConstraintForces::required(double t, const double* x, const double* u, const double* udot) {
    const double at = time_of(t), tau = options_.time_constant, *scale = rows_.inverse_sqrt_mass().data();
    rows_.evaluate_jacobians(at, x);
    rows_.evaluate_residuals(at, x, u, udot, required_.data());
    if (!options_.released) rows_.evaluate_residuals(at, x, at_rest_.data(), at_rest_.data(), steady_.data());
    for (int k = 0; k < tangent_size(); ++k) scaled_[k] = scale[k] > 0.0 ? u[k] / scale[k] : 0.0;
    rows_.multiply(scaled_.data(), speed_.data());
    for (const BlockLayout& b : rows_.blocks()) {
        const Block& block = model_->blocks[b.block];
        for (int r = b.row; r < b.row + b.size; ++r) {
            double square = 0.0, row[6];
            for (const BlockSide& side : rows_.sides(b)) {
                side.rows.read(rows_.J.data(), r - b.row, row);
                for (double e : row) square += e * e;
            }
            const bool idle = block.compliance > 0.0 || (block.unilateral && rows_.C[r] >= 0.0);
            row_scale_[r] = idle || square == 0.0 ? 0.0 : 1.0 / std::sqrt(square);
            const double rate = speed_[r] + (options_.released ? rows_.Ct[r] : 0.0);
            required_[r] -= options_.released ? 0.0 : steady_[r];
            required_[r] = row_scale_[r] * (required_[r] - 2.0 / tau * rate - rows_.C[r] / (tau * tau));
        }
    }
}

void ConstraintForces::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
    const double at = time_of(t);
    const FrameWriter frame({*model_, branches_, at, x, u}, what, out);
    frame.write_motion();
    // None is what it would be in motion.
    std::fill(frame[Section::multipliers], frame[Section::unique_multipliers],
              std::numeric_limits<double>::quiet_NaN());
    std::fill(frame[Section::unique_multipliers], frame[Section::force_efforts], 0.0);
    std::fill(frame[Section::force_efforts], frame[Section::kinetic], std::numeric_limits<double>::quiet_NaN());
    if (options_.released) frame.write_forces(contacts_);
    frame.write_energy(Bodies::energy_at(at, x, u));
    violation(at, x, u, frame[Section::position_violation], frame[Section::velocity_violation]);
    if (!what.accelerations) return;
    std::vector<double> udot(tangent_size());
    accelerate(t, x, u, udot.data());
    frame.write_accelerations(udot.data());
}

}  // namespace bellcrank
