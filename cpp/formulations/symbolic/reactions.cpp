// Reactions with the true masses: what the bodies' accelerations ask for beyond applied forces, carried to the base;
// and the record of a frame.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "formulations/symbolic/runner.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }
void add(double* p, const Vec3& v) {
    p[0] += v.x;
    p[1] += v.y;
    p[2] += v.z;
}

// M^(1/2) of a record's entry.
double root_of_mass(const Model& model, int body, int entry) {
    const Vec3& I = model.principal_inertia[body];
    const double diagonal[8] = {model.mass[body], model.mass[body], model.mass[body], 0.0, I.x, I.y, I.z, 0.0};
    return std::sqrt(diagonal[entry]);
}

// A locked quaternion component turns half as fast as its angle, so its multiplier is twice a moment.
double row_weight(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return 1.0;
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name.size() == 2 && name[0] == 'e' ? 0.5 : 1.0;
}

}  // namespace

// Per body M u̇ − f in records (force in world axes, moment about the com in principal axes): what all rows exert.
void Symbolic::residual_forces(double t, const double* x, const double* u, const double* udot) {
    to_records(t, x, u, poses_.data(), twists_.data());
    body_accelerations(t, x, u, udot, rates_.data());
    applied_forces(*model_, branches_, t, poses_.data(), twists_.data(), force_.data());
    for (int b = 0; b < model_->bodies(); ++b) {
        const double* a = rates_.data() + kTwist * b;
        double* f = force_.data() + kTwist * b;
        for (int k = 0; k < kTwist; ++k) {
            const double root = root_of_mass(*model_, b, k);
            f[k] = root * root * a[k] - f[k];
        }
    }
    rows_.evaluate_jacobians(t, poses_.data());
    rows_.evaluate_biases(t, poses_.data(), twists_.data());
}

void Symbolic::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    residual_forces(t, x, u, udot);
    std::fill(row_lambda_.begin(), row_lambda_.end(), 0.0);
    null_rows_.clear();
    // A compliant row exerts −C̈/compliance, C̈ = J u̇ − Qc.
    std::vector<double> scaled(rates_.size()), second(rows_.rows());
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < kTwist; ++k) scaled[kTwist * b + k] = root_of_mass(*model_, b, k) * rates_[kTwist * b + k];
    rows_.multiply(scaled.data(), second.data());
    for (const int block : equations_.mechanism.plan.inertances)
        for (int r = model_->blocks[block].row_begin; r < model_->blocks[block].row_end; ++r) {
            const int s = rows_.storage_row(r);
            row_lambda_[s] = -(second[s] - rows_.Qc[s]) / model_->blocks[block].compliance;
        }
    if (closure_.dropped().empty() && equations_.mechanism.couplings.found.empty()) {
        for (size_t i = 0; i < equations_.rows.size(); ++i)
            row_lambda_[rows_.storage_row(equations_.rows[i])] = lambda_[i];
        take_known_forces();
        spread_over_tree();
    } else {
        take_known_forces();
        spread_least_norm();
    }
}

// Subtracts from the residual forces what the multipliers known so far exert.
void Symbolic::take_known_forces() {
    std::vector<double> scaled(force_.size(), 0.0);
    rows_.add_transposed(row_lambda_.data(), scaled.data());
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < kTwist; ++k) force_[kTwist * b + k] -= root_of_mass(*model_, b, k) * scaled[kTwist * b + k];
}

