// Reactions: what the bodies' accelerations ask for beyond applied forces, carried to the base; and the record of a
// frame.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "formulations/recursive.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }
void add(double* p, const Vec3& v) {
    p[0] += v.x;
    p[1] += v.y;
    p[2] += v.z;
}

}  // namespace

// records += sign Jᵀ λ for the multipliers of some blocks' rows.
void Recursive::apply_rows(const int* blocks, size_t count, double sign, const double* lambda, double* records) const {
    for (size_t i = 0; i < count; ++i) {
        const BlockLayout& b = rows_.blocks()[layout_of_[blocks[i]]];
        const int first = model_->blocks[blocks[i]].row_begin;
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_->ground()) continue;
            for (int r = 0; r < b.size; ++r) {
                if (lambda[first + r] == 0.0) continue;
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    records[kTwist * side.body + kComponent[k]] +=
                        sign * lambda[first + r] * row[k] * root_of_mass(side.body, k);
            }
        }
    }
}

// From the tips: what a body still lacks comes from the joint that it hangs on; its rows' multipliers are those that
// exert it. The parent bears the opposite.
void Recursive::spread_over_tree(double* records, double* lambda) const {
    for (size_t j = tree_.joints.size(); j-- > 0;) {
        const recursive::JointMap& map = tree_.joints[j];
        const int child = map.joint.child, parent = map.joint.parent;
        const double* f = records + kTwist * child;
        const int count = static_cast<int>(map.rows.size());
        if (count > 0) {
            Columns A(6, count);
            Vector6 wanted;
            for (int k = 0; k < 6; ++k) wanted[k] = f[kComponent[k]];
            for (int c = 0; c < count; ++c) row_on(map.rows[c], child, A.col(c).data());
            Eigen::ColPivHouseholderQR<Columns> qr(A);
            const auto solution = qr.solve(wanted).eval();
            for (int c = 0; c < count; ++c) lambda[map.rows[c]] = solution[c];
        }
        if (parent == model_->ground()) continue;
        const Mat3 R = rotation_matrix(pose_rotation(poses_.data(), child)),
                   Rp = rotation_matrix(pose_rotation(poses_.data(), parent));
        const Vec3 force = load(f), arm = pose_position(poses_.data(), child) - pose_position(poses_.data(), parent);
        double* g = records + kTwist * parent;
        add(g, force);
        add(g + 4, transpose_times(Rp, R * load(f + 4) + cross(arm, force)));
    }
}

// A model row against the velocity of a body.
void Recursive::row_on(int row, int body, double* out) const {
    const BlockLayout& b = rows_.blocks()[layout_of_[block_of_row_[row]]];
    for (const BlockSide& side : rows_.sides(b)) {
        if (side.body != body) continue;
        side.rows.read(rows_.J.data(), row - model_->blocks[b.block].row_begin, out);
        for (int k = 0; k < 6; ++k) out[k] *= root_of_mass(body, k);
        return;
    }
    std::fill_n(out, 6, 0.0);
}

// Multipliers of the rows that are not of the tree are known; those of the tree carry what is left of M u̇ − f.
void Recursive::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    body_accelerations(t, x, u, udot, rates_.data());
    to_records(t, x, u, poses_.data(), twists_.data());
    applied_forces(*model_, branches_, t, poses_.data(), twists_.data(), force_.data());
    for (int b = 0; b < model_->bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            double& f = force_[kTwist * b + kComponent[k]];
            f = root_of_mass(b, k) * root_of_mass(b, k) * rates_[kTwist * b + kComponent[k]] - f;
        }
    rows_.evaluate_jacobians(t, poses_.data());
    std::fill(row_lambda_.begin(), row_lambda_.end(), 0.0);
    for (size_t i = 0; i < lambda_.size(); ++i) row_lambda_[tree_.closing_rows[i]] = lambda_[i];
    // A rotor exerts −C̈/compliance.
    for (const recursive::Rotor& rotor : tree_.rotors)
        row_lambda_[rotor.row] = -rotor.factor * udot[tree_.links[rotor.link].u] / rotor.compliance;
    apply_rows(free_blocks_.data(), free_blocks_.size(), -1.0, row_lambda_.data(), force_.data());
    spread_over_tree(force_.data(), row_lambda_.data());
    find_null_rows();
    minimise_norm();
}

