#include "derivation/equations.hpp"

#include <numbers>
#include <optional>
#include <set>

#include "joints/pole.hpp"

namespace bellcrank::symbolic {

namespace {

void append(std::vector<Expression>& to, const Vector& v) { to.insert(to.end(), {v.x, v.y, v.z}); }

// The second marker of a pair seen from the first.
class PairPose : public SymbolicPose {
  public:
    PairPose(LinkPoses& link_poses, const BodyPlace& first, const BodyPlace& second)
        : poses_of_links_(link_poses), first_(first), second_(second) {}

    const Vector& position() override { return pose().position; }
    const Matrix& rotation() override { return pose().rotation; }
    const QuatT<Expression>& quaternion() override {
        if (!quaternion_) quaternion_ = poses_of_links_.quaternion_between(first_, second_);
        return *quaternion_;
    }

  private:
    const Pose& pose() {
        if (!pose_) pose_ = poses_of_links_.between(first_, second_);
        return *pose_;
    }

    LinkPoses& poses_of_links_;
    BodyPlace first_, second_;
    std::optional<Pose> pose_;
    std::optional<QuatT<Expression>> quaternion_;
};

}  // namespace

Coordinates::Coordinates(const MechanismTree& mechanism, LinkPoses& link_poses)
    : mechanism_(mechanism),
      poses_of_links_(link_poses),
      values_(mechanism.model.coordinates.size()),
      branches_(mechanism.model.coordinates.size()) {}

Expression Coordinates::value(int number) {
    Expression& value = values_[number];
    if (value.graph != nullptr) return value;
    const Coordinate& coordinate = mechanism_.model.coordinates[number];
    value = mechanism_.own_coordinate(coordinate);
    if (value.graph != nullptr) return value;
    if (const int axis = turned_axis(*coordinate.kind); axis >= 0) {
        Expression near[3];
        for (int k = 0; k < 3; ++k) near[k] = branch(number - axis + k);
        PairPose pose(poses_of_links_, mechanism_.marker(coordinate.pair, 0), mechanism_.marker(coordinate.pair, 1));
        return value = coordinate.kind->formula(pose, std::span<const Expression>(near));
    }
    value = formula(number);
    if (coordinate.kind->angular()) {
        Graph& graph = mechanism_.graph;
        branch(number);
        constexpr double kTurn = 2.0 * std::numbers::pi;
        const Expression turns = (branches_[number] - value) / kTurn + 0.5;
        value = value + kTurn * Expression{&graph, graph.apply(Op::floor, turns.ref)};
    }
    return value;
}

Expression Coordinates::branch(int number) {
    Expression& near = branches_[number];
    Graph& graph = mechanism_.graph;
    if (near.graph == nullptr) near = {&graph, graph.symbol("near " + std::to_string(number))};
    return near;
}

QuatT<Expression> Coordinates::quaternion(int pair) {
    return poses_of_links_.quaternion_between(mechanism_.marker(pair, 0), mechanism_.marker(pair, 1));
}

Expression Coordinates::formula(int number) {
    const Coordinate& coordinate = mechanism_.model.coordinates[number];
    const int first = mechanism_.model.data().coordinate_param_start[number];
    std::vector<Expression> params;
    for (size_t i = 0; i < coordinate.params.size(); ++i)
        params.push_back(
            mechanism_.numbers.number("coordinate_params", first + static_cast<int>(i), coordinate.params[i]));
    PairPose pose(poses_of_links_, mechanism_.marker(coordinate.pair, 0), mechanism_.marker(coordinate.pair, 1));
    return coordinate.kind->formula(pose, params);
}

Equations::Equations(std::shared_ptr<const Model> m, std::shared_ptr<const ParametricNumbers> parametric,
                     const std::vector<int>& cut)
    : model(std::move(m)),
      numbers(graph, std::move(parametric)),
      mechanism(graph, *model, numbers, joint_tree(*model, cut)),
      link_poses(mechanism.tree),
      values(mechanism, link_poses),
      tables_(model->functions.size(), -1),
      generalized_(speeds(), constant(graph, 0.0)),
      rotors_(speeds()) {
    rows = mechanism.couplings.closing_rows;
    rows.insert(rows.end(), mechanism.plan.stops.begin(), mechanism.plan.stops.end());
    for (const Coupling& c : mechanism.couplings.found)
        if (model->coordinates[c.coordinate].kind->angular()) coupled_angles.push_back(c.coordinate);
    make_forces();
    make_rows();
    acting_ = generalized_;
    make_inertances();
    for (size_t i = 0; i < values.branches().size(); ++i)
        if (values.branches()[i].graph != nullptr) branch_coordinates.push_back(static_cast<int>(i));
}

std::vector<std::string> Equations::refusals(const Model& model, const std::vector<int>& cut) {
    std::set<std::string> reasons;
    const JointTree plan = joint_tree(model, cut);
    std::set<int> taken;  // joints given by formulas
    for (const TreeJoint& joint : plan.joints) taken.insert(joint.formula);
    const auto need = [&](int coordinate, const char* what) {
        const Coordinate& c = model.coordinates[coordinate];
        if (c.of_formula()) {
            if (c.kind == &kFormulaRow || !taken.contains(c.formula()))
                reasons.insert("it has no loops of joints that are all given by formulas");
            return;
        }
        if (c.kind->formula == nullptr)
            reasons.insert("it has no formula for the coordinate " + c.kind->name + " of " + what);
    };
    const auto need_row = [&](int row, const char* what) {
        for (int t = model.rows[row].term_begin; t < model.rows[row].term_end; ++t)
            need(model.terms[t].coordinate, what);
    };
    for (const int row : plan.closing_rows) need_row(row, "a joint, constraint or drive");
    for (const int row : plan.stops) need_row(row, "a stop");
    for (const Law& law : model.laws) {
        need(law.coordinate, "a force");
        if (law.kind->formula == nullptr)
            reasons.insert(
                "it has no formula for the force law " + law.kind->name +
                (law.kind->holds == nullptr ? "" : ", which holds: friction needs a regularisation_velocity"));
    }
    for (const ConstraintFormula& formula : model.data().formulas.constraints)
        for (const CoordinateSymbols& c : formula.coordinates) need(c.coordinate, "a constraint given by formulas");
    for (const ForceFormula& formula : model.data().formulas.forces)
        for (const CoordinateSymbols& c : formula.coordinates) need(c.coordinate, "a force given by formulas");
    for (const int b : plan.inertances)
        for (int r = model.blocks[b].row_begin; r < model.blocks[b].row_end; ++r) need_row(r, "a motor");
    if (model.bodies() == 0) reasons.insert("there is no body");
    return {reasons.begin(), reasons.end()};
}

std::vector<Ref> Equations::inputs() const {
    std::vector<Ref> in{symbols().time.ref};
    for (const auto* list : {&symbols().coordinates, &symbols().speeds})
        for (const Expression& e : *list) in.push_back(e.ref);
    for (const int i : branch_coordinates) in.push_back(values.branches()[i].ref);
    for (const auto* list : {&symbols().accelerations, &multipliers_, &contact_wrenches_})
        for (const Expression& e : *list) in.push_back(e.ref);
    return in;
}

Form Equations::form(const std::vector<Expression>& outputs) const {
    Form f{refs(outputs), {}};
    f.count = count_operations(graph, f.outputs);
    return f;
}

Form Equations::bodies() {
    std::vector<Expression> out;
    for (int b = 0; b < model->bodies(); ++b) {
        const BodyPlace place = mechanism.on_body(b, {.shift = mechanism.com(b)});
        const Pose pose = link_poses.pose(-1, place);
        out.insert(out.end(), pose.rotation.m, pose.rotation.m + 9);
        append(out, pose.position);
        const Vector w = place.link < 0 ? zero_vector(graph) : link_poses.angular_velocities()[place.link];
        append(out, matrix(graph, transpose(place.at.rotation)) * w);
        const Vector& p = pose.position;
        for (const Expression& e : time_derivatives(symbols(), {p.x, p.y, p.z}, false)) out.push_back(e);
    }
    return form(out);
}

Form Equations::body_rates() {
    const Form first = bodies();
    std::vector<Expression> velocities;
    for (int b = 0; b < model->bodies(); ++b)
        for (int k = 12; k < 18; ++k) velocities.push_back({&graph, first.outputs[18 * b + k]});
    return form(time_derivatives(symbols(), velocities, true));
}

std::vector<Expression> Equations::gradient(Expression rate) {
    const std::vector<Ref> d =
        derivative(graph, std::span(&rate.ref, 1), refs(symbols().speeds), DerivativeForm::reverse);
    std::vector<Expression> out;
    for (const Ref r : d) out.push_back({&graph, r});
    return out;
}

void Equations::make_rows() {
    std::vector<int> block_of(model->rows.size());
    for (size_t b = 0; b < model->blocks.size(); ++b)
        for (int r = model->blocks[b].row_begin; r < model->blocks[b].row_end; ++r) block_of[r] = static_cast<int>(b);
    for (const int r : rows) {
        if (model->formula_of_block[block_of[r]] >= 0) {
            add_formula_row(r, block_of[r]);
            continue;
        }
        const Row& row = model->rows[r];
        note_component(row);
        Expression C = -numbers.number("row_constant", r, row.constant) + sum_of_terms(row);
        if (row.function >= 0) C = C - function_of_time(row.function);
        add_row(r, C, time_derivatives(symbols(), {C}, false)[0]);
    }
    for (size_t i = 0; i < J_.size(); ++i)
        for (int j = 0; j < speeds(); ++j)
            if (!is_zero(J_[i][j])) row_places.push_back({static_cast<int>(i), j});
}

void Equations::note_component(const Row& row) {
    if (row.term_begin == row.term_end) return;
    const Coordinate& c = model->coordinates[model->terms[row.term_begin].coordinate];
    if (c.kind->name.size() == 2 && c.kind->name[0] == 'e') components.push_back({static_cast<int>(C_.size()), c.pair});
}

Form Equations::angles() {
    std::vector<Expression> out;
    for (const int c : coupled_angles) out.push_back(values.value(c));
    return form(out);
}

Form Equations::quaternions() {
    std::vector<Expression> out;
    for (const Component& c : components) {
        const QuatT<Expression> q = values.quaternion(c.pair);
        out.insert(out.end(), {q.w, q.x, q.y, q.z});
    }
    return form(out);
}

Expression Equations::sum_of_terms(const Row& row) {
    Expression sum = constant(graph, 0.0);
    for (int t = row.term_begin; t < row.term_end; ++t)
        sum = sum + numbers.number("term_coefficient", t, model->terms[t].coefficient) *
                        values.value(model->terms[t].coordinate);
    return sum;
}

void Equations::add_row(int row, Expression error, Expression rate) {
    C_.push_back(error);
    Cdot_.push_back(rate);
    gamma_.push_back(time_derivatives(symbols(), {rate}, false)[0]);
    J_.push_back(gradient(rate));
    multipliers_.push_back({&graph, graph.symbol("multiplier of " + std::to_string(row))});
}

// A compliant row is an inertia 1/compliance along it:  M += gᵀ g/c,  b −= gᵀ γ/c.
void Equations::make_inertances() {
    for (const int block : mechanism.plan.inertances)
        for (int r = model->blocks[block].row_begin; r < model->blocks[block].row_end; ++r) {
            const Row& row = model->rows[r];
            const Expression value = sum_of_terms(row);
            const Expression rate = time_derivatives(symbols(), {value}, false)[0];
            const Expression gamma = time_derivatives(symbols(), {rate}, false)[0];
            const std::vector<Expression> g = gradient(rate);
            const Expression inertia = 1.0 / numbers.number("block_compliance", block, model->blocks[block].compliance);
            for (int i = 0; i < speeds(); ++i) {
                const Expression gi = inertia * g[i];
                if (is_zero(gi)) continue;
                generalized_[i] = generalized_[i] - gi * gamma;
                for (int j = 0; j <= i; ++j)
                    if (!is_zero(g[j])) rotors_.at(i, j) = rotors_.has(i, j) ? rotors_.at(i, j) + gi * g[j] : gi * g[j];
            }
        }
}

LowerTriangle Equations::mass_lower() {
    LowerTriangle M = composite_mass_matrix(mechanism.tree);
    add_rotors(M);
    return M;
}

void Equations::add_rotors(LowerTriangle& M) const {
    for (int i = 0; i < M.size(); ++i)
        for (int j = 0; j <= i; ++j)
            if (rotors_.has(i, j)) M.at(i, j) = M.has(i, j) ? M.at(i, j) + rotors_.at(i, j) : rotors_.at(i, j);
}

// Q − c: generalized forces less what the motion at u̇ = 0 needs.
std::vector<Expression> Equations::known_forces() {
    const LinkTree& tree = mechanism.tree;
    std::vector<Expression> b = inverse_dynamics(tree, motion_at_rest(tree), true, applied_);
    for (int i = 0; i < speeds(); ++i) b[i] = generalized_[i] - b[i];
    return b;
}

// Takes composite or articulated inertias, whichever is shorter.
std::vector<Expression> Equations::accelerations_under(const std::vector<Expression>& efforts) {
    const LinkTree& tree = mechanism.tree;
    const auto with_efforts = [&](std::vector<Expression> forces) {
        for (size_t i = 0; i < efforts.size(); ++i) forces[i] = forces[i] + efforts[i];
        return forces;
    };
    const std::vector<Expression> best = solve_tip_first(mass_lower(), with_efforts(known_forces()));
    method = "composite";
    if (!tree.is_simple() || !mechanism.plan.inertances.empty()) return best;
    const std::vector<Expression> other = articulated_accelerations(tree, with_efforts(generalized_), applied_);
    if (form(other).count.total() >= form(best).count.total()) return best;
    method = "articulated";
    return other;
}

Form Equations::accelerations() { return form(accelerations_under({})); }

Form Equations::mass_matrix() {
    const LowerTriangle M = mass_lower();
    mass_places.clear();
    std::vector<Expression> out;
    for (int i = 0; i < M.size(); ++i)
        for (int j = 0; j <= i; ++j)
            if (M.has(i, j)) {
                mass_places.push_back({i, j});
                out.push_back(M.at(i, j));
            }
    for (const Expression& e : known_forces()) out.push_back(e);
    return form(out);
}

Form Equations::system() {
    Form f = mass_matrix();
    for (const Entry& p : row_places) f.outputs.push_back(J_[p.row][p.column].ref);
    for (const Expression& e : gamma_) f.outputs.push_back(e.ref);
    f.count = count_operations(graph, f.outputs);
    return f;
}

Form Equations::closure() {
    std::vector<Expression> out = C_;
    for (const Expression& e : constraint_drifts()) out.push_back(e);
    for (const Entry& p : row_places) out.push_back(J_[p.row][p.column]);
    return form(out);
}

Form Equations::inverse() { return form(inverse_efforts()); }

std::vector<Expression> Equations::inverse_efforts() {
    const LinkTree& tree = mechanism.tree;
    std::vector<Expression> Q = inverse_dynamics(tree, full_motion(tree), true, applied_);
    for (int i = 0; i < speeds(); ++i) {
        Q[i] = Q[i] - generalized_[i];
        for (int j = 0; j < speeds(); ++j)
            if (const int r = std::max(i, j), c = std::min(i, j); rotors_.has(r, c))
                Q[i] = Q[i] + rotors_.at(r, c) * symbols().accelerations[j];
    }
    return Q;
}

// r = M u̇ − b − Jᵀ λ and s = J u̇ + γ; without the entries of J, for Jᵀ λ is the gradient of λᵀ Ċ by u, and s is C̈.
std::vector<Expression> Equations::residuals() {
    std::vector<Expression> out = inverse_efforts();
    Expression power = constant(graph, 0.0);
    for (size_t i = 0; i < Cdot_.size(); ++i) power = power + multipliers_[i] * Cdot_[i];
    const std::vector<Expression> exerted = gradient(power);
    for (int j = 0; j < speeds(); ++j) out[j] = out[j] - exerted[j];
    const std::vector<Expression> closing = time_derivatives(symbols(), Cdot_, true);
    out.insert(out.end(), closing.begin(), closing.end());
    return out;
}

// A ball is displaced by a rotation vector in its own axes, so that a coordinate moves with a displacement as it does
// with a speed.
std::vector<Expression> Equations::by_motion(const std::vector<Expression>& of) {
    const Symbols& s = symbols();
    std::vector<Expression> on = s.coordinates;
    on.insert(on.end(), s.speeds.begin(), s.speeds.end());
    const std::vector<Ref> d = derivative(graph, refs(of), refs(on));
    const std::vector<Ref> per_speed = rates_by_speeds();
    const int nq = coordinates(), nv = speeds();
    std::vector<Expression> out;
    for (size_t i = 0; i < of.size(); ++i) {
        for (int j = 0; j < nv; ++j) {
            Expression sum = constant(graph, 0.0);
            for (int k = 0; k < nq; ++k)
                sum = sum + Expression{&graph, d[i * on.size() + k]} * Expression{&graph, per_speed[k * nv + j]};
            out.push_back(sum);
        }
        for (int j = 0; j < nv; ++j) out.push_back({&graph, d[i * on.size() + nq + j]});
    }
    return out;
}

// ∂q̇/∂u
std::vector<Ref> Equations::rates_by_speeds() {
    return derivative(graph, refs(symbols().coordinate_rates), refs(symbols().speeds), DerivativeForm::forward);
}

Form Equations::linearization() { return form(by_motion(residuals())); }

Form Equations::linearized_rows() {
    std::vector<Expression> out = by_motion(Cdot_);
    const int nq = coordinates(), nv = speeds();
    std::vector<Expression> A;
    for (const Ref r : rates_by_speeds()) A.push_back({&graph, r});
    out.insert(out.end(), A.begin(), A.end());
    const std::vector<Expression> moved = by_motion(symbols().coordinate_rates);
    const std::vector<Expression> turned = time_derivatives(symbols(), A, false);
    for (int i = 0; i < nq; ++i)
        for (int j = 0; j < nv; ++j) out.push_back(moved[2 * nv * i + j] - turned[nv * i + j]);
    return form(out);
}

// Coordinates and speeds of the joints stay fixed; then the rows that close loops, and their rates.
Form Equations::parameters() {
    std::vector<Expression> of = residuals(), out;
    of.insert(of.end(), C_.begin(), C_.end());
    of.insert(of.end(), Cdot_.begin(), Cdot_.end());
    for (const Ref r : derivative(graph, refs(of), numbers.parameters())) out.push_back({&graph, r});
    return form(out);
}

}  // namespace bellcrank::symbolic
