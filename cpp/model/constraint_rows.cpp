#include "model/constraint_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "spatial/body_state.hpp"
#include "spatial/record.hpp"

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

// Ĵ v̂ of one block for two of its bodies.
template <int K>
void multiply_block(const double* J1, const double* v1, const double* J2, const double* v2, double* out) {
    const Record first = Record::load(v1), second = Record::load(v2);
    for (int r = 0; r < K; ++r) {
        Record product = Record::load(J1 + kTwist * r) * first;
        product.add_product(Record::load(J2 + kTwist * r), second);
        out[r] = product.sum();
    }
}

// v += Ĵᵀ λ of one body. The sum is formed before v is read: the next block is waiting for it.
template <int K>
void transposed_side(const double* J, const double* lambda, double* v) {
    Record sum{};
    for (int r = 0; r < K; ++r) sum.add_scaled(lambda[r], Record::load(J + kTwist * r));
    sum.add_scaled(1.0, Record::load(v));
    sum.store(v);
}

using BlockKernel = void (*)(const double*, const double*, const double*, const double*, double*);
using SideKernel = void (*)(const double*, const double*, double*);
constexpr BlockKernel kMultiply[6] = {multiply_block<1>, multiply_block<2>, multiply_block<3>,
                                      multiply_block<4>, multiply_block<5>, multiply_block<6>};
constexpr SideKernel kTransposed[6] = {transposed_side<1>, transposed_side<2>, transposed_side<3>,
                                       transposed_side<4>, transposed_side<5>, transposed_side<6>};

// Where the six components stand in a record.
constexpr int kComponent[6] = {0, 1, 2, 4, 5, 6};

}  // namespace

ConstraintRows::ConstraintRows(const Model& model, const AngleBranches& branches, std::span<const int> block_order)
    : C(model.rows.size()),
      Ct(model.rows.size()),
      Qc(model.rows.size()),
      model_(model),
      branches_(branches),
      storage_row_(model.rows.size()) {
    const int nb = model.bodies();
    inverse_sqrt_.assign(6 * (nb + 1), 0.0);
    at_rest_.assign(kTwist * (nb + 1), 0.0);
    for (int b = 0; b < nb; ++b) {
        const Vec3& I = model.principal_inertia[b];
        const double entries[6] = {model.mass[b], model.mass[b], model.mass[b], I.x, I.y, I.z};
        for (int k = 0; k < 6; ++k) inverse_sqrt_[6 * b + k] = 1.0 / std::sqrt(entries[k]);
    }
    build_layout(block_order);
    build_groups();
    find_general_pairs();
}

void ConstraintRows::build_layout(std::span<const int> block_order) {
    int row = 0, jacobian = 0;
    for (int index : block_order) {
        const Block& block = model_.blocks[index];
        const int K = block.row_end - block.row_begin;
        const std::vector<int> locked = locked_numbers(model_, block);
        const int linear =
            locked.empty() ? K : static_cast<int>(std::lower_bound(locked.begin(), locked.end(), 3) - locked.begin());
        BlockLayout b{index, row, K, linear, static_cast<int>(sides_.size()), 0};
        for (int r = block.row_begin; r < block.row_end; ++r) storage_row_[r] = row++;
        for (int body : model_.bodies_of(index)) {
            sides_.push_back({body, jacobian});
            jacobian += kTwist * K;
        }
        b.side_end = static_cast<int>(sides_.size());
        layout_.push_back(b);
    }
    J.assign(jacobian, 0.0);
}

