// Rows without a kernel of their own: sums of coordinates, one row at a time, and formulas.
#include "model/constraint_rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

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
    if (block.friction >= 0) return locked;  // its constant changes
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

}  // namespace

RowOrder order_of(std::vector<int> blocks) {
    const std::vector<int> at_once(blocks.size(), 0);
    return {std::move(blocks), at_once, at_once, 1};
}

RowOrder order_of(const Model& model) {
    std::vector<int> blocks(model.blocks.size());
    std::iota(blocks.begin(), blocks.end(), 0);
    return order_of(std::move(blocks));
}

double load_per_multiplier(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return 1.0;
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name.size() == 2 && name[0] == 'e' ? 0.5 : 1.0;
}

bool is_length(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return true;
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name == "x" || name == "y" || name == "z" || name.starts_with("distance") ||
           name.starts_with("curve_normal") || name == "cam_slide";
}

ConstraintRows::ConstraintRows(const Model& model, const AngleBranches& branches, const RowOrder& order)
    : C(model.rows.size()),
      Ct(model.rows.size()),
      Qc(model.rows.size()),
      model_(model),
      branches_(branches),
      storage_row_(model.rows.size()),
      stages_(order.stages) {
    const int nb = model.bodies();
    for (auto* v : {&sqrt_, &inverse_sqrt_, &at_rest_}) v->assign(kTwist * (nb + 1), 0.0);
    for (int b = 0; b < nb; ++b) {
        const Vec3& I = model.principal_inertia[b];
        const double entries[6] = {model.mass[b], model.mass[b], model.mass[b], I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) {
            const double root = sqrt_[kTwist * b + kComponent[k]] = std::sqrt(entries[k]);
            inverse_sqrt_[kTwist * b + kComponent[k]] = 1.0 / root;
        }
    }
    build_layout(order);
    const Alike alike = sort_blocks(order);
    build_groups(order, alike);
    sort_bodies();
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
        const auto it = std::lower_bound(order.solved.begin(), order.solved.end(), stage);
        return static_cast<int>(it - order.solved.begin());
    };
    for (int s = 0; s < order.stages; ++s) {
        stages_[s].block_begin = first_of(s);
        stages_[s].block_end = first_of(s + 1);
    }
}

// The blocks that lock the same numbers, by the stages that first ask for them. A pack of them is evaluated with its
// first joint, rows without a kernel of their own at first.
ConstraintRows::Alike ConstraintRows::sort_blocks(const RowOrder& order) {
    std::vector<int> by_stage(layout_.size());
    std::iota(by_stage.begin(), by_stage.end(), 0);
    std::stable_sort(by_stage.begin(), by_stage.end(),
                     [&](int a, int b) { return order.evaluated[a] < order.evaluated[b]; });
    Alike alike;
    evaluated_.assign(layout_.size(), 0);
    for (int i : by_stage) {
        const std::vector<int> locked = locked_numbers(model_, model_.blocks[layout_[i].block]);
        if (locked.empty()) {
            general_.push_back(i);
            continue;
        }
        std::vector<int>& blocks = alike[locked];
        evaluated_[i] = blocks.size() % kLanes == 0 ? order.evaluated[i] : evaluated_[blocks.back()];
        blocks.push_back(i);
    }
    std::sort(general_.begin(), general_.end());
    return alike;
}

LockJoint ConstraintRows::lock_joint(const BlockLayout& b) const {
    LockJoint joint{};
    joint.pair = model_.pairs[pair_of(model_, model_.rows[model_.blocks[b.block].row_begin])];
    joint.row = b.row;
    joint.jacobian = b.jacobian;
    for (int s = 0; s < 2; ++s) {
        const double* scale = &inverse_sqrt_[kTwist * joint.pair.body[s]];
        joint.inverse_sqrt_inertia[s] = {scale[4], scale[5], scale[6]};
    }
    return joint;
}

