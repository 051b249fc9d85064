#include "model/constraint_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr std::array<std::string_view, 6> kLockable = {"x", "y", "z", "e1", "e2", "e3"};

int lockable_index(const Model& model, const Row& row) {
    if (row.term_end - row.term_begin != 1 || row.function >= 0) return -1;
    const Term& term = model.terms[row.term_begin];
    if (term.coefficient != 1.0) return -1;
    const auto& name = model.coordinates[term.coordinate].kind->name;
    const auto it = std::find(kLockable.begin(), kLockable.end(), name);
    return it == kLockable.end() ? -1 : static_cast<int>(it - kLockable.begin());
}

// The numbers a block locks, if it is one pair's ascending subset of kLockable; empty otherwise.
std::vector<int> locked_numbers(const Model& model, const Block& block) {
    std::vector<int> locked;
    int pair = -1;
    for (int r = block.row_begin; r < block.row_end; ++r) {
        const Row& row = model.rows[r];
        const int index = lockable_index(model, row);
        if (index < 0 || (!locked.empty() && index <= locked.back())) return {};
        const int p = model.coordinates[model.terms[row.term_begin].coordinate].pair;
        if (pair >= 0 && p != pair) return {};
        pair = p;
        locked.push_back(index);
    }
    if (model.pairs[pair].body[0] == model.pairs[pair].body[1]) return {};
    return locked;
}

int pair_of(const Model& model, const Row& row) {
    return model.coordinates[model.terms[row.term_begin].coordinate].pair;
}

RowOrder order_of(const Model& model) {
    const std::vector<int> at_once(model.blocks.size(), 0);
    RowOrder order{at_once, at_once, at_once, 1};
    std::iota(order.blocks.begin(), order.blocks.end(), 0);
    return order;
}

}  // namespace

ConstraintRows::ConstraintRows(const Model& model, const AngleBranches& branches, const RowOrder& order)
    : C(model.rows.size()),
      Ct(model.rows.size()),
      Qc(model.rows.size()),
      model_(model),
      branches_(branches),
      storage_row_(model.rows.size()),
      stages_(order.stages) {
    const int nb = model.bodies();
    inverse_sqrt_.assign(kTwist * (nb + 1), 0.0);
    at_rest_.assign(kTwist * (nb + 1), 0.0);
    for (int b = 0; b < nb; ++b) {
        const Vec3& I = model.principal_inertia[b];
        const double entries[6] = {model.mass[b], model.mass[b], model.mass[b], I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) inverse_sqrt_[kTwist * b + kComponent[k]] = 1.0 / std::sqrt(entries[k]);
    }
    build_layout(order);
    build_groups(order);
    find_general_pairs();
}

ConstraintRows::ConstraintRows(const Model& model, const AngleBranches& branches)
    : ConstraintRows(model, branches, order_of(model)) {}

void ConstraintRows::build_layout(const RowOrder& order) {
    int row = 0, jacobian = 0;
    for (int index : order.blocks) {
        const Block& block = model_.blocks[index];
        const int K = block.row_end - block.row_begin;
        const std::vector<int> locked = locked_numbers(model_, block);
        BlockLayout b{index, row, K, static_cast<int>(sides_.size()), 0, jacobian, 0};
        for (int r = block.row_begin; r < block.row_end; ++r) storage_row_[r] = row++;
        const std::vector<int> bodies = model_.bodies_of(index);
        // A joint's bodies share the linear parts; a general row has its own against every body.
        const int linear =
            locked.empty() ? K : static_cast<int>(std::lower_bound(locked.begin(), locked.end(), 3) - locked.begin());
        if (!locked.empty()) jacobian += kRow * linear;
        for (size_t i = 0; i < bodies.size(); ++i) {
            const double mass_scale = inverse_sqrt_[kTwist * bodies[i]];
            if (locked.empty()) {
                sides_.push_back({bodies[i], {K, K, jacobian, jacobian + kRow * K, 1.0}});
                jacobian += 2 * kRow * K;
            } else {
                sides_.push_back({bodies[i], {K, linear, b.jacobian, jacobian, i == 0 ? -mass_scale : mass_scale}});
                jacobian += kRow * K;
            }
        }
        b.jacobian_end = jacobian;
        b.side_end = static_cast<int>(sides_.size());
        layout_.push_back(b);
    }
    J.assign(jacobian, 0.0);
    const auto first_of = [&](int stage) {
        return static_cast<int>(std::lower_bound(order.solved.begin(), order.solved.end(), stage) -
                                order.solved.begin());
    };
    for (int s = 0; s < order.stages; ++s) {
        stages_[s].block_begin = first_of(s);
        stages_[s].block_end = first_of(s + 1);
    }
}

