#include "formulations/symbolic.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "expression/lower.hpp"
#include "formulations/symbolic/runner.hpp"
#include "matrices/least_squares.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

using symbolic::Equations;
using symbolic::Form;

std::unique_ptr<Equations> equations_of(const std::shared_ptr<const Model>& model, const SymbolicOptions& options) {
    refuse(Equations::refusals(*model, options.cut));
    return std::make_unique<Equations>(model, options.numbers, options.cut);
}

JointSpace space_of(const Equations& equations) {
    const symbolic::MechanismTree& mechanism = equations.mechanism;
    JointSpace space{{mechanism.joints.begin(), mechanism.joints.end()},
                     equations.coordinates(),
                     equations.speeds(),
                     equations.rows,
                     {},
                     equations.coupled_angles};
    for (const int block : mechanism.plan.inertances)
        for (int r = equations.model->blocks[block].row_begin; r < equations.model->blocks[block].row_end; ++r)
            space.rotor_rows.push_back(r);
    return space;
}

Form derived(Equations& e, const std::string& name) {
    using Changing = Equations::Changing;
    for (const auto& [what, of] :
         {std::pair{"residuals ", Changing::residuals}, {"rows ", Changing::rows}, {"bodies ", Changing::bodies}}) {
        if (!name.starts_with(what)) continue;
        const std::string_view how = std::string_view(name).substr(std::string_view(what).size());
        if (how == "along") return e.along(of, false);
        if (how == "along parameters") return e.along(of, true);
        if (how == "gradient") return e.gradient(of, false);
        if (how == "gradient by parameters") return e.gradient(of, true);
    }
    if (name == "accelerations" && e.is_free()) return e.accelerations();
    if (name == "linearization") return e.linearization();
    if (name == "linearized_rows") return e.linearized_rows();
    if (name == "parameters") return e.parameters();
    if (name == "system") return e.system();
    if (name == "closure") return e.closure();
    if (name == "angles") return e.angles();
    if (name == "quaternions") return e.quaternions();
    if (name == "bodies") return e.bodies();
    if (name == "body_rates") return e.body_rates();
    if (name == "inverse") return e.inverse();
    if (name == "mass_matrix") return e.mass_matrix();
    throw std::invalid_argument("symbolic: no form '" + name + "' of this model");
}

}  // namespace

Symbolic::Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options)
    : Symbolic(model, options, equations_of(model, options)) {}

Symbolic::Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options,
                   std::unique_ptr<Equations> equations)
    : JointSystem("symbolic", std::move(model), options, space_of(*equations)), equations_(std::move(equations)) {
    const int n = tangent_size(), m = static_cast<int>(closing_rows().size());
    std::vector<int> speaking;
    for (const auto& [row, column] : equations_->row_places)
        if (speaking.empty() || speaking.back() != row) speaking.push_back(row);
    closure_.resize(n, m, std::move(speaking));
    still_.setZero(n);
    rate_.setZero(m);
    lambda_.assign(m, 0.0);
    contact_wrenches_.assign(6 * equations_->touching.size(), 0.0);
    exerted_.assign(contact_wrenches_.empty() ? 0 : kTwist * (model_->bodies() + 1), 0.0);
    statistics_.dropped_rows = static_cast<int>(redundant().size());
}

Symbolic::~Symbolic() = default;

Symbolic::Runner& Symbolic::runner(const std::string& name) {
    std::unique_ptr<Runner>& made = runners_[name];
    if (made == nullptr) {
        const Form form = derived(*equations_, name);
        const symbolic::Numbers& numbers = equations_->numbers;
        std::vector<Ref> inputs = equations_->inputs();
        inputs.insert(inputs.end(), form.further.begin(), form.further.end());
        if (numbers.parameters().empty()) {
            made = std::make_unique<Runner>(lower(equations_->graph, form.outputs, inputs), form.count);
        } else {
            LoweredParts parts = lower(equations_->graph, form.outputs, inputs, numbers.parameters());
            const OperationCount count = count_operations(parts.main);
            made = std::make_unique<Runner>(std::move(parts.main), count, &parts.prologue);
            made->set(numbers.values());
        }
    }
    return *made;
}

