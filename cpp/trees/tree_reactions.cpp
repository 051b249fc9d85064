#include "trees/tree_reactions.hpp"

#include <algorithm>
#include <set>

#include "matrices/least_squares.hpp"
#include "matrices/shared_loads.hpp"
#include "matrices/small_least_squares.hpp"
#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Up to so many rows the matrix of all is decomposed, and its pivots below this part of the largest count as none.
constexpr size_t kFew = 100;
constexpr double kLeastPivot = 1e-8;

}  // namespace

TreeReactions::TreeReactions(const Model& model, const AngleBranches& branches, Contacts& contacts,
                             const std::vector<JointMap>& joints, const std::vector<int>& other_rows)
    : model_(model),
      branches_(branches),
      contacts_(contacts),
      joints_(joints),
      rows_(model, branches),
      force_(kTwist * (model.bodies() + 1), 0.0),
      exerted_(force_),
      second_(model.rows.size(), 0.0),
      loads_(model, rows_) {
    for (size_t b = 0; b < model.blocks.size(); ++b)
        block_of_row_.insert(block_of_row_.end(), model.blocks[b].row_end - model.blocks[b].row_begin,
                             static_cast<int>(b));
    std::set<int> blocks;
    for (const int row : other_rows) blocks.insert(block_of_row_[row]);
    other_blocks_.assign(blocks.begin(), blocks.end());
    of_tree_.assign(model.rows.size(), 0);
    for (const JointMap& map : joints)
        for (const int row : map.rows) of_tree_[row] = 1;
    inverses_.resize(joints.size());
    inverse_known_.assign(joints.size(), Inverse::unknown);
}

void TreeReactions::take_motion(double t, const double* poses, const double* twists, const double* rates) {
    time_ = t, poses_ = poses, twists_ = twists, rates_ = rates;
    applied_forces(model_, branches_, contacts_, t, poses, twists, force_.data());
    const std::span<const double> root = rows_.sqrt_mass();
    for (size_t k = 0; k < force_.size(); ++k) force_[k] = root[k] * root[k] * rates[k] - force_[k];
    rows_.evaluate_jacobians(t, poses);
    std::ranges::fill(inverse_known_, Inverse::unknown);
    loads_.poses = poses;
    loads_.clear();
}

const std::vector<double>& TreeReactions::second_derivatives() {
    rows_.evaluate_residuals(time_, poses_, twists_, rates_, second_.data());
    for (double& value : second_) value = -value;
    return second_;
}

// records += sign Jᵀ λ for the multipliers of the other rows.
void TreeReactions::apply(double sign, const std::vector<double>& multipliers, double* records) const {
    for (const int block : other_blocks_) {
        const BlockLayout& b = rows_.blocks()[block];
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground()) continue;
            for (int r = 0; r < b.size; ++r) {
                if (multipliers[b.row + r] == 0.0) continue;
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    records[kTwist * side.body + kComponent[k]] +=
                        sign * multipliers[b.row + r] * row[k] * rows_.sqrt_mass(side.body, k);
            }
        }
    }
}

// A row against the velocity of a body.
void TreeReactions::row_on(int row, int body, double* out) const {
    const BlockLayout& b = rows_.blocks()[block_of_row_[row]];
    for (const BlockSide& side : rows_.sides(b)) {
        if (side.body != body) continue;
        side.rows.read(rows_.J.data(), row - b.row, out);
        for (int k = 0; k < 6; ++k) out[k] *= rows_.sqrt_mass(body, k);
        return;
    }
    std::fill_n(out, 6, 0.0);
}

// Null where rows may depend on each other.
const double* TreeReactions::inverse_of(size_t joint) const {
    Inverse& known = inverse_known_[joint];
    double* inverse = inverses_[joint].data();
    if (known == Inverse::unknown) {
        const JointMap& map = joints_[joint];
        const int count = static_cast<int>(map.rows.size());
        double A[36];
        for (int c = 0; c < count; ++c) row_on(map.rows[c], map.joint.child, A + 6 * c);
        known = invert_six(A, count, inverse) ? Inverse::known : Inverse::dependent;
    }
    return known == Inverse::known ? inverse : nullptr;
}

