#include "formulations/recursive.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "formulations/recursive/cuts.hpp"
#include "formulations/recursive/tree_pass.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using recursive::Drive;
using recursive::RowEnd;

namespace {

// Up to so many redundant rows a solution for each shows what exerts nothing.
constexpr int kFewDropped = 20;

RowOrder closing_order(const Model& model, const recursive::LinkTree& tree) {
    std::set<int> blocks;
    for (const int row : tree.closing_rows) blocks.insert(model.block_of(row));
    return order_of(std::vector<int>(blocks.begin(), blocks.end()));
}

recursive::LinkTree links_of(const Model& model, const JointSystemOptions& options) {
    refuse(recursive::refusals(model));
    return recursive::make_links(model, recursive::cut_tree(model, options.cut));
}

JointSpace space_of(const recursive::LinkTree& tree) {
    JointSpace space{tree.joints, tree.coordinates, tree.speeds, tree.closing_rows, {}, {}};
    for (const recursive::Rotor& rotor : tree.rotors) space.rotor_rows.push_back(rotor.row);
    return space;
}

// Beyond rounding and errors of a method: a drive's rate has jumped [m/s or rad/s], in parts of it.
constexpr double kJump = 1e-6;

}  // namespace

// Every link that a closing row acts on, once; formulas of constraints may speak of the ground.
std::vector<RowEnd> Recursive::row_ends() const {
    std::vector<RowEnd> ends;
    for (size_t i = 0; i < tree_.closing_rows.size(); ++i) {
        const int block = model_->block_of(tree_.closing_rows[i]);
        std::set<int> links;
        for (const int body : model_->bodies_of(block)) links.insert(tree_.bodies[body].link);
        if (model_->formula_of_block[block] >= 0) links.insert(-1);
        for (const int link : links) ends.push_back({static_cast<int>(i), link, {}});
    }
    return ends;
}

Recursive::Recursive(std::shared_ptr<const Model> model, const JointSystemOptions& options)
    : Recursive(model, options, links_of(*model, options)) {}

Recursive::Recursive(std::shared_ptr<const Model> model, const JointSystemOptions& options, recursive::LinkTree tree)
    : JointSystem("recursive", std::move(model), options, space_of(tree)),
      tree_(std::move(tree)),
      state_(*model_, tree_),
      closing_(*model_, branches_, closing_order(*model_, tree_)),
      recursion_(tree_, static_cast<int>(tree_.closing_rows.size()), row_ends()),
      joint_efforts_(*model_, tree_),
      free_motion_(*model_, branches_, contacts_) {
    const int m = recursion_.rows();
    if (recursive::TreePass::takes(*model_, tree_) && !recursive::carries_heavier(tree_))
        pass_ = std::make_unique<recursive::TreePass>(*model_, tree_);
    for (auto* v : {&compliance_, &natural_, &targets_, &lambda_, &more_lambda_}) v->assign(m, 0.0);
    given_.assign(tree_.drives.size(), 0.0);
    step_.assign(tangent_size(), 0.0);
    efforts_.assign(tangent_size(), 0.0);
    loads_.resize(tree_.links.size());
    link_accelerations_.resize(tree_.links.size());
    force_.assign(kTwist * (model_->bodies() + 1), 0.0);
    list_entries();
}

Recursive::~Recursive() = default;

void Recursive::list_entries() {
    std::map<std::pair<int, int>, int> end_of;
    for (size_t e = 0; e < recursion_.ends().size(); ++e)
        end_of[{recursion_.ends()[e].row, recursion_.ends()[e].link}] = static_cast<int>(e);
    std::map<int, size_t> layout;
    for (size_t i = 0; i < closing_.blocks().size(); ++i) layout[closing_.blocks()[i].block] = i;
    for (int i = 0; i < recursion_.rows(); ++i) {
        const int block = model_->block_of(tree_.closing_rows[i]);
        const BlockLayout& b = closing_.blocks()[layout[block]];
        const int in_block = tree_.closing_rows[i] - model_->blocks[block].row_begin;
        compliance_[i] = model_->blocks[block].compliance;
        storage_.push_back(b.row + in_block);
        for (int s = b.side_begin; s < b.side_end; ++s) {
            const int body = closing_.sides(b)[s - b.side_begin].body;
            if (body != model_->ground()) entries_.push_back({s, in_block, end_of.at({i, tree_.bodies[body].link}), i});
        }
    }
    for (const BlockLayout& b : closing_.blocks())
        for (const BlockSide& side : closing_.sides(b)) sides_.push_back(side);
}