// From the tips: what a body still lacks comes from the joint that it hangs on; its rows' multipliers are those that
// exert it.
void Symbolic::spread_over_tree() {
    const auto& joints = equations_.mechanism.joints;
    for (size_t k = joints.size(); k-- > 0;) {
        const symbolic::TreeJoint& joint = joints[k].joint;
        const int child = joint.child;
        const double* f = force_.data() + kTwist * child;
        if (joint.rows.empty()) continue;
        Eigen::MatrixXd A(6, joint.rows.size());
        Eigen::VectorXd wanted(6);
        for (int i = 0; i < 6; ++i) wanted[i] = f[i < 3 ? i : i + 1];
        for (size_t c = 0; c < joint.rows.size(); ++c) {
            std::vector<double> one(rows_.rows(), 0.0), exerted(force_.size(), 0.0);
            one[rows_.storage_row(joint.rows[c])] = 1.0;
            rows_.add_transposed(one.data(), exerted.data());
            for (int i = 0; i < 6; ++i) {
                const int at = i < 3 ? i : i + 1;
                A(i, c) = exerted[kTwist * child + at] * root_of_mass(*model_, child, at);
            }
        }
        const Eigen::VectorXd lambda = A.colPivHouseholderQr().solve(wanted);
        for (size_t c = 0; c < joint.rows.size(); ++c)
            row_lambda_[rows_.storage_row(joint.rows[c])] = lambda[static_cast<Eigen::Index>(c)];
        if (joint.parent == model_->ground()) continue;
        // The parent bears the opposite.
        const Mat3 R = rotation_matrix(pose_rotation(poses_.data(), child)),
                   Rp = rotation_matrix(pose_rotation(poses_.data(), joint.parent));
        const Vec3 force = load(f);
        const Vec3 arm = pose_position(poses_.data(), child) - pose_position(poses_.data(), joint.parent);
        double* g = force_.data() + kTwist * joint.parent;
        add(g, force);
        add(g + 4, transpose_times(Rp, R * load(f + 4) + cross(arm, force)));
    }
}

// min ‖D λ‖ with Jᵀ λ = F, D the moment or force per row: with A = D⁻¹ J = Q R Pᵀ, D λ = Q₁ R₁⁻ᵀ Pᵀ F. The other
// columns of Q exert nothing.
void Symbolic::spread_least_norm() {
    const int m = rows_.rows(), n = 6 * model_->bodies();
    std::vector<int> rigid;
    Eigen::VectorXd weight(m);
    for (int r = 0; r < m; ++r) weight[rows_.storage_row(r)] = row_weight(*model_, model_->rows[r]);
    for (const symbolic::TreeJoint& joint : equations_.mechanism.plan.joints)
        for (const int r : joint.rows) rigid.push_back(rows_.storage_row(r));
    for (const symbolic::Coupling& c : equations_.mechanism.couplings.found) rigid.push_back(rows_.storage_row(c.row));
    for (const int r : equations_.rows) rigid.push_back(rows_.storage_row(r));
    Eigen::MatrixXd A(rigid.size(), n);
    Eigen::VectorXd F(n);
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = k < 3 ? k : k + 1;
            F[6 * b + k] = force_[kTwist * b + at] / root_of_mass(*model_, b, at);
        }
    for (size_t i = 0; i < rigid.size(); ++i) {
        std::vector<double> one(m, 0.0), exerted(force_.size(), 0.0);
        one[rigid[i]] = 1.0;
        rows_.add_transposed(one.data(), exerted.data());
        for (int b = 0; b < model_->bodies(); ++b)
            for (int k = 0; k < 6; ++k)
                A(static_cast<Eigen::Index>(i), 6 * b + k) =
                    exerted[kTwist * b + (k < 3 ? k : k + 1)] / weight[rigid[i]];
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(1e-8);
    qr.compute(A);
    const auto rank = qr.rank();
    Eigen::VectorXd z = Eigen::VectorXd::Zero(A.rows());
    z.head(rank) = qr.matrixR()
                       .topLeftCorner(rank, rank)
                       .triangularView<Eigen::Upper>()
                       .transpose()
                       .solve((qr.colsPermutation().transpose() * F).head(rank));
    z.applyOnTheLeft(qr.householderQ());
    for (size_t i = 0; i < rigid.size(); ++i)
        row_lambda_[rigid[i]] = z[static_cast<Eigen::Index>(i)] / weight[rigid[i]];
    for (Eigen::Index k = rank; k < A.rows(); ++k) {
        Eigen::VectorXd w = Eigen::VectorXd::Unit(A.rows(), k);
        w.applyOnTheLeft(qr.householderQ());
        null_rows_.emplace_back(m, 0.0);
        for (size_t i = 0; i < rigid.size(); ++i)
            null_rows_.back()[rigid[i]] = w[static_cast<Eigen::Index>(i)] / weight[rigid[i]];
    }
}

