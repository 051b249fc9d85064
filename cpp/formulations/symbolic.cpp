#include "formulations/symbolic.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "expression/lower.hpp"
#include "formulations/symbolic/runner.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

using symbolic::Equations;
using symbolic::Form;

// However doubtful a configuration, a row this independent is kept.
constexpr double kMostDoubtfulPivot = 1e-3;

std::shared_ptr<const Model> accepted(std::shared_ptr<const Model> model) {
    std::string reasons;
    for (const std::string& reason : Equations::refusals(*model)) reasons += (reasons.empty() ? "" : "; ") + reason;
    if (!reasons.empty()) throw std::invalid_argument(reasons);
    return model;
}

Form derived(Equations& e, const std::string& name) {
    if (name == "accelerations" && e.is_free()) return e.accelerations();
    if (name == "linearization") return e.linearization();
    if (name == "parameters") return e.parameters();
    if (name == "system") return e.system();
    if (name == "closure") return e.closure();
    if (name == "bodies") return e.bodies();
    if (name == "body_rates") return e.body_rates();
    if (name == "inverse") return e.inverse();
    if (name == "mass_matrix") return e.mass_matrix();
    if (name == "literal") return e.literal();
    if (name == "literal_accelerations" && e.is_free()) return e.literal_accelerations();
    throw std::invalid_argument("symbolic: no form '" + name + "' of this model");
}

}  // namespace

Symbolic::Symbolic(std::shared_ptr<const Model> model, const SymbolicOptions& options)
    : model_(accepted(std::move(model))),
      options_(options),
      equations_(model_, options.numbers),
      branches_(*model_),
      rows_(*model_, branches_) {
    const int n = equations_.speeds(), m = static_cast<int>(equations_.rows.size());
    std::vector<int> speaking;
    for (const auto& [row, column] : equations_.row_places)
        if (speaking.empty() || speaking.back() != row) speaking.push_back(row);
    closure_.resize(n, m, std::move(speaking));
    still_.setZero(n);
    rate_.setZero(m);
    trusted_pivot_ = options_.rank_tolerance;
    speeds_.assign(n, 0.0);
    step_.assign(n, 0.0);
    lambda_.assign(m, 0.0);
    const int records = kPose * (model_->bodies() + 1);
    for (auto* v : {&poses_, &twists_, &rates_, &force_}) v->assign(records, 0.0);
    row_lambda_.assign(rows_.rows(), 0.0);
    last_rotation_.assign(model_->bodies(), {1, 0, 0, 0});
    turn_coordinates_.assign(equations_.coordinates(), -1);
    for (size_t c = 0; c < model_->coordinates.size(); ++c) {
        const Expression own = equations_.mechanism.own_coordinate(model_->coordinates[c]);
        if (!model_->coordinates[c].kind->angular) continue;
        bool is_ours = false;
        for (int i = 0; i < equations_.coordinates() && own.graph != nullptr; ++i) {
            if (equations_.symbols().coordinates[i].ref != own.ref) continue;
            turn_coordinates_[i] = static_cast<int>(c);
            is_ours = true;
        }
        has_other_angles_ = has_other_angles_ || !is_ours;
    }
    for (const symbolic::JointMap& map : equations_.mechanism.joints) {
        if (map.ball >= 0) {
            quaternions_.push_back(map.ball);
            ball_speeds_.push_back(map.ball_speed);
        }
        for (size_t k = 0; k < map.own.size(); ++k)
            if (const int c = model_->formula_joints[map.joint.formula].coordinate[k]; c >= 0)
                formula_coordinates_.emplace_back(map.own[k], c);
    }
}

Symbolic::~Symbolic() = default;

Symbolic::Runner& Symbolic::runner(const std::string& name) {
    std::unique_ptr<Runner>& made = runners_[name];
    if (made == nullptr) {
        const Form form = derived(equations_, name);
        const symbolic::Numbers& numbers = equations_.numbers;
        if (numbers.parameters().empty()) {
            made = std::make_unique<Runner>(lower(equations_.graph, form.outputs, equations_.inputs()), form.count);
        } else {
            LoweredParts parts = lower(equations_.graph, form.outputs, equations_.inputs(), numbers.parameters());
            const OperationCount count = count_operations(parts.main);
            made = std::make_unique<Runner>(std::move(parts.main), count);
            made->settle(parts.prologue, numbers.values());
        }
    }
    return *made;
}

CompiledProgram& Symbolic::program(const std::string& name) { return runner(name).program; }
OperationCount Symbolic::operations(const std::string& name) { return runner(name).count; }

// Inputs: t, q, u, where angles were last, u̇, λ.
const double* Symbolic::run(const std::string& name, double t, const double* x, const double* u, const double* udot) {
    Runner& r = runner(name);
    const int nq = equations_.coordinates(), nv = equations_.speeds();
    double* in = r.in.data();
    in[0] = t;
    std::copy_n(x, nq, in + 1);
    std::copy_n(u, nv, in + 1 + nq);
    double* rest = in + 1 + nq + nv;
    for (const int c : equations_.branch_coordinates) *rest++ = branches_.reference(c);
    if (udot != nullptr) std::copy_n(udot, nv, rest);
    std::copy(lambda_.begin(), lambda_.end(), rest + nv);
    r.program.evaluate(in, r.out.data(), r.work.data());
    return r.out.data();
}

void Symbolic::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    const int n = tangent_size();
    if (equations_.is_free()) {
        std::copy_n(run("accelerations", t, x, u), n, udot);
        return;
    }
    load_system(t, x, u);
    closure_.gamma = -closure_.gamma;
    closure_.solve(closure_.b, closure_.gamma);
    std::copy_n(closure_.a.data(), n, udot);
    std::copy(closure_.lambda.begin(), closure_.lambda.end(), lambda_.begin());
}