// A row of the scaled Jacobian against one body; returns the body.
int Recursive::read(const Entry& e, double row[6]) const {
    const BlockSide& side = sides_[e.side];
    side.rows.read(closing_.J.data(), e.row_in_block, row);
    return side.body;
}

// The load of a unit of a row's multiplier on a link; adds the square of the scaled row to `size`.
Load Recursive::load_of(const Entry& e, double& size) const {
    double row[6];
    const int body = read(e, row);
    for (int k = 0; k < 6; ++k) {
        size += row[k] * row[k];
        row[k] *= closing_.sqrt_mass(body, k);
    }
    const recursive::BodyPlace& place = tree_.bodies[body];
    if (place.link < 0) return {{0, 0, 0}, {0, 0, 0}};
    const Vec3 f = transpose_times(state_.world[place.link], Vec3{row[0], row[1], row[2]});
    return {place.at.rotation * Vec3{row[3], row[4], row[5]} + cross(place.at.shift, f), f};
}

// Ends of the closing rows at the configuration of poses_: loads per unit of the multiplier.
void Recursive::load_jacobians(double t) {
    stands_ = false;
    closing_.evaluate_jacobians(t, poses_.data());
    for (RowEnd& end : recursion_.ends()) end.load = {{0, 0, 0}, {0, 0, 0}};
    std::fill(natural_.begin(), natural_.end(), 0.0);
    for (const Entry& e : entries_) {
        const Load load = load_of(e, natural_[e.row]);
        if (!is_left_out(e.row)) recursion_.ends()[e.end].load += load;
    }
}

// γ = Qc less what velocities alone make of J u̇.
void Recursive::load_targets(double t) {
    closing_.evaluate_biases(t, poses_.data(), twists_.data());
    for (size_t i = 0; i < targets_.size(); ++i) targets_[i] = closing_.Qc[storage_[i]];
    for (const Entry& e : entries_) {
        double row[6];
        const int body = read(e, row);
        const Vec3 a = state_.centripetal(body);
        targets_[e.row] -= closing_.sqrt_mass(body, 0) * (row[0] * a.x + row[1] * a.y + row[2] * a.z);
    }
}

void Recursive::factor() {
    stands_ = false;
    recursion_.factor(state_, compliance_.data(), natural_.data(), trusted_pivot_);
    ++statistics_.factorizations;
    statistics_.dropped_rows = 0;
    for (int i = 0; i < recursion_.rows(); ++i) statistics_.dropped_rows += recursion_.dropped()[i] && !is_left_out(i);
    statistics_.smallest_pivot = recursion_.smallest_pivot();
    statistics_.largest_dropped = recursion_.largest_dropped();
}

// Goes to a state: forces on the links, those of inertia included, and accelerations that drives give.
void Recursive::load_forces(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    applied_forces(*model_, branches_, contacts_, t, poses_.data(), twists_.data(), force_.data(),
                   joint_efforts_.taken());
    joint_efforts_.find(branches_, t, x, u, efforts_);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 a = model_->mass[b] * state_.centripetal(b);
        double* f = force_.data() + kTwist * b;
        f[0] -= a.x, f[1] -= a.y, f[2] -= a.z;
    }
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    state_.add_loads(force_.data(), 1.0, loads_.data());
    for (size_t i = 0; i < given_.size(); ++i) given_[i] = driven(tree_.drives[i], t).d2;
}

void Recursive::accelerate_held(double t, const double* x, const double* u, double* udot) {
    if (passes()) {
        std::fill(lambda_.begin(), lambda_.end(), 0.0);
        return pass_->accelerate(t, x, u, udot);
    }
    load_forces(t, x, u);
    if (recursion_.rows() > 0) {
        load_jacobians(t);
        load_targets(t);
    }
    factor();
    const recursive::Recursion::Input input{loads_.data(), efforts_.data(), state_.bias.data(), given_.data(),
                                            targets_.data()};
    recursion_.solve(state_, input, udot, lambda_.data());
    if (recursion_.is_doubtful()) recursion_.refine(state_, input, udot, lambda_.data());
    if (differential_) note_for_derivatives(t, x, u);
}

void Recursive::accelerate_batch(double t, int states, const double* x, const double* u, double* udot) {
    if (pass_ != nullptr && closing_rows().empty()) {
        pass_->accelerate_batch(t, states, x, u, udot);
        statistics_.evaluations += states;
        return;
    }
    const size_t nx = configuration_size(), nu = tangent_size();
    for (int s = 0; s < states; ++s) accelerate(t, x + nx * s, u + nu * s, udot + nu * s);
}