// For each dropped row the multipliers that exert nothing with it, orthonormal in the norm of forces and moments. What
// a row that depends on others exerts alone is carried by those that it depends on, and nothing moves.
void Recursive::find_null_rows() {
    null_rows_.clear();
    if (statistics_.dropped_rows == 0) return;
    std::vector<double> dropped = lambda_, record(force_.size());
    for (size_t d = 0; d < lambda_.size(); ++d) {
        if (!recursion_.dropped()[d]) continue;
        std::fill(loads_.begin(), loads_.end(), recursive::Load{{0, 0, 0}, {0, 0, 0}});
        for (const recursive::RowEnd& end : recursion_.ends())
            if (end.row == static_cast<int>(d) && end.link >= 0) loads_[end.link] += end.load;
        std::fill(targets_.begin(), targets_.end(), 0.0);
        recursion_.solve(kinematics_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, udot_.data(),
                         dropped.data());
        dropped[d] = 1.0;
        std::vector<double> all(row_lambda_.size(), 0.0);
        for (size_t i = 0; i < dropped.size(); ++i) all[tree_.closing_rows[i]] = dropped[i];
        std::fill(record.begin(), record.end(), 0.0);
        apply_rows(free_blocks_.data(), free_blocks_.size(), -1.0, all.data(), record.data());
        spread_over_tree(record.data(), all.data());
        for (size_t r = 0; r < all.size(); ++r) all[r] *= weight_[r];
        for (int pass = 0; pass < 2; ++pass)
            for (const std::vector<double>& other : null_rows_) {
                double along = 0.0;
                for (size_t r = 0; r < all.size(); ++r) along += other[r] * all[r];
                for (size_t r = 0; r < all.size(); ++r) all[r] -= along * other[r];
            }
        double size = 0.0;
        for (const double v : all) size += v * v;
        for (double& v : all) v /= std::sqrt(size);
        null_rows_.push_back(std::move(all));
    }
}

void Recursive::minimise_norm() {
    for (const std::vector<double>& nothing : null_rows_) {
        double along = 0.0;
        for (size_t r = 0; r < nothing.size(); ++r) along += nothing[r] * weight_[r] * row_lambda_[r];
        for (size_t r = 0; r < nothing.size(); ++r) row_lambda_[r] -= along * nothing[r] / weight_[r];
    }
}

void Recursive::multipliers(double t, const double* x, const double* u, const double* udot, double* out) {
    solve_multipliers(t, x, u, udot);
    std::copy(row_lambda_.begin(), row_lambda_.end(), out);
}

// On body 2 of the pair about marker 2's origin, world axes; the ground feels the opposite of what the others feel.
void Recursive::wrench_of(const Observation::Reaction& reaction, const double* lambda, double* wrench) {
    const MarkerPair& pair = model_->pairs[reaction.pair];
    const int second = pair.body[1];
    const double* x = poses_.data();
    const Vec3 point = pose_position(x, second) + rotation_matrix(pose_rotation(x, second)) * pair.offset[1];
    const auto clear = [&](int b) { std::fill_n(rates_.data() + kTwist * b, kTwist, 0.0); };
    std::fill_n(wrench, 6, 0.0);
    touched_.clear();
    for (const int block : reaction.blocks)
        for (const BlockSide& side : rows_.sides(rows_.blocks()[layout_of_[block]]))
            if (side.body != model_->ground() &&
                std::find(touched_.begin(), touched_.end(), side.body) == touched_.end())
                touched_.push_back(side.body);
    for (const int b : touched_) clear(b);
    apply_rows(reaction.blocks.data(), reaction.blocks.size(), 1.0, lambda, rates_.data());
    for (const int b : touched_) {
        if (second != model_->ground() && b != second) continue;
        const double sign = second == model_->ground() ? -1.0 : 1.0;
        const double* f = rates_.data() + kTwist * b;
        const Vec3 force = sign * load(f), arm = pose_position(x, b) - point;
        add(wrench, sign * (rotation_matrix(pose_rotation(x, b)) * load(f + 4)) + cross(arm, force));
        add(wrench + 3, force);
    }
}

void Recursive::reactions(double t, const double* x, const double* u, const double* udot,
                          const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out) {
    solve_multipliers(t, x, u, udot);
    std::vector<std::vector<double>> nothing = null_rows_;
    for (std::vector<double>& v : nothing)
        for (size_t r = 0; r < v.size(); ++r) v[r] /= weight_[r];
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], row_lambda_.data(), out[i].wrench);
        out[i].unique[0] = out[i].unique[1] = true;
        for (const std::vector<double>& v : nothing) {
            double free[6];
            wrench_of(which[i], v.data(), free);
            if (norm(load(free)) > 1e-6) out[i].unique[0] = false;
            if (norm(load(free + 3)) > 1e-6) out[i].unique[1] = false;
        }
    }
}

int Recursive::observation_size(const Observation& what) const {
    return 13 * model_->bodies() + static_cast<int>(2 * what.coordinates.size() + what.rows.size()) +
           static_cast<int>(6 * what.reactions.size()) + 4 + (what.accelerations ? 6 * model_->bodies() : 0);
}

void Recursive::observe(double t, const double* x, const double* u, const Observation& what, double* out) {
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
    const bool forces = !what.rows.empty() || !what.reactions.empty();
    if (forces || what.accelerations) accelerate(t, x, u, observed_.data());
    if (forces) solve_multipliers(t, x, u, observed_.data());
    for (size_t i = 0; i < what.rows.size(); ++i) out[i] = row_lambda_[what.rows[i]];
    out += what.rows.size();
    for (const Observation::Reaction& reaction : what.reactions) {
        wrench_of(reaction, row_lambda_.data(), out);
        out += 6;
    }
    const Energy e = energy(*model_, branches_, t, poses_.data(), twists_.data());
    out[0] = e.kinetic;
    out[1] = e.potential;
    violation(t, x, u, out + 2, out + 3);
    out += 4;
    if (!what.accelerations) return;
    body_accelerations(t, x, u, observed_.data(), rates_.data());
    accelerations_to_neutral(*model_, poses_.data(), twists_.data(), rates_.data(), out, out + 3 * nb);
}

}  // namespace bellcrank