void ConstraintRows::build_groups() {
    std::map<std::vector<int>, std::vector<LockJoint>> groups;
    for (int i = 0; i < static_cast<int>(layout_.size()); ++i) {
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
        joint.jacobian = sides_[b.side_begin].jacobian;
        for (int s = 0; s < 2; ++s) {
            const double* scale = &inverse_sqrt_[6 * joint.pair.body[s]];
            joint.inverse_sqrt_mass[s] = scale[0];
            joint.inverse_sqrt_inertia[s] = {scale[3], scale[4], scale[5]};
        }
        groups[locked].push_back(joint);
        for (int r = block.row_begin; r < block.row_end; ++r)
            if (model_.rows[r].constant != 0.0) lock_constants_.emplace_back(storage_row_[r], model_.rows[r].constant);
    }
    for (const auto& [locked, joints] : groups) groups_.emplace_back(locked, joints);
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

void ConstraintRows::evaluate_general(double t, const double* x, const double* u, Level level) {
    for (size_t i = 0; i < general_pairs_.size(); ++i)
        motions_[i] = relative_motion(model_.pairs[general_pairs_[i]], x, u,
                                      level == Level::value ? nullptr : &motion_jacobians_[i]);
    for (int index : general_) {
        const BlockLayout& b = layout_[index];
        if (level == Level::jacobian)
            std::fill_n(&J[sides(b).front().jacobian], kTwist * b.size * sides(b).size(), 0.0);
        if (const int formula = model_.formula_of_block[b.block]; formula >= 0)
            evaluate_formula(t, x, u, b, model_.formula_rows[formula], level);
        else
            for (int r = 0; r < b.size; ++r) evaluate_general_row(t, b, r, level);
    }
}

// C = Σ c φ − f(t) − constant, Ct = −f', Qc = f'' − Σ c bias.
void ConstraintRows::evaluate_general_row(double t, const BlockLayout& b, int r, Level level) {
    const Row& row = model_.rows[model_.blocks[b.block].row_begin + r];
    FunctionValue f{0.0, 0.0, 0.0};
    if (row.function >= 0) f = model_.functions[row.function](t);
    double value = -row.constant - f.f, bias = 0.0;
    for (int k = row.term_begin; k < row.term_end; ++k) {
        const Term& term = model_.terms[k];
        const Coordinate& coordinate = model_.coordinates[term.coordinate];
        const int motion = motion_of_pair_[coordinate.pair];
        CoordinateValue c;
        evaluate_along(model_, branches_, term.coordinate, motions_[motion], c);
        value += term.coefficient * c.value;
        if (level == Level::value) continue;
        BodyCoordinate on_bodies;
        contract(c, motions_[motion], motion_jacobians_[motion], on_bodies);
        bias += term.coefficient * on_bodies.bias;
        if (level == Level::bias) continue;
        const MarkerPair& pair = model_.pairs[coordinate.pair];
        for (const BlockSide& side : sides(b))
            for (int s = 0; s < 2; ++s)
                if (side.body == pair.body[s])
                    for (int i = 0; i < 6; ++i)
                        J[side.jacobian + kTwist * r + kComponent[i]] +=
                            term.coefficient * on_bodies.J[s][i] * inverse_sqrt_[6 * side.body + i];
    }
    C[b.row + r] = value;
    Ct[b.row + r] = -f.d1;
    if (level == Level::bias) Qc[b.row + r] = f.d2 - bias;
}

// C, Ct = Ċ without motion, Qc = −(C̈ − J u̇); all that acts on one body shares its side.
void ConstraintRows::evaluate_formula(double t, const double* x, const double* u, const BlockLayout& b,
                                      const FormulaRows& formula, Level level) {
    formula.evaluate({model_, branches_, t, x, u}, formula_values_);
    for (int r = 0; r < b.size; ++r) {
        C[b.row + r] = formula_values_.value[r];
        Ct[b.row + r] = formula_values_.drift[r];
        if (level == Level::bias) Qc[b.row + r] = -formula_values_.bias[r];
    }
    if (level != Level::jacobian) return;
    for (const FormulaRows::Side& from : formula_values_.sides)
        for (const BlockSide& side : sides(b)) {
            if (side.body != from.body) continue;
            for (int r = 0; r < b.size; ++r)
                for (int i = 0; i < 6; ++i)
                    J[side.jacobian + kTwist * r + kComponent[i]] += from.J[r][i] * inverse_sqrt_[6 * side.body + i];
        }
}

void ConstraintRows::evaluate_values(double t, const double* x) {
    for (const LockGroup& g : groups_) g.values(x, C.data());
    for (const auto& [row, constant] : lock_constants_) C[row] -= constant;
    if (!general_.empty()) evaluate_general(t, x, at_rest_.data(), Level::value);
}

void ConstraintRows::evaluate_jacobians(double t, const double* x) {
    for (const LockGroup& g : groups_) g.jacobians(x, C.data(), J.data());
    for (const auto& [row, constant] : lock_constants_) C[row] -= constant;
    if (!general_.empty()) evaluate_general(t, x, at_rest_.data(), Level::jacobian);
}

void ConstraintRows::evaluate_biases(double t, const double* x, const double* u) {
    for (const LockGroup& g : groups_) g.biases(x, u, Qc.data());
    for (double& q : Qc) q = -q;
    if (!general_.empty()) evaluate_general(t, x, u, Level::bias);
}

int ConstraintRows::append_jacobian(std::span<const double> rows) {
    const int offset = static_cast<int>(J.size());
    J.insert(J.end(), rows.begin(), rows.end());
    return offset;
}

void ConstraintRows::multiply(const double* v, double* out) const {
    static constexpr double none[kTwist] = {};
    for (const BlockLayout& b : layout_) {
        const BlockKernel kernel = kMultiply[b.size - 1];
        const BlockSide& first = sides_[b.side_begin];
        if (b.side_end - b.side_begin == 2) {
            const BlockSide& second = sides_[b.side_begin + 1];
            kernel(&J[first.jacobian], v + kTwist * first.body, &J[second.jacobian], v + kTwist * second.body,
                   out + b.row);
            continue;
        }
        kernel(&J[first.jacobian], v + kTwist * first.body, &J[first.jacobian], none, out + b.row);
        for (int s = b.side_begin + 1; s < b.side_end; ++s) {
            double more[6];
            kernel(&J[sides_[s].jacobian], v + kTwist * sides_[s].body, &J[sides_[s].jacobian], none, more);
            for (int r = 0; r < b.size; ++r) out[b.row + r] += more[r];
        }
    }
}

void ConstraintRows::add_transposed(const double* lambda, double* v) const {
    for (const BlockLayout& b : layout_)
        for (int s = b.side_begin; s < b.side_end; ++s)
            kTransposed[b.size - 1](&J[sides_[s].jacobian], lambda + b.row, v + kTwist * sides_[s].body);
}

}  // namespace bellcrank