std::vector<int> Recursive::dropped_rows() {
    std::vector<int> out;
    for (size_t i = 0; i < recursion_.dropped().size(); ++i)
        if (recursion_.dropped()[i] && !is_left_out(i)) out.push_back(tree_.closing_rows[i]);
    return out;
}

std::vector<int> Recursive::open_rows() const {
    std::vector<int> out;
    for (size_t i = 0; i < tree_.links.size(); ++i) out.push_back(recursion_.open_at(static_cast<int>(i)));
    return out;
}

void Recursive::from_records(double t, const double* poses, const double* twists, bool continued, double* x,
                             double* u) {
    if (!continued) recursion_.forget_sizes();
    JointSystem::from_records(t, poses, twists, continued, x, u);
}

// Leaves frames and velocities in state_.
void Recursive::move_to(const double* x, const double* u) {
    stands_ = false;
    joints_.follow_formulas(x, branches_);
    state_.place(x, u);
    state_.move(u);
}

void Recursive::place_bodies(double, const double* x, const double* u, double* poses, double* twists) {
    move_to(x, u);
    state_.write_poses(poses);
    state_.write_twists(twists);
}

void Recursive::body_accelerations(double, const double* x, const double* u, const double* udot, double* records) {
    move_to(x, u);
    recursion_.accelerations(state_, state_.bias.data(), udot, link_accelerations_);
    state_.write_accelerations(link_accelerations_.data(), records);
}

void Recursive::evaluate_rows(double t, const double* x, const double* u) {
    to_records(t, x, u, poses_.data(), twists_.data());
    load_jacobians(t);
}

void Recursive::factor_at(double t, const double* x, const double* u) {
    evaluate_rows(t, x, u);
    factor();
}

void Recursive::find_errors(double, const double*) {
    for (size_t i = 0; i < storage_.size(); ++i) errors_[i] = compliance_[i] > 0.0 ? 0.0 : closing_.C[storage_[i]];
}

void Recursive::find_row_rates(double, const double* x, const double* u) {
    move_to(x, u);
    state_.write_twists(twists_.data());
    row_rates();
}

// The coordinate of a drive, and its derivatives.
FunctionValue Recursive::driven(const Drive& drive, double t) const {
    const FunctionValue f = drive.function < 0 ? FunctionValue{0, 0, 0} : model_->functions[drive.function](t);
    return {(f.f + drive.constant) / drive.factor, f.d1 / drive.factor, f.d2 / drive.factor};
}

void Recursive::lead_positions(double t, double* x) const {
    for (const Drive& drive : tree_.drives) x[tree_.links[drive.link].x] = driven(drive, t).f;
}

double Recursive::set_driven(double t, double* x, double* u) {
    bool jumps = false;
    double most = 0.0;
    lead_positions(t, x);
    for (size_t i = 0; i < tree_.drives.size(); ++i) {
        const recursive::Link& link = tree_.links[tree_.drives[i].link];
        given_[i] = driven(tree_.drives[i], t).d1 - u[link.u];
        most = std::max(most, std::abs(given_[i]));
        jumps |= std::abs(given_[i]) > kJump * std::max(1.0, std::abs(u[link.u]));
    }
    if (jumps)
        spread_jumps(t, x, u);
    else
        for (size_t i = 0; i < given_.size(); ++i) u[tree_.links[tree_.drives[i].link].u] += given_[i];
    return most;
}

// A speed that is led to another value at once is an impulse of its drive, to which all joints respond: the
// accelerations for drives whose second derivatives are the jumps, without other loads.
void Recursive::spread_jumps(double t, const double* x, double* u) {
    trusted_pivot_ = options_.rank_tolerance;
    to_records(t, x, u, poses_.data(), twists_.data());
    if (recursion_.rows() > 0) load_jacobians(t);
    factor();
    std::fill(targets_.begin(), targets_.end(), 0.0);
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(state_, {loads_.data(), nullptr, nullptr, given_.data(), targets_.data()}, step_.data(),
                     lambda_.data());
    for (int k = 0; k < tangent_size(); ++k) u[k] += step_[k];
}

// Driven coordinates rest.
const double* Recursive::step() {
    for (size_t i = 0; i < errors_.size(); ++i) targets_[i] = -errors_[i];
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    recursion_.solve(state_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, step_.data(), lambda_.data());
    return step_.data();
}