CompiledProgram& Symbolic::program(const std::string& name) { return runner(name).program; }
OperationCount Symbolic::operations(const std::string& name) { return runner(name).count; }

// Inputs: t, q, u, where angles were last, u̇, λ, what contacts exert.
const double* Symbolic::run(const std::string& name, double t, const double* x, const double* u, const double* udot) {
    Runner& r = runner(name);
    fill(r, t, x, u, udot);
    r.program.evaluate(r.in.data(), r.out.data(), r.work.data());
    return r.out.data();
}

double* Symbolic::fill(Runner& r, double t, const double* x, const double* u, const double* udot) const {
    const int nq = equations_->coordinates(), nv = equations_->speeds();
    double* in = r.in.data();
    in[0] = t;
    std::copy_n(x, nq, in + 1);
    std::copy_n(u, nv, in + 1 + nq);
    double* rest = in + 1 + nq + nv;
    for (const int c : equations_->branch_coordinates) *rest++ = branches_.reference(c);
    if (udot != nullptr) std::copy_n(udot, nv, rest);
    rest = std::copy(lambda_.begin(), lambda_.end(), rest + nv);
    return std::copy(contact_wrenches_.begin(), contact_wrenches_.end(), rest);
}

void Symbolic::find_contact_forces(double t, const double* x, const double* u) {
    if (contact_wrenches_.empty()) return;
    to_records(t, x, u, poses_.data(), twists_.data());
    std::fill(exerted_.begin(), exerted_.end(), 0.0);
    contacts_.add_forces(poses_.data(), twists_.data(), exerted_.data());
    double* out = contact_wrenches_.data();
    for (const int b : equations_->touching) {
        const double* f = exerted_.data() + kTwist * b;
        const Vec3 moment = rotation_matrix(pose_rotation(poses_.data(), b)) * load(f + 4);
        for (const double value : {moment.x, moment.y, moment.z, f[0], f[1], f[2]}) *out++ = value;
    }
}

void Symbolic::accelerate_held(double t, const double* x, const double* u, double* udot) {
    const int n = tangent_size();
    find_contact_forces(t, x, u);
    if (is_open()) {
        closure_.lambda.setZero();
        std::fill(lambda_.begin(), lambda_.end(), 0.0);
        statistics_.dropped_rows = static_cast<int>(redundant().size());
        std::copy_n(run("accelerations", t, x, u), n, udot);
        return;
    }
    factor_at(t, x, u);
    closure_.gamma = -closure_.gamma;
    closure_.solve(closure_.b, closure_.gamma);
    std::copy_n(closure_.a.data(), n, udot);
    std::copy(closure_.lambda.begin(), closure_.lambda.end(), lambda_.begin());
}

void Symbolic::factor_at(double t, const double* x, const double* u) {
    const double* out = run("system", t, x, u);
    for (const auto& [i, j] : equations_->mass_places) closure_.M(i, j) = *out++;
    for (int i = 0; i < tangent_size(); ++i) closure_.b[i] = *out++;
    for (const auto& [i, j] : equations_->row_places) closure_.J(i, j) = *out++;
    for (Eigen::Index i = 0; i < closure_.gamma.size(); ++i) closure_.gamma[i] = *out++;
    leave_out_rows();
    factor();
    if (differential_ == nullptr) return;
    stands_at_.assign(1, t);
    stands_at_.insert(stands_at_.end(), x, x + configuration_size());
    stands_with_.resize(closing_rows().size());
    for (size_t i = 0; i < stands_with_.size(); ++i) stands_with_[i] = is_left_out(i);
}