// From the tips: what a body still lacks comes from the joint that it hangs on; its rows' multipliers are those that
// exert it. The parent bears the opposite.
void TreeReactions::spread(double* records, std::vector<double>& multipliers) const {
    for (size_t j = joints_.size(); j-- > 0;) {
        const JointMap& map = joints_[j];
        const int child = map.joint.child, parent = map.joint.parent;
        const double* f = records + kTwist * child;
        const int count = static_cast<int>(map.rows.size());
        if (count > 0) {
            double A[36], wanted[6], solution[6];
            for (int k = 0; k < 6; ++k) wanted[k] = f[kComponent[k]];
            if (const double* inverse = inverse_of(j)) {
                for (int c = 0; c < count; ++c) {
                    solution[c] = 0.0;
                    for (int k = 0; k < 6; ++k) solution[c] += inverse[6 * c + k] * wanted[k];
                }
            } else {
                for (int c = 0; c < count; ++c) row_on(map.rows[c], child, A + 6 * c);
                solve_six(A, count, wanted, solution);
            }
            for (int c = 0; c < count; ++c) multipliers[map.rows[c]] = solution[c];
        }
        if (parent == model_.ground()) continue;
        const Mat3 R = rotation_matrix(pose_rotation(poses_, child)),
                   Rp = rotation_matrix(pose_rotation(poses_, parent));
        const Vec3 force = load(f), arm = pose_position(poses_, child) - pose_position(poses_, parent);
        double* g = records + kTwist * parent;
        add(g, force);
        add(g + 4, transpose_times(Rp, R * load(f + 4) + cross(arm, force)));
    }
}

void TreeReactions::spread_over_tree(double* force, std::vector<double>& multipliers) const {
    apply(-1.0, multipliers, force);
    spread(force, multipliers);
}

// From the base: least squares x = A⁺ b have the transpose that is applied here to one unit of b after another.
void TreeReactions::gather_over_tree(const std::vector<double>& seeds, double* by_force) const {
    std::fill_n(by_force, force_.size(), 0.0);
    for (const JointMap& map : joints_) {
        const int child = map.joint.child, parent = map.joint.parent;
        double* g = by_force + kTwist * child;
        if (parent != model_.ground()) {
            const Mat3 R = rotation_matrix(pose_rotation(poses_, child)),
                       Rp = rotation_matrix(pose_rotation(poses_, parent));
            const Vec3 arm = pose_position(poses_, child) - pose_position(poses_, parent),
                       turning = Rp * twist_angular(by_force, parent);
            store_twist(by_force, child, twist_linear(by_force, parent) + cross(turning, arm),
                        transpose_times(R, turning));
        }
        const int count = static_cast<int>(map.rows.size());
        const auto is_seeded = [&](int row) { return seeds[row] != 0.0; };
        if (std::none_of(map.rows.begin(), map.rows.end(), is_seeded)) continue;
        double A[36], solution[6];
        for (int c = 0; c < count; ++c) row_on(map.rows[c], child, A + 6 * c);
        for (int k = 0; k < 6; ++k) {
            double unit[6] = {};
            unit[k] = 1.0;
            solve_six(A, count, unit, solution);
            for (int c = 0; c < count; ++c) g[kComponent[k]] += solution[c] * seeds[map.rows[c]];
        }
    }
}

void TreeReactions::rates(const double* velocities, std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0.0);
    for (const int block : other_blocks_) {
        const BlockLayout& b = rows_.blocks()[block];
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground()) continue;
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    out[b.row + r] +=
                        row[k] * rows_.sqrt_mass(side.body, k) * velocities[kTwist * side.body + kComponent[k]];
            }
        }
    }
}

void TreeReactions::complete_null(std::vector<double>& multipliers) {
    std::fill(exerted_.begin(), exerted_.end(), 0.0);
    spread_over_tree(exerted_.data(), multipliers);
}

void TreeReactions::answer(const double* rates, std::vector<double>& multipliers) {
    const std::span<const double> root = rows_.sqrt_mass();
    for (size_t k = 0; k < exerted_.size(); ++k) exerted_[k] = root[k] * root[k] * rates[k];
    spread_over_tree(exerted_.data(), multipliers);
}