// errors_ = Ċ of the closing rows at twists_, with the Jacobian at hand.
void Recursive::row_rates() {
    for (size_t i = 0; i < errors_.size(); ++i) errors_[i] = closing_.Ct[storage_[i]];
    for (const Entry& e : entries_) {
        double row[6];
        const int body = read(e, row);
        for (int k = 0; k < 6; ++k)
            errors_[e.row] += row[k] * closing_.sqrt_mass(body, k) * twists_[kTwist * body + kComponent[k]];
    }
    for (size_t i = 0; i < errors_.size(); ++i)
        if (compliance_[i] > 0.0) errors_[i] = 0.0;
}

void Recursive::add_violation_of_drives(double t, const double* x, const double* u, double* position,
                                        double* velocity) {
    for (const Drive& drive : tree_.drives) {
        const recursive::Link& link = tree_.links[drive.link];
        const FunctionValue f = driven(drive, t);
        *position = std::max(*position, std::abs(drive.factor * (x[link.x] - f.f)));
        *velocity = std::max(*velocity, std::abs(drive.factor * (u[link.u] - f.d1)));
    }
}

bool Recursive::respond(const std::vector<double>& efforts, double* udot, std::vector<double>& multipliers,
                        double* rates) {
    if (recursion_.is_doubtful()) return false;
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    for (const Entry& e : entries_) {
        const size_t row = static_cast<size_t>(e.row);
        const int link = recursion_.ends()[e.end].link;
        if (row < loops() || efforts[row - loops()] == 0.0 || link < 0) continue;
        double size = 0.0;
        loads_[link] += efforts[row - loops()] * load_of(e, size);
    }
    std::fill(targets_.begin(), targets_.end(), 0.0);
    recursion_.solve(state_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, step_.data(),
                     more_lambda_.data());
    for (int k = 0; k < tangent_size(); ++k) udot[k] += step_[k];
    for (const recursive::Rotor& rotor : tree_.rotors)
        multipliers[rotor.row] = -rotor.factor * step_[rotor.speed] / rotor.compliance;
    for (size_t i = 0; i < lambda_.size(); ++i) {
        lambda_[i] += more_lambda_[i];
        multipliers[tree_.closing_rows[i]] = more_lambda_[i];
    }
    recursion_.accelerations(state_, nullptr, step_.data(), link_accelerations_);
    state_.write_motions(link_accelerations_.data(), rates);
    return true;
}

// Multipliers of the rows that are not of the tree are known; those of the tree carry what is left of M u̇ − f.
void Recursive::load_known_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_reactions(t, x, u, udot);
    // A rotor exerts −C̈/compliance.
    for (const recursive::Rotor& rotor : tree_.rotors)
        reactions_.loads().multipliers[rotor.row] = -rotor.factor * udot[rotor.speed] / rotor.compliance;
    for (size_t i = 0; i < lambda_.size(); ++i) reactions_.loads().multipliers[tree_.closing_rows[i]] = lambda_[i];
}

void Recursive::solve_multipliers(double t, const double* x, const double* u, const double* udot) {
    load_known_multipliers(t, x, u, udot);
    if (statistics_.dropped_rows > kFewDropped && !is_stopped()) {
        for (const int row : rigid_rows()) reactions_.loads().multipliers[row] = 0.0;  // those of rotors are no choice
        reactions_.spread_least_norm(rigid_rows());
        return;
    }
    reactions_.spread_over_tree();
    find_null_rows();
    reactions_.loads().share_by_basis({});
    by_basis_ = true;
}

// What a row that depends on others exerts alone is carried by those that it depends on, and nothing moves.
void Recursive::find_null_rows() {
    if (statistics_.dropped_rows == 0) return;
    more_lambda_ = lambda_;
    for (size_t d = 0; d < lambda_.size(); ++d) {
        if (!recursion_.dropped()[d] || is_left_out(d)) continue;
        std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
        for (const recursive::RowEnd& end : recursion_.ends())
            if (end.row == static_cast<int>(d) && end.link >= 0) loads_[end.link] += end.load;
        std::fill(targets_.begin(), targets_.end(), 0.0);
        recursion_.solve(state_, {loads_.data(), nullptr, nullptr, nullptr, targets_.data()}, step_.data(),
                         more_lambda_.data());
        more_lambda_[d] = 1.0;
        std::vector<double>& all = reactions_.loads().add_nothing();
        for (size_t i = 0; i < more_lambda_.size(); ++i) all[tree_.closing_rows[i]] = more_lambda_[i];
        reactions_.complete_null(all);
    }
}

}  // namespace bellcrank