void Symbolic::stand_at(double t, const double* x, const double* u) {
    const auto as_before = [&] {
        for (size_t i = 0; i < stands_with_.size(); ++i)
            if (stands_with_[i] != static_cast<std::uint8_t>(is_left_out(i))) return false;
        return true;
    };
    if (stands_at_.empty() || stands_at_[0] != t || !std::equal(stands_at_.begin() + 1, stands_at_.end(), x) ||
        !as_before())
        factor_at(t, x, u);
}

void Symbolic::leave_out_rows() {
    for (Eigen::Index i = 0; i < closure_.J.rows(); ++i)
        if (is_left_out(i)) closure_.J.row(i).setZero();
}

// What is found of each closing row, `width` numbers; of those left out nothing.
void Symbolic::copy_rows(const double* from, int width, double* out) const {
    for (size_t i = 0; i < closing_rows().size(); ++i, from += width, out += width) {
        if (is_left_out(i))
            std::fill_n(out, width, 0.0);
        else
            std::copy_n(from, width, out);
    }
}

void Symbolic::factor() {
    closure_.factor(trusted_pivot_);
    ++statistics_.factorizations;
    statistics_.dropped_rows = static_cast<int>(dropped_rows().size());
    statistics_.smallest_pivot = closure_.smallest_pivot();
    statistics_.largest_dropped = closure_.largest_dropped();
    statistics_.smallest_inertia = closure_.smallest_inertia();
}

std::vector<int> Symbolic::dropped_rows() {
    std::vector<int> out = redundant();
    for (const int r : closure_.dropped())
        if (!is_left_out(r)) out.push_back(closing_rows()[r]);
    return out;
}

// Leaves C, its partial time derivative and J in closure_ as well.
void Symbolic::find_errors(double t, const double* x) {
    stands_at_.clear();
    const double* out = run("closure", t, x, at_rest_.data());
    for (Eigen::Index i = 0; i < closure_.C.size(); ++i) closure_.C[i] = *out++;
    for (Eigen::Index i = 0; i < closure_.C.size(); ++i) closure_.drift[i] = *out++;
    for (const auto& [i, j] : equations_->row_places) closure_.J(i, j) = *out++;
    leave_out_rows();
    std::copy(closure_.C.begin(), closure_.C.end(), errors_.begin());
}

void Symbolic::find_row_rates(double, const double*, const double* u) {
    const Eigen::Map<const Eigen::VectorXd> velocity(u, tangent_size());
    Eigen::Map<Eigen::VectorXd> rates(errors_.data(), closure_.drift.size());
    rates = closure_.drift;
    rates.noalias() += closure_.J * velocity;
}

const double* Symbolic::step() {
    still_.setZero();
    rate_ = -Eigen::Map<const Eigen::VectorXd>(errors_.data(), rate_.size());
    closure_.solve(still_, rate_);
    return closure_.a.data();
}

void Symbolic::inverse_dynamics(double t, const double* x, const double* u, const double* udot, double* efforts) {
    find_contact_forces(t, x, u);
    std::copy_n(run("inverse", t, x, u, udot), tangent_size(), efforts);
}

void Symbolic::mass_matrix(double t, const double* x, const double* u, double* M, double* b) {
    const int n = tangent_size();
    find_contact_forces(t, x, u);
    const double* out = run("mass_matrix", t, x, u);
    std::fill_n(M, n * n, 0.0);
    for (const auto& [i, j] : equations_->mass_places) M[n * i + j] = M[n * j + i] = *out++;
    std::copy_n(out, n, b);
}

// The size of closing rows in terms of free bodies is what their pivots are measured by at first.
void Symbolic::from_records(double t, const double* poses, const double* twists, bool continued, double* x, double* u) {
    JointSystem::from_records(t, poses, twists, continued, x, u);
    if (closing_rows().empty()) return;
    const std::vector<double> size = reactions_.row_sizes(t, poses);
    for (size_t i = 0; i < closing_rows().size(); ++i)
        closure_.natural[static_cast<Eigen::Index>(i)] = size[closing_rows()[i]];
}