// min ‖D λ‖ with Jᵀ λ = F, D the moment or force per row: z = D λ and A = D⁻¹ J.
void TreeReactions::spread_least_norm(std::vector<int> rows, const std::vector<int>& pushing) {
    rows.insert(rows.end(), pushing.begin(), pushing.end());
    apply(-1.0, loads_.multipliers, force_.data());
    if (pushing.empty() && rows.size() > kFew) {
        std::vector<std::uint8_t> takes_part(rows_.rows(), 0);
        for (const int row : rows) takes_part[row] = 1;
        std::vector<double> load(force_.size(), 0.0);
        const auto inverse = rows_.inverse_sqrt_mass();
        for (size_t k = 0; k < load.size(); ++k) load[k] = force_[k] * inverse[k];
        if (loads_.share_by_bodies(takes_part, load)) return;
    }
    const std::vector<double>& weight = loads_.weight();
    const auto [z, nothing] = least_norm(weighted(rows), scaled(force_.data()), kLeastPivot);
    for (Eigen::Index i = 0; i < z.size(); ++i) loads_.multipliers[rows[i]] = z[i] / weight[rows[i]];
    for (Eigen::Index k = 0; k < nothing.cols(); ++k) {
        std::vector<double>& added = loads_.add_nothing();
        for (Eigen::Index i = 0; i < z.size(); ++i) added[rows[i]] = nothing(i, k) / weight[rows[i]];
    }
    if (!pushing.empty()) loads_.share_by_basis(pushing);
}

Eigen::MatrixXd TreeReactions::weighted(const std::vector<int>& rows) const {
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()), 6 * model_.bodies());
    for (Eigen::Index i = 0; i < A.rows(); ++i) {
        const BlockLayout& b = rows_.blocks()[block_of_row_[rows[i]]];
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground()) continue;
            double row[6];
            side.rows.read(rows_.J.data(), rows[i] - b.row, row);
            for (int k = 0; k < 6; ++k) A(i, 6 * side.body + k) += row[k] / loads_.weight()[rows[i]];
        }
    }
    return A;
}

Eigen::VectorXd TreeReactions::scaled(const double* force) const {
    Eigen::VectorXd F(6 * model_.bodies());
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) F[6 * b + k] = force[kTwist * b + kComponent[k]] / rows_.sqrt_mass(b, k);
    return F;
}

void TreeReactions::spread_over_rows(const std::vector<int>& rows, double* force,
                                     std::vector<double>& multipliers) const {
    apply(-1.0, multipliers, force);
    const auto [z, nothing] = least_norm(weighted(rows), scaled(force), kLeastPivot);
    for (Eigen::Index i = 0; i < z.size(); ++i) multipliers[rows[i]] = z[i] / loads_.weight()[rows[i]];
}

// Where λ̄ᵀ D⁻¹ z is the same for all z with Aᵀ z = F, it is wᵀ F for any w with A w = D⁻¹ λ̄.
void TreeReactions::gather_over_rows(const std::vector<int>& rows, const std::vector<double>& seeds,
                                     double* by_force) const {
    Eigen::VectorXd of(static_cast<Eigen::Index>(rows.size()));
    for (Eigen::Index i = 0; i < of.size(); ++i) of[i] = seeds[rows[i]] / loads_.weight()[rows[i]];
    const Eigen::VectorXd w = least_squares(weighted(rows), of);
    std::fill_n(by_force, force_.size(), 0.0);
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) by_force[kTwist * b + kComponent[k]] = w[6 * b + k] / rows_.sqrt_mass(b, k);
}

std::vector<double> TreeReactions::row_sizes(double t, const double* poses) {
    rows_.evaluate_jacobians(t, poses);
    std::ranges::fill(inverse_known_, Inverse::unknown);
    std::vector<double> size(rows_.rows(), 0.0);
    for (const BlockLayout& b : rows_.blocks())
        for (const BlockSide& side : rows_.sides(b))
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (const double entry : row) size[b.row + r] += entry * entry;
            }
    return size;
}

}  // namespace bellcrank