void Symbolic::multipliers(double t, const double* x, const double* u, const double* udot, double* out) {
    solve_multipliers(t, x, u, udot);
    for (int r = 0; r < rows_.rows(); ++r) out[r] = row_lambda_[rows_.storage_row(r)];
}

// On body 2 of the pair about marker 2's origin, world axes; the ground feels the opposite of what the others feel.
void Symbolic::wrench_of(const Observation::Reaction& reaction, const std::vector<double>& lambda,
                         double* wrench) const {
    const MarkerPair& pair = model_->pairs[reaction.pair];
    const int second = pair.body[1];
    const double* x = poses_.data();
    const Vec3 point = pose_position(x, second) + rotation_matrix(pose_rotation(x, second)) * pair.offset[1];
    std::vector<double> own(lambda.size(), 0.0), exerted(force_.size(), 0.0);
    for (const int block : reaction.blocks)
        for (int r = model_->blocks[block].row_begin; r < model_->blocks[block].row_end; ++r)
            own[rows_.storage_row(r)] = lambda[rows_.storage_row(r)];
    rows_.add_transposed(own.data(), exerted.data());
    std::fill_n(wrench, 6, 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        if (second != model_->ground() && b != second) continue;
        double f[kTwist];
        for (int k = 0; k < kTwist; ++k) f[k] = exerted[kTwist * b + k] * root_of_mass(*model_, b, k);
        const double sign = second == model_->ground() ? -1.0 : 1.0;
        const Vec3 force = sign * load(f), arm = pose_position(x, b) - point;
        add(wrench, sign * (rotation_matrix(pose_rotation(x, b)) * load(f + 4)) + cross(arm, force));
        add(wrench + 3, force);
    }
}

void Symbolic::reactions(double t, const double* x, const double* u, const double* udot,
                         const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out) {
    solve_multipliers(t, x, u, udot);
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], row_lambda_, out[i].wrench);
        out[i].unique[0] = out[i].unique[1] = true;
        for (const std::vector<double>& nothing : null_rows_) {
            double free[6];
            wrench_of(which[i], nothing, free);
            if (norm(load(free)) > 1e-6) out[i].unique[0] = false;
            if (norm(load(free + 3)) > 1e-6) out[i].unique[1] = false;
        }
    }
}

int Symbolic::observation_size(const Observation& what) const {
    return 13 * model_->bodies() + static_cast<int>(2 * what.coordinates.size() + what.rows.size()) +
           static_cast<int>(6 * what.reactions.size()) + 4 + (what.accelerations ? 6 * model_->bodies() : 0);
}

void Symbolic::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
    const int nb = model_->bodies();
    to_records(t, x, u, poses_.data(), twists_.data());
    to_neutral(*model_, poses_.data(), twists_.data(), out, out + 3 * nb, out + 7 * nb, out + 10 * nb);
    out += 13 * nb;
    BodyCoordinate c;
    const size_t nq = what.coordinates.size();
    for (size_t i = 0; i < nq; ++i) {
        evaluate_coordinate(*model_, branches_, what.coordinates[i], poses_.data(), twists_.data(), c);
        out[i] = c.value;
        out[nq + i] = c.rate;
    }
    out += 2 * nq;
    std::vector<double> udot(tangent_size());
    const bool forces = !what.rows.empty() || !what.reactions.empty();
    if (forces || what.accelerations) accelerate(t, x, u, udot.data());
    if (forces) solve_multipliers(t, x, u, udot.data());
    for (size_t i = 0; i < what.rows.size(); ++i) out[i] = row_lambda_[rows_.storage_row(what.rows[i])];
    out += what.rows.size();
    for (const Observation::Reaction& reaction : what.reactions) {
        wrench_of(reaction, row_lambda_, out);
        out += 6;
    }
    const Energy e = energy(*model_, branches_, t, poses_.data(), twists_.data());
    out[0] = e.kinetic;
    out[1] = e.potential;
    violation(t, x, u, out + 2, out + 3);
    out += 4;
    if (!what.accelerations) return;
    body_accelerations(t, x, u, udot.data(), rates_.data());
    accelerations_to_neutral(*model_, poses_.data(), twists_.data(), rates_.data(), out, out + 3 * nb);
}

}  // namespace bellcrank