void ConstraintRows::build_groups(const RowOrder& order, const Alike& alike) {
    for (const auto& [locked, blocks] : alike) {
        std::vector<LockJoint> joints;
        for (int i : blocks) joints.push_back(lock_joint(layout_[i]));
        Group group{LockGroup(locked, joints), {}};
        for (int s = 0; s <= order.stages; ++s) {
            const auto before =
                std::partition_point(blocks.begin(), blocks.end(), [&](int i) { return evaluated_[i] < s; });
            group.begin.push_back((static_cast<int>(before - blocks.begin()) + kLanes - 1) / kLanes);
        }
        groups_.push_back(std::move(group));
    }
    for (const auto& [locked, blocks] : alike)
        for (int i : blocks) {
            const Block& block = model_.blocks[layout_[i].block];
            for (int r = block.row_begin; r < block.row_end; ++r)
                if (const double c = model_.rows[r].constant; c != 0.0)
                    lock_constants_.push_back({evaluated_[i], storage_row_[r], c});
        }
    std::stable_sort(lock_constants_.begin(), lock_constants_.end(),
                     [](const Constant& a, const Constant& b) { return a.stage < b.stage; });
    const auto first_of = [&](int stage) {
        const auto later = std::partition_point(lock_constants_.begin(), lock_constants_.end(),
                                                [&](const Constant& c) { return c.stage < stage; });
        return static_cast<int>(later - lock_constants_.begin());
    };
    for (int s = 0; s < order.stages; ++s) {
        stages_[s].constant_begin = first_of(s);
        stages_[s].constant_end = first_of(s + 1);
    }
}

// Bodies without rows come first.
void ConstraintRows::sort_bodies() {
    if (stages_.empty()) return;
    std::vector<int> first(model_.bodies() + 1, stages());
    for (size_t i = 0; i < layout_.size(); ++i)
        for (const BlockSide& side : sides(layout_[i])) first[side.body] = std::min(first[side.body], evaluated_[i]);
    std::replace(first.begin(), first.end(), stages(), 0);
    bodies_.resize(model_.bodies());
    std::iota(bodies_.begin(), bodies_.end(), 0);
    std::stable_sort(bodies_.begin(), bodies_.end(), [&](int a, int b) { return first[a] < first[b]; });
    for (int s = 0, next = 0; s < stages(); ++s) {
        stages_[s].body_begin = next;
        while (next < model_.bodies() && first[bodies_[next]] == s) ++next;
        stages_[s].body_end = next;
    }
}

