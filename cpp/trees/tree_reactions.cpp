#include "trees/tree_reactions.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "matrices/small_least_squares.hpp"
#include "model/forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kNothing = 1e-6;  // of multipliers of norm one that exert nothing together: exerts nothing alone

}  // namespace

TreeReactions::TreeReactions(const Model& model, const AngleBranches& branches, Contacts& contacts,
                             const std::vector<JointMap>& joints, const std::vector<int>& other_rows)
    : model_(model), branches_(branches), contacts_(contacts), joints_(joints), rows_(model, branches) {
    lambda.assign(model.rows.size(), 0.0);
    second_.assign(model.rows.size(), 0.0);
    for (auto* v : {&force_, &exerted_}) v->assign(kTwist * (model.bodies() + 1), 0.0);
    layout_of_.assign(model.blocks.size(), -1);
    for (size_t i = 0; i < rows_.blocks().size(); ++i) layout_of_[rows_.blocks()[i].block] = static_cast<int>(i);
    block_of_row_.assign(model.rows.size(), -1);
    for (size_t b = 0; b < model.blocks.size(); ++b)
        for (int r = model.blocks[b].row_begin; r < model.blocks[b].row_end; ++r)
            block_of_row_[r] = static_cast<int>(b);
    std::set<int> blocks;
    for (const int row : other_rows) blocks.insert(block_of_row_[row]);
    other_blocks_.assign(blocks.begin(), blocks.end());
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        const double m = model.mass[b];
        for (const double entry : {m, m, m, I.x, I.y, I.z}) root_mass_.push_back(std::sqrt(entry));
    }
    for (const Row& row : model.rows) weight_.push_back(load_per_multiplier(model, row));
}

void TreeReactions::take_motion(double t, const double* poses, const double* twists, const double* rates) {
    time_ = t, poses_ = poses, twists_ = twists, rates_ = rates;
    applied_forces(model_, branches_, contacts_, t, poses, twists, force_.data());
    for (int b = 0; b < model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            double& f = force_[kTwist * b + kComponent[k]];
            f = root_of_mass(b, k) * root_of_mass(b, k) * rates[kTwist * b + kComponent[k]] - f;
        }
    rows_.evaluate_jacobians(t, poses);
    std::fill(lambda.begin(), lambda.end(), 0.0);
    nulls_.clear();
}

const std::vector<double>& TreeReactions::second_derivatives() {
    rows_.evaluate_residuals(time_, poses_, twists_, rates_, second_.data());
    for (double& value : second_) value = -value;
    return second_;
}

// records += sign Jᵀ λ for the multipliers of some blocks' rows.
void TreeReactions::apply(const std::vector<int>& blocks, double sign, const std::vector<double>& multipliers,
                          double* records) const {
    for (const int block : blocks) {
        const BlockLayout& b = layout(block);
        const int first = model_.blocks[block].row_begin;
        for (const BlockSide& side : rows_.sides(b)) {
            if (side.body == model_.ground()) continue;
            for (int r = 0; r < b.size; ++r) {
                if (multipliers[first + r] == 0.0) continue;
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (int k = 0; k < 6; ++k)
                    records[kTwist * side.body + kComponent[k]] +=
                        sign * multipliers[first + r] * row[k] * root_of_mass(side.body, k);
            }
        }
    }
}

// A model row against the velocity of a body.
void TreeReactions::row_on(int row, int body, double* out) const {
    const int block = block_of_row_[row];
    for (const BlockSide& side : rows_.sides(layout(block))) {
        if (side.body != body) continue;
        side.rows.read(rows_.J.data(), row - model_.blocks[block].row_begin, out);
        for (int k = 0; k < 6; ++k) out[k] *= root_of_mass(body, k);
        return;
    }
    std::fill_n(out, 6, 0.0);
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
            for (int c = 0; c < count; ++c) row_on(map.rows[c], child, A + 6 * c);
            solve_six(A, count, wanted, solution);
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

void TreeReactions::spread_over_tree() {
    apply(other_blocks_, -1.0, lambda, force_.data());
    spread(force_.data(), lambda);
}

void TreeReactions::wrench_of(const Observation::Reaction& reaction, const std::vector<double>& multipliers,
                              double* wrench) {
    const MarkerPair& pair = model_.pairs[reaction.pair];
    const int second = pair.body[1];
    const Vec3 point = pose_position(poses_, second) + rotation_matrix(pose_rotation(poses_, second)) * pair.offset[1];
    std::fill_n(wrench, 6, 0.0);
    touched_.clear();
    for (const int block : reaction.blocks)
        for (const BlockSide& side : rows_.sides(layout(block)))
            if (side.body != model_.ground() &&
                std::find(touched_.begin(), touched_.end(), side.body) == touched_.end())
                touched_.push_back(side.body);
    for (const int b : touched_) std::fill_n(exerted_.data() + kTwist * b, kTwist, 0.0);
    apply(reaction.blocks, 1.0, multipliers, exerted_.data());
    for (const int b : touched_) {
        if (second != model_.ground() && b != second) continue;
        const double sign = second == model_.ground() ? -1.0 : 1.0;
        const double* f = exerted_.data() + kTwist * b;
        const Vec3 force = sign * load(f), arm = pose_position(poses_, b) - point;
        add(wrench, sign * (rotation_matrix(pose_rotation(poses_, b)) * load(f + 4)) + cross(arm, force));
        add(wrench + 3, force);
    }
}

void TreeReactions::wrenches(const std::vector<Observation::Reaction>& which, std::vector<ReactionWrench>& out) {
    out.resize(which.size());
    for (size_t i = 0; i < which.size(); ++i) {
        wrench_of(which[i], out[i].wrench);
        judge(which[i], out[i].unique);
    }
}

bool TreeReactions::determines(int row) const {
    return std::all_of(nulls_.begin(), nulls_.end(),
                       [&](const auto& nothing) { return std::abs(weight_[row] * nothing[row]) <= kNothing; });
}

void TreeReactions::judge(const Observation::Reaction& reaction, bool* unique) {
    unique[0] = unique[1] = true;
    for (const std::vector<double>& nothing : nulls_) {
        double free[6];
        wrench_of(reaction, nothing, free);
        if (norm(load(free)) > kNothing) unique[0] = false;
        if (norm(load(free + 3)) > kNothing) unique[1] = false;
    }
}

std::vector<double> TreeReactions::row_sizes(double t, const double* poses) {
    rows_.evaluate_jacobians(t, poses);
    std::vector<double> size(lambda.size(), 0.0);
    for (const BlockLayout& b : rows_.blocks())
        for (const BlockSide& side : rows_.sides(b))
            for (int r = 0; r < b.size; ++r) {
                double row[6];
                side.rows.read(rows_.J.data(), r, row);
                for (const double entry : row) size[model_.blocks[b.block].row_begin + r] += entry * entry;
            }
    return size;
}

}  // namespace bellcrank
