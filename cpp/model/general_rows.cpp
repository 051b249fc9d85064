// Rows without a kernel of their own: sums of coordinates, one row at a time, and formulas.
#include <algorithm>

#include "model/constraint_rows.hpp"
#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

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
    double value = -row.constant - f.f, rest = f.d2;
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