void ConstraintRows::evaluate_values(double t, const double* x) {
    for (const Group& g : groups_) g.joints.evaluate(0, g.joints.packs(), x, nullptr, nullptr, {.C = C.data()});
    for (const Constant& c : lock_constants_) C[c.row] -= c.value;
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

void ConstraintRows::evaluate_stage(int stage, double t, const double* x, bool jacobians, const double* u,
                                    const double* udot, double* residual) {
    const Stage& s = stages_[stage];
    RowResults out;
    out.residual = residual;
    if (jacobians) out.J = J.data(), out.C = C.data();
    for (const Group& g : groups_) g.joints.evaluate(g.begin[stage], g.begin[stage + 1], x, u, udot, out);
    if (out.C != nullptr)
        for (int i = s.constant_begin; i < s.constant_end; ++i) C[lock_constants_[i].row] -= lock_constants_[i].value;
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

void ConstraintRows::find_general_pairs() {
    motion_of_pair_.assign(model_.pairs.size(), -1);
    for (int index : general_) {
        const Block& block = model_.blocks[layout_[index].block];
        for (int r = block.row_begin; r < block.row_end; ++r)
            for (int k = model_.rows[r].term_begin; k < model_.rows[r].term_end; ++k) {
                const int pair = model_.coordinates[model_.terms[k].coordinate].pair;
                if (motion_of_pair_[pair] >= 0) continue;
                motion_of_pair_[pair] = static_cast<int>(general_pairs_.size());
                general_pairs_.push_back(pair);
            }
    }
    motions_.resize(general_pairs_.size());
    motion_jacobians_.resize(general_pairs_.size());
}

void ConstraintRows::evaluate_general(const Motion& m, bool jacobian, double* residual) {
    const bool contracted = jacobian || residual != nullptr;
    for (size_t i = 0; i < general_pairs_.size(); ++i)
        motions_[i] =
            relative_motion(model_.pairs[general_pairs_[i]], m.x, m.u, contracted ? &motion_jacobians_[i] : nullptr);
    for (int index : general_) {
        const BlockLayout& b = layout_[index];
        if (jacobian) std::fill(J.begin() + b.jacobian, J.begin() + b.jacobian_end, 0.0);
        if (const int formula = model_.formula_of_block[b.block]; formula >= 0)
            evaluate_formula(m, b, model_.formula_rows[formula], jacobian, residual);
        else
            for (int r = 0; r < b.size; ++r) evaluate_general_row(m, b, r, jacobian, residual);
    }
}

// Adds a multiple of a gradient against a body's twist to a row of its Jacobian.
void ConstraintRows::add_to_row(const BlockLayout& b, int r, int body, double factor, const double* gradient) {
    for (const BlockSide& side : sides(b)) {
        if (side.body != body) continue;
        double *linear = &J[side.rows.linear + kRow * r], *angular = &J[side.rows.angular + kRow * r];
        const double* scale = &inverse_sqrt_[kTwist * body];
        for (int i = 0; i < 3; ++i) {
            linear[i] += factor * gradient[i] * scale[i];
            angular[i] += factor * gradient[3 + i] * scale[4 + i];
        }
    }
}

// C = Σ c φ − f(t) − constant, Ct = −f', Qc = f'' − Σ c bias.
void ConstraintRows::evaluate_general_row(const Motion& m, const BlockLayout& b, int r, bool jacobian,
                                          double* residual) {
    const Row& row = model_.rows[model_.blocks[b.block].row_begin + r];
    FunctionValue f{0.0, 0.0, 0.0};
    if (row.function >= 0) f = model_.functions[row.function](m.t);
    const int friction = model_.blocks[b.block].friction;
    const double held_at = friction < 0 ? 0.0 : branches_.friction(friction).held_at;
    double value = -row.constant - f.f - held_at, rest = f.d2;
    for (int k = row.term_begin; k < row.term_end; ++k) {
        const Term& term = model_.terms[k];
        const Coordinate& coordinate = model_.coordinates[term.coordinate];
        const int motion = motion_of_pair_[coordinate.pair];
        CoordinateValue c;
        evaluate_along(model_, branches_, term.coordinate, motions_[motion], c);
        value += term.coefficient * c.value;
        if (!jacobian && residual == nullptr) continue;
        BodyCoordinate on_bodies;
        contract(c, motions_[motion], motion_jacobians_[motion], on_bodies);
        const MarkerPair& pair = model_.pairs[coordinate.pair];
        if (residual != nullptr) {
            double second = on_bodies.bias;
            for (int s = 0; s < 2; ++s)
                for (int i = 0; i < 6; ++i) second += on_bodies.J[s][i] * m.udot[kTwist * pair.body[s] + kComponent[i]];
            rest -= term.coefficient * second;
        }
        if (jacobian)
            for (int s = 0; s < 2; ++s) add_to_row(b, r, pair.body[s], term.coefficient, on_bodies.J[s]);
    }
    C[b.row + r] = value;
    Ct[b.row + r] = -f.d1;
    if (residual != nullptr) residual[b.row + r] = rest;
}

// C, Ct = Ċ without motion, Qc = −(C̈ − J u̇); all that acts on one body shares its side.
void ConstraintRows::evaluate_formula(const Motion& m, const BlockLayout& b, const FormulaRows& formula, bool jacobian,
                                      double* residual) {
    formula.evaluate({model_, branches_, m.t, m.x, m.u}, formula_values_);
    for (int r = 0; r < b.size; ++r) {
        C[b.row + r] = formula_values_.value[r];
        Ct[b.row + r] = formula_values_.drift[r];
        if (residual != nullptr) residual[b.row + r] = -formula_values_.bias[r];
    }
    for (const FormulaRows::Side& from : formula_values_.sides)
        for (int r = 0; r < b.size; ++r) {
            if (residual != nullptr)
                for (int i = 0; i < 6; ++i)
                    residual[b.row + r] -= from.J[r][i] * m.udot[kTwist * from.body + kComponent[i]];
            if (jacobian) add_to_row(b, r, from.body, 1.0, from.J[r]);
        }
}

}  // namespace bellcrank