void Symbolic::load_system(double t, const double* x, const double* u) {
    const double* out = run("system", t, x, u);
    for (const auto& [i, j] : equations_.mass_places) closure_.M(i, j) = *out++;
    for (int i = 0; i < tangent_size(); ++i) closure_.b[i] = *out++;
    for (const auto& [i, j] : equations_.row_places) closure_.J(i, j) = *out++;
    for (Eigen::Index i = 0; i < closure_.gamma.size(); ++i) closure_.gamma[i] = *out++;
    factor();
}

void Symbolic::factor() {
    closure_.factor(trusted_pivot_);
    ++statistics_.factorizations;
    statistics_.dropped_rows = static_cast<int>(closure_.dropped().size());
    statistics_.smallest_pivot = closure_.smallest_pivot();
}

std::vector<int> Symbolic::dropped_rows() const {
    std::vector<int> out;
    for (const int r : closure_.dropped()) out.push_back(equations_.rows[r]);
    return out;
}

// C, its partial time derivative and J; the largest |C| of rows that are not dropped.
double Symbolic::load_closure(double t, const double* x) {
    const double* out = run("closure", t, x, speeds_.data());
    double largest = -1.0;
    for (Eigen::Index i = 0; i < closure_.C.size(); ++i) closure_.C[i] = *out++;
    for (Eigen::Index i = 0; i < closure_.C.size(); ++i) closure_.drift[i] = *out++;
    for (const auto& [i, j] : equations_.row_places) closure_.J(i, j) = *out++;
    for (Eigen::Index i = 0; i < closure_.C.size(); ++i) {
        const double error = std::abs(closure_.C[i]);
        if (closure_.is_dropped(static_cast<int>(i)) || error <= largest) continue;
        largest = error;
        worst_row_ = equations_.rows[i];
    }
    return std::max(largest, 0.0);
}

bool Symbolic::project(double t, double* x, double* u) {
    if (equations_.is_free()) return true;
    trusted_pivot_ = options_.rank_tolerance;
    const double error = correct_positions(t, x);
    correct_velocities(u);
    return error <= std::max(1e3 * options_.position_tolerance, 1e-8);
}

void Symbolic::project_stage(double t, double* x, double* u) {
    if (equations_.is_free()) return;
    trusted_pivot_ = options_.rank_tolerance;
    load_system(t, x, u);
    if (statistics_.smallest_pivot >= options_.stage_pivot) return;
    correct_positions(t, x);
    correct_velocities(u);
}

// Where rows are dependent up to an angle θ, an error C costs the acceleration C/θ².
double Symbolic::tolerance() const { return options_.position_tolerance * std::min(1.0, statistics_.smallest_pivot); }

// Newton's method along M⁻¹Jᵀ, the least motion in the norm of the kinetic energy; ends with J and factors at x. A
// configuration that is wrong by ε tells nothing about rows that are dependent up to an angle of that size: near a
// singular configuration such rows are dropped as if it were singular.
double Symbolic::correct_positions(double t, double* x) {
    double error = 0.0;
    for (int i = 0; i <= options_.max_corrections; ++i) {
        load_system(t, x, speeds_.data());
        const double next = load_closure(t, x);
        const bool slow = i > 0 && !(next < 0.25 * error);
        error = next;
        if (error <= tolerance() || (slow && error < 1e-9) || i == options_.max_corrections) break;
        const Eigen::VectorXd& xi = position_step();
        const double doubtful = options_.doubt * xi.lpNorm<Eigen::Infinity>();
        if (doubtful * doubtful > trusted_pivot_) {
            trusted_pivot_ = std::min(doubtful * doubtful, kMostDoubtfulPivot);
            if (statistics_.smallest_pivot < trusted_pivot_) {
                factor();
                position_step();
            }
        }
        retract(x, xi.data(), x);
        ++statistics_.corrections;
    }
    return error;
}

const Eigen::VectorXd& Symbolic::position_step() {
    still_.setZero();
    rate_ = -closure_.C;
    closure_.solve(still_, rate_);
    return closure_.a;
}

void Symbolic::correct_velocities(double* u) {
    Eigen::Map<Eigen::VectorXd> velocity(u, tangent_size());
    still_.setZero();
    rate_ = -closure_.drift;
    rate_.noalias() -= closure_.J * velocity;
    closure_.solve(still_, rate_);
    velocity += closure_.a;
}

void Symbolic::violation(double t, const double* x, const double* u, double* position, double* velocity) {
    *position = *velocity = 0.0;
    if (equations_.is_free()) return;
    load_closure(t, x);
    *position = closure_.C.cwiseAbs().maxCoeff();
    const Eigen::Map<const Eigen::VectorXd> speed(u, tangent_size());
    *velocity = (closure_.J * speed + closure_.drift).cwiseAbs().maxCoeff();
}

void Symbolic::inverse_dynamics(double t, const double* x, const double* u, const double* udot, double* efforts) {
    std::copy_n(run("inverse", t, x, u, udot), tangent_size(), efforts);
}

void Symbolic::mass_matrix(double t, const double* x, const double* u, double* M, double* b) {
    const int n = tangent_size();
    const double* out = run("mass_matrix", t, x, u);
    std::fill_n(M, n * n, 0.0);
    for (const auto& [i, j] : equations_.mass_places) M[n * i + j] = M[n * j + i] = *out++;
    std::copy_n(out, n, b);
}

}  // namespace bellcrank
