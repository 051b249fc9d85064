#include "model/branches.hpp"

#include <cmath>
#include <numbers>

#include "joints/turned_rotation.hpp"

namespace bellcrank {

// Half a turn is a common angle: it shall not be now π and now −π by rounding. Hence not exactly zero.
AngleBranches::AngleBranches(const Model& model)
    : reference_(model.coordinates.size(), 1e-6), turned_over_(model.coordinates.size(), 0) {
    for (const FormulaJoint& j : model.formula_joints)
        for (size_t k = 0; k < j.coordinate.size(); ++k)
            if (j.coordinate[k] >= 0) set(j.coordinate[k], j.start[k]);
}

AngleBranches::AngleBranches(const Model& model, double t) : AngleBranches(model) {
    for (const Block& block : model.blocks) {
        if (block.unilateral || block.compliance > 0.0) continue;
        for (int r = block.row_begin; r < block.row_end; ++r) {
            const Row& row = model.rows[r];
            if (row.term_end - row.term_begin != 1 || !std::isfinite(row.constant)) continue;
            const Term& term = model.terms[row.term_begin];
            if (!model.coordinates[term.coordinate].followed()) continue;
            const double led = row.function < 0 ? 0.0 : model.functions[row.function](t).f;
            set(term.coordinate, (led + row.constant) / term.coefficient);
        }
    }
}

double AngleBranches::nearest(int coordinate, double principal) const {
    constexpr double turn = 2.0 * std::numbers::pi;
    principal += turned_over_[coordinate] * std::numbers::pi;
    return principal + turn * std::round((reference_[coordinate] - principal) / turn);
}

void AngleBranches::follow(const Model& model, int coordinate, const double* x) {
    CoordinateValue c;
    evaluate_along(model, *this, coordinate, relative_pose(model.pairs[model.coordinates[coordinate].pair], x), c);
    set(coordinate, c.value);
}

void AngleBranches::follow(const Model& model, const double* x) {
    for (int i = 0; i < static_cast<int>(model.coordinates.size()); ++i)
        if (model.coordinates[i].followed()) follow(model, i, x);
}

void AngleBranches::recognize(const Model& model, const double* x) {
    constexpr double turn = 2.0 * std::numbers::pi, near_half = 0.5 * turn - 1e-2;
    for (int i = 0; i < static_cast<int>(model.coordinates.size()); ++i) {
        const Coordinate& c = model.coordinates[i];
        if (c.kind->angle != Angle::of_points) continue;
        CoordinateValue at;
        c.kind->evaluate(relative_pose(model.pairs[c.pair], x), c.params, at);
        turned_over_[i] = std::abs(std::remainder(reference_[i] - at.value, turn)) > near_half;
    }
}

void evaluate_along(const Model& model, const AngleBranches& branches, int coordinate, const RelativeMotion& motion,
                    CoordinateValue& out) {
    const Coordinate& c = model.coordinates[coordinate];
    if (!c.of_formula()) {
        const int axis = c.kind->angular() ? turned_axis(*c.kind) : -1;
        if (axis >= 0) {
            const int first = coordinate - axis;
            const double near[] = {branches.reference(first), branches.reference(first + 1),
                                   branches.reference(first + 2)};
            c.kind->evaluate(motion, std::span<const double>(near), out);
            return;
        }
        c.kind->evaluate(motion, c.params, out);
        if (c.kind->angular()) out.value = branches.nearest(coordinate, out.value);
        return;
    }
    const FormulaJoint& formula = model.formula_joints[c.formula()];
    double near[ParametricJoint::kMaxCoordinates];
    for (size_t k = 0; k < formula.coordinate.size(); ++k)
        near[k] = formula.coordinate[k] < 0 ? formula.start[k] : branches.reference(formula.coordinate[k]);
    const ParametricJoint::Values& values = formula.joint.evaluate(motion, near);
    out = c.kind == &kFormulaRow ? values.row[c.component()] : values.free[c.component()];
}

CoordinateMotion coordinate_motion(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                                   const double* u) {
    CoordinateValue c;
    const RelativeMotion motion = relative_motion(model.pairs[model.coordinates[coordinate].pair], x, u, nullptr);
    evaluate_along(model, branches, coordinate, motion, c);
    return {c.value, dot(c.dr, motion.rdot) + dot(c.domega, motion.omega)};
}

void evaluate_coordinate(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                         const double* u, BodyCoordinate& out) {
    const Coordinate& c = model.coordinates[coordinate];
    RelativeJacobian jacobian;
    CoordinateValue value;
    const RelativeMotion motion = relative_motion(model.pairs[c.pair], x, u, &jacobian);
    evaluate_along(model, branches, coordinate, motion, value);
    contract(value, motion, jacobian, out);
}

}  // namespace bellcrank