void Symbolic::follow_derived_angles(double t, const double* x) {
    if (derived_angles().empty()) return;
    const double* out = run("angles", t, x, at_rest_.data());
    for (const int angle : derived_angles()) branches_.set(angle, *out++);
}

void Symbolic::place_bodies(double t, const double* x, const double* u, double* poses, double* twists) {
    joints_.follow_formulas(x, branches_);
    const double* out = run("bodies", t, x, u);
    for (int b = 0; b < model_->bodies(); ++b, out += 18) {
        double *p = poses + kPose * b, *v = twists + kTwist * b;
        Mat3 R;
        std::copy_n(out, 9, R.m);
        store(p, load(out + 9));
        p[3] = v[3] = v[7] = 0.0;
        const Quat& principal = model_->principal_rotation[b];
        store(p + 4, normalized(quaternion_from_matrix(R) * principal));
        store(v, load(out + 15));
        store(v + 4, transpose_times(rotation_matrix(principal), load(out + 12)));
    }
    double *p = poses + kPose * model_->ground(), *v = twists + kTwist * model_->ground();
    for (int k = 0; k < kPose; ++k) p[k] = k == 4 ? 1.0 : 0.0;
    std::fill_n(v, kTwist, 0.0);
}

void Symbolic::body_accelerations(double t, const double* x, const double* u, const double* udot, double* records) {
    const double* out = run("body_rates", t, x, u, udot);
    for (int b = 0; b < model_->bodies(); ++b, out += 6) {
        double* r = records + kTwist * b;
        store(r, load(out + 3));
        store(r + 4, transpose_times(rotation_matrix(model_->principal_rotation[b]), load(out)));
        r[3] = r[7] = 0.0;
    }
    std::fill_n(records + kTwist * model_->ground(), kTwist, 0.0);
}

void Symbolic::load_known_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_reactions(t, x, u, udot);
    const symbolic::MechanismTree& mechanism = equations_->mechanism;
    // A compliant row exerts −C̈/compliance.
    if (!mechanism.plan.inertances.empty()) {
        const std::vector<double>& second = reactions_.second_derivatives();
        for (const int block : mechanism.plan.inertances)
            for (int r = model_->blocks[block].row_begin; r < model_->blocks[block].row_end; ++r)
                reactions_.loads().multipliers[r] = -second[r] / model_->blocks[block].compliance;
    }
    const std::vector<double>& turns = turns_of_components(t, x, u);
    for (size_t i = 0; i < closing_rows().size(); ++i)
        reactions_.loads().multipliers[closing_rows()[i]] = turns[i] * lambda_[i];
}

// Multipliers follow from accelerations by the generated system.
void Symbolic::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_known_multipliers(t, x, u, udot);
    if (statistics_.dropped_rows == 0 && !is_coupled()) return reactions_.spread_over_tree();
    for (const int row : closing_rows()) reactions_.loads().multipliers[row] = 0.0;
    reactions_.spread_least_norm(exerting_rows());
}

std::vector<int> Symbolic::exerting_rows() const {
    const symbolic::Couplings& couplings = equations_->mechanism.couplings;
    std::vector<int> rigid;
    for (const JointMap& map : joints_.joints()) rigid.insert(rigid.end(), map.rows.begin(), map.rows.end());
    for (const symbolic::Coupling& c : couplings.found) rigid.push_back(c.row);
    rigid.insert(rigid.end(), couplings.redundant.begin(), couplings.redundant.end());
    for (size_t i = 0; i < closing_rows().size(); ++i)
        if (!is_left_out(i)) rigid.push_back(closing_rows()[i]);
    return rigid;
}