void ConstraintRows::build_groups(const RowOrder& order) {
    std::vector<int> by_stage(layout_.size());
    std::iota(by_stage.begin(), by_stage.end(), 0);
    std::stable_sort(by_stage.begin(), by_stage.end(),
                     [&](int a, int b) { return order.evaluated[a] < order.evaluated[b]; });
    struct Joints {
        std::vector<LockJoint> joints;
        std::vector<int> stages;
    };
    std::map<std::vector<int>, Joints> groups;
    int stage = 0;
    for (int i : by_stage) {
        const BlockLayout& b = layout_[i];
        const Block& block = model_.blocks[b.block];
        const std::vector<int> locked = locked_numbers(model_, block);
        if (locked.empty()) {
            general_.push_back(i);
            continue;
        }
        LockJoint joint{};
        joint.pair = model_.pairs[pair_of(model_, model_.rows[block.row_begin])];
        joint.row = b.row;
        joint.jacobian = b.jacobian;
        for (int s = 0; s < 2; ++s) {
            const double* scale = &inverse_sqrt_[kTwist * joint.pair.body[s]];
            joint.inverse_sqrt_inertia[s] = {scale[4], scale[5], scale[6]};
        }
        groups[locked].joints.push_back(joint);
        groups[locked].stages.push_back(order.evaluated[i]);
        for (; stage < order.evaluated[i]; ++stage)
            stages_[stage].constant_end = stages_[stage + 1].constant_begin = static_cast<int>(lock_constants_.size());
        for (int r = block.row_begin; r < block.row_end; ++r)
            if (model_.rows[r].constant != 0.0) lock_constants_.emplace_back(storage_row_[r], model_.rows[r].constant);
    }
    for (; stage < order.stages; ++stage) {
        stages_[stage].constant_end = static_cast<int>(lock_constants_.size());
        if (stage + 1 < order.stages) stages_[stage + 1].constant_begin = stages_[stage].constant_end;
    }
    // A pack is evaluated in the stage that first asks for one of its joints.
    for (const auto& [locked, of] : groups) {
        Group group{LockGroup(locked, of.joints), {}};
        for (int s = 0; s <= order.stages; ++s) {
            const auto joints = std::lower_bound(of.stages.begin(), of.stages.end(), s) - of.stages.begin();
            group.begin.push_back((static_cast<int>(joints) + kLanes - 1) / kLanes);
        }
        groups_.push_back(std::move(group));
    }
}

void ConstraintRows::evaluate_values(double t, const double* x) {
    for (const Group& g : groups_)
        g.joints.evaluate(0, g.joints.packs(), x, nullptr, nullptr, {C.data(), nullptr, nullptr});
    for (const auto& [row, constant] : lock_constants_) C[row] -= constant;
    if (!general_.empty()) evaluate_general({t, x, at_rest_.data(), nullptr}, false, nullptr);
}

void ConstraintRows::evaluate_jacobians(double t, const double* x) {
    for (int s = 0; s < stages(); ++s) evaluate_stage(s, t, x, true, at_rest_.data(), nullptr, nullptr);
}

void ConstraintRows::evaluate_biases(double t, const double* x, const double* u) {
    evaluate_residuals(t, x, u, at_rest_.data(), Qc.data());
}

void ConstraintRows::evaluate_residuals(double t, const double* x, const double* u, const double* udot,
                                        double* residual) {
    for (int s = 0; s < stages(); ++s) evaluate_stage(s, t, x, false, u, udot, residual);
}

// Rows without a kernel of their own are all evaluated at first.
void ConstraintRows::evaluate_stage(int stage, double t, const double* x, bool jacobians, const double* u,
                                    const double* udot, double* residual) {
    RowResults out{nullptr, nullptr, residual};
    if (jacobians) out.C = C.data(), out.J = J.data();
    for (const Group& g : groups_) g.joints.evaluate(g.begin[stage], g.begin[stage + 1], x, u, udot, out);
    if (jacobians)
        for (int i = stages_[stage].constant_begin; i < stages_[stage].constant_end; ++i)
            C[lock_constants_[i].first] -= lock_constants_[i].second;
    if (stage == 0 && !general_.empty())
        evaluate_general({t, x, u == nullptr ? at_rest_.data() : u, udot}, jacobians, residual);
}

BodyRows ConstraintRows::append_link(int body, double sign) {
    const int linear = static_cast<int>(J.size()), angular = linear + 3 * kRow;
    J.resize(J.size() + 9 * kRow, 0.0);
    for (int k = 0; k < 3; ++k) {
        J[linear + (kRow + 1) * k] = 1.0;
        J[angular + kRow * (3 + k) + k] = sign * inverse_sqrt_[kTwist * body + 4 + k];
    }
    return {6, 3, linear, angular, sign * inverse_sqrt_[kTwist * body]};
}

}  // namespace bellcrank
