#include "model/branches.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "joints/pole.hpp"
#include "model/whole_turns.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

// Half a turn is a common angle: it shall not be now π and now −π by rounding. Hence not exactly zero.
AngleBranches::AngleBranches(const Model& model)
    : reference_(model.coordinates.size(), 1e-6),
      turned_over_(model.coordinates.size(), 0),
      friction_(model.laws.size()) {
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

std::array<double, ParametricJoint::kMaxCoordinates> search_start(const FormulaJoint& joint,
                                                                  const AngleBranches& branches) {
    std::array<double, ParametricJoint::kMaxCoordinates> near{};
    for (size_t k = 0; k < joint.coordinate.size(); ++k)
        near[k] = joint.coordinate[k] < 0 ? joint.start[k] : branches.reference(joint.coordinate[k]);
    return near;
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
    const ParametricJoint::Values& values = formula.joint.evaluate(motion, search_start(formula, branches).data());
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

namespace {

constexpr double kBent = 1e-9;  // part of a formula's change over a turn by which it may not be linear in the turns

// What connects angles at poses x, as a problem of their turns.
class Relations {
  public:
    Relations(const Model& model, double t, const double* x, const double* known, AngleBranches& branches);
    // Sets the branches of angles that are not prescribed.
    void settle();

  private:
    bool is_free(int coordinate) const {
        const CoordinateKind& kind = *model_.coordinates[coordinate].kind;
        return !held_[coordinate] && kind.angular() && turned_axis(kind) < 0;
    }
    double value(int coordinate) const;
    double led(const Row& row) const;
    int angle(int coordinate);
    void hold();
    void add(const Row& row);
    void bound(const Row& row);
    void add(const Block& block, const FormulaRows& formula);

    const Model& model_;
    const double t_;
    const double* x_;
    AngleBranches& branches_;
    std::vector<char> held_;                // by coordinate: a row or the caller prescribes its value,
    std::vector<char> stated_;              // a row does
    std::vector<int> number_, coordinate_;  // by coordinate of the model, by angle of the problem
    TurnProblem problem_;
};

Relations::Relations(const Model& model, double t, const double* x, const double* known, AngleBranches& branches)
    : model_(model),
      t_(t),
      x_(x),
      branches_(branches),
      held_(model.coordinates.size(), 0),
      stated_(model.coordinates.size(), 0),
      number_(model.coordinates.size(), -1) {
    hold();
    for (size_t i = 0; known != nullptr && i < held_.size(); ++i) {
        if (!model.coordinates[i].followed() || std::isnan(known[i])) continue;
        branches.set(static_cast<int>(i), known[i]);
        held_[i] = 1, stated_[i] = 0;
    }
    for (size_t i = 0; i < model.blocks.size(); ++i) {
        const Block& block = model.blocks[i];
        if (block.compliance > 0.0 || block.of_velocity || block.friction >= 0) continue;
        if (const int formula = model.formula_of_block[i]; formula >= 0) {
            if (!block.unilateral) add(block, model.formula_rows[formula]);
            continue;
        }
        for (int r = block.row_begin; r < block.row_end; ++r)
            block.unilateral ? bound(model.rows[r]) : add(model.rows[r]);
    }
}

// Coordinates that a row alone prescribes; branches are there already.
void Relations::hold() {
    for (const Block& block : model_.blocks) {
        if (block.unilateral || block.compliance > 0.0) continue;
        for (int r = block.row_begin; r < block.row_end; ++r) {
            const Row& row = model_.rows[r];
            if (row.term_end - row.term_begin == 1 && std::isfinite(row.constant))
                held_[model_.terms[row.term_begin].coordinate] = stated_[model_.terms[row.term_begin].coordinate] = 1;
        }
    }
}

// Where a row prescribes it, else at the poses.
double Relations::value(int coordinate) const {
    const Coordinate& c = model_.coordinates[coordinate];
    if (held_[coordinate] && c.followed()) return branches_.reference(coordinate);
    CoordinateValue found;
    evaluate_along(model_, branches_, coordinate, relative_pose(model_.pairs[c.pair], x_), found);
    return found.value;
}

double Relations::led(const Row& row) const {
    return (row.function < 0 ? 0.0 : model_.functions[row.function](t_).f) + row.constant;
}

int Relations::angle(int coordinate) {
    int& number = number_[coordinate];
    if (number >= 0) return number;
    number = static_cast<int>(coordinate_.size());
    coordinate_.push_back(coordinate);
    problem_.angles.push_back({value(coordinate), -HUGE_VAL, HUGE_VAL});
    return number;
}

void Relations::add(const Row& row) {
    bool any = false;
    for (int k = row.term_begin; k < row.term_end; ++k) any = any || is_free(model_.terms[k].coordinate);
    if (!any || !std::isfinite(row.constant)) return;
    TurnProblem::Relation relation{{}, -led(row), true};
    for (int k = row.term_begin; k < row.term_end; ++k) {
        const auto [coordinate, coefficient] = model_.terms[k];
        if (is_free(coordinate) && coefficient != 0.0) {
            relation.terms.emplace_back(angle(coordinate), coefficient);
        } else {
            relation.rest += coefficient * value(coordinate);
            relation.stated = relation.stated && stated_[coordinate];
        }
    }
    if (!relation.terms.empty() && std::isfinite(relation.rest)) problem_.relations.push_back(std::move(relation));
}

void Relations::bound(const Row& row) {
    if (row.term_end - row.term_begin != 1 || !std::isfinite(row.constant)) return;
    const auto [coordinate, coefficient] = model_.terms[row.term_begin];
    if (!is_free(coordinate)) return;
    TurnProblem::Angle& bounded = problem_.angles[angle(coordinate)];
    const double limit = led(row) / coefficient;
    if (coefficient > 0.0) bounded.low = std::max(bounded.low, limit);
    if (coefficient < 0.0) bounded.high = std::min(bounded.high, limit);
}

// A formula's coefficients are its changes over whole turns; one that is not linear in these is no relation.
void Relations::add(const Block& block, const FormulaRows& formula) {
    std::vector<int> turning;
    for (const int c : formula.ends().coordinates)
        if (is_free(c)) turning.push_back(c);
    if (turning.empty()) return;
    const std::vector<double> still(kTwist * (model_.bodies() + 1), 0.0);
    FormulaRows::Values now;
    std::vector<double> at;
    for (const int c : turning) at.push_back(problem_.angles[angle(c)].value);
    // Evaluates rows with the angles `some` moved by turns.
    const auto rows_at = [&](size_t first, size_t last, double turns) {
        for (size_t i = first; i < last; ++i) branches_.set(turning[i], at[i] + kWholeTurn * turns);
        formula.evaluate({model_, branches_, t_, x_, still.data()}, now);
        for (size_t i = first; i < last; ++i) branches_.set(turning[i], at[i]);
        return std::vector<double>(now.value, now.value + formula.rows());
    };
    const size_t n = turning.size();
    const std::vector<double> here = rows_at(0, n, 0.0), together = rows_at(0, n, 1.0);
    std::vector<std::vector<double>> once, twice;
    for (size_t i = 0; i < n; ++i) once.push_back(rows_at(i, i + 1, 1.0)), twice.push_back(rows_at(i, i + 1, 2.0));
    for (int r = 0; r < block.row_end - block.row_begin; ++r) {
        TurnProblem::Relation relation{{}, here[r], false};
        double sum = 0.0, bent = 0.0, largest = 0.0;
        for (size_t i = 0; i < n; ++i) {
            const double change = once[i][r] - here[r], coefficient = change / kWholeTurn;
            bent = std::max(bent, std::abs(twice[i][r] - once[i][r] - change));
            largest = std::max(largest, std::abs(change));
            sum += change;
            if (std::abs(coefficient) <= kBent) continue;
            relation.terms.emplace_back(angle(turning[i]), coefficient);
            relation.rest -= coefficient * at[i];
        }
        bent = std::max(bent, std::abs(together[r] - here[r] - sum));
        if (bent <= kBent * (1.0 + largest) && !relation.terms.empty() && std::isfinite(relation.rest))
            problem_.relations.push_back(std::move(relation));
    }
}

void Relations::settle() {
    if (problem_.angles.empty()) return;
    add_whole_turns(problem_);
    for (size_t i = 0; i < coordinate_.size(); ++i) branches_.set(coordinate_[i], problem_.angles[i].value);
}

}  // namespace

AngleBranches starting_branches(const Model& model, double t, const double* x, const double* known) {
    AngleBranches branches(model, t);
    Relations(model, t, x, known, branches).settle();
    return branches;
}

}  // namespace bellcrank