// Quaternions along the tree and those between the records of bodies may be each other's opposite.
const std::vector<double>& Symbolic::turns_of_components(double t, const double* x, const double* u) {
    turns_.assign(closing_rows().size(), 1.0);
    if (equations_->components.empty()) return turns_;
    const double* q = run("quaternions", t, x, u);
    for (const Equations::Component& c : equations_->components) {
        const MarkerPair& pair = model_->pairs[c.pair];
        const Quat one = pose_rotation(poses_.data(), pair.body[0]) * pair.rotation[0];
        const Quat between = conjugate(one) * (pose_rotation(poses_.data(), pair.body[1]) * pair.rotation[1]);
        const double along = q[0] * between.w + q[1] * between.x + q[2] * between.y + q[3] * between.z;
        if (along < 0.0) turns_[c.row] = -1.0;
        q += 4;
    }
    return turns_;
}

// The accelerations and factors of M and the rows at a state.
std::vector<double> Symbolic::factored_at(double t, const double* x, const double* u) {
    const int n = tangent_size();
    std::vector<double> udot(n), b(n);
    accelerate(t, x, u, udot.data());
    if (is_open()) {
        Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(n, n);
        mass_matrix(t, x, u, M.data(), b.data());
        closure_.M = M;
        closure_.J.setZero();
        factor();
    }
    return udot;
}

// From M δu̇ − Jᵀ δλ = δτ − δr and J δu̇ = −δs, the residuals' changes at fixed u̇ and λ.
void Symbolic::linearize(double t, const double* x, const double* u, double* out, double* row_changes) {
    const int n = tangent_size(), m = static_cast<int>(equations_->rows.size());
    const std::vector<double> udot = factored_at(t, x, u);
    const double* residual = run("linearization", t, x, u, udot.data());
    copy_rows(residual + 2 * n * n, 2 * n, row_changes);
    for (int column = 0; column < 3 * n; ++column) {
        Eigen::VectorXd force(n), rows(m);
        for (int i = 0; i < n; ++i)
            force[i] = column < 2 * n ? -residual[2 * n * i + column] : (i == column - 2 * n ? 1.0 : 0.0);
        for (int i = 0; i < m; ++i) rows[i] = column < 2 * n ? -residual[2 * n * (n + i) + column] : 0.0;
        closure_.solve(force, rows);
        for (int i = 0; i < n; ++i) out[3 * n * i + column] = closure_.a[i];
    }
}

// Coordinates move by δq = A ξ with a displacement, and q̇ = A u: so A ξ̇ = A δu + ((∂q̇/∂q) A − Ȧ) ξ. Only where speeds
// are no rates of coordinates, as those of a ball, is there a second part.
void Symbolic::linearize_rows(double t, const double* x, const double* u, double* rows, double* chart) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const int n = tangent_size(), nq = equations_->coordinates(), m = static_cast<int>(equations_->rows.size());
    const double* out = run("linearized_rows", t, x, u);
    copy_rows(out, 2 * n, rows);
    out += 2 * n * m;
    const Eigen::Map<const Rows> A(out, nq, n), rest(out + nq * n, nq, n);
    Eigen::Map<Rows>(chart, n, n) = least_squares(A, rest);
}

void Symbolic::parameter_derivatives(double t, const double* x, const double* u, double* out, double* rows) {
    const int n = tangent_size(), m = static_cast<int>(equations_->rows.size());
    const auto count = static_cast<int>(equations_->numbers.parameters().size());
    const std::vector<double> udot = factored_at(t, x, u);
    const double* residual = run("parameters", t, x, u, udot.data());
    for (int level = 0; level < 3; ++level)
        copy_rows(residual + count * (n + level * m), count, rows + count * level * m);
    for (int column = 0; column < count; ++column) {
        Eigen::VectorXd force(n), closing(m);
        for (int i = 0; i < n; ++i) force[i] = -residual[count * i + column];
        for (int i = 0; i < m; ++i) closing[i] = -residual[count * (n + i) + column];
        closure_.solve(force, closing);
        for (int i = 0; i < n; ++i) out[count * i + column] = closure_.a[i];
    }
}

}  // namespace bellcrank
