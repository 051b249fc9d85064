// Accelerations and multipliers along directions, and gradients of them. With B the motions of the bodies for the
// speeds of the tree, r = f + Jᵀλ − M u̇ of the bodies, τ efforts along speeds, and s the rows that the tree leaves, Bᵀr
// + τ = 0 and s = 0. Directions of coordinates, speeds and numbers move the bodies as the tree does, u̇ of the joints
// held (tree_tangent.hpp), and
//   M δu̇ − Jᵀδλ = Bᵀδr + δBᵀ r + δτ,   J δu̇ + ε δλ = −δs,                                             (1)
// M and J those of the tree, is solved for by the factors at hand (recursion.hpp). Where multipliers of the tree's
// joints are asked for, or rotors are about, all rows take part in r, which then vanishes. Trees for which TreePass is
// enough have a faster way (pass_tangent.hpp).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "formulations/recursive/differential.hpp"

namespace bellcrank {

using recursive::Drive;
using recursive::Rotor;
using recursive::TreeTangent;

namespace {

// Of what rows were off at first: what may be left of it, and how often it is solved for.
constexpr double kLeft = 1e-15;
constexpr int kMostRounds = 3;

}  // namespace

// accelerate() has left links, forces and factors there.
void Recursive::Differential::note(double t, const double* x, const double* u) {
    reached_.t = t;
    reached_.x.assign(x, x + own_.configuration_size());
    reached_.u.assign(u, u + own_.tangent_size());
    reached_.udot.clear();
    reached_.loaded = true;
    own_.stands_ = true;
}

void Recursive::Differential::inputs_changed() {
    own_.stands_ = false;
    constant_.renew();
    laws_.inputs_changed();
    balanced_.inputs_changed();
    others_.inputs_changed();
}

void Recursive::Differential::close_directions(double t, const double* x, const double* u, const Directions& d,
                                               double* dx, double* du, double* left) {
    std::fill_n(left, kDirections, 0.0);
    const ModelTangent& numbers = numbers_along(d);
    refuse_held(numbers.changed());
    const auto close = [&](int level, double* change) {
        go_to(t, x, u);
        tree_.along(at_rest(x, u), {dx, du, nullptr, &numbers}, bodies_);
        EquationsTangent::ask(changes_, level);
        others_.along({t, own_.poses_.data(), own_.twists_.data(), still_.data(), none_.data()},
                      {d.t, bodies_.x.data(), bodies_.u.data(), nullptr}, numbers, changes_);
        for (int k = 0; k < kDirections; ++k) {
            const double beyond = close_one(changes_.rows[level], k);
            left[k] = std::max(left[k], beyond);
            for (int i = 0; i < own_.tangent_size(); ++i) change[kDirections * i + k] += z_[i];
        }
    };
    leave_out_velocity_rows(true, t, x);
    close(0, dx);
    leave_out_velocity_rows(false, t, x);
    close(1, du);
}

void Recursive::Differential::tangent(double t, const double* x, const double* u, const double* udot,
                                      const Directions& d, double* out, double* multipliers) {
    const ModelTangent& numbers = numbers_along(d);
    refuse_held(numbers.changed());
    if (own_.passes() && multipliers == nullptr &&
        numbers.changes_only({NumberArray::law_params, NumberArray::function_params}))
        return pass_->tangent({t, x, u, udot}, {d.t, d.x, d.u}, numbers, out);
    const bool balanced = multipliers != nullptr || !own_.tree_.rotors.empty();
    go_to(t, x, u, udot, balanced);
    const TreeTangent::Directions directions{d.x, d.u, nullptr, &numbers};
    tree_.along(point(x, u, udot), directions, bodies_);
    EquationsTangent::ask(changes_, 2);
    changes_.of_loads = true;
    (balanced ? balanced_ : others_)
        .along(motion_point(t), {d.t, bodies_.x.data(), bodies_.u.data(), bodies_.udot.data()}, numbers, changes_);
    take_loads();
    std::fill(more_.begin(), more_.end(), Four{});
    if (!balanced) {
        tree_.add_geometric(point(x, u, udot), directions, forces_, lanes_.data(), more_.data());
        fill(dx_, d.x);
        fill(du_, d.u);
        Four of_time{};
        if (d.t != nullptr) std::memcpy(&of_time, d.t, sizeof of_time);
        laws_.along({t, x, u}, of_time, dx_.data(), du_.data(), numbers, more_.data());
    }
    for (const Rotor& rotor : own_.tree_.rotors)
        more_[rotor.speed] -= rotor.factor / rotor.compliance * second_along(rotor.row);
    for (size_t i = 0; i < given_along_.size(); ++i)
        given_along_[i] = -second_along(own_.tree_.drives[i].row) / own_.tree_.drives[i].factor;
    for (size_t i = 0; i < targets_along_.size(); ++i) targets_along_[i] = -second_along(own_.tree_.closing_rows[i]);
    solve_along();
    std::memcpy(out, z_along_.data(), z_along_.size() * sizeof(Four));
    for (int k = 0; k < kDirections && multipliers != nullptr; ++k) {
        spread_along(k);
        for (size_t r = 0; r < told_.size(); ++r) multipliers[kDirections * r + k] = told_[r];
    }
}

// Seeds λ̄ of multipliers that are found on the way over the tree are motions y0 = −Tᵀλ̄ of the bodies; what is left
// are seeds of joints and other rows.
void Recursive::Differential::adjoint(double t, const double* x, const double* u, const double* udot,
                                      const double* of_rates, const double* of_multipliers,
                                      const std::vector<NumberPlace>& further, Gradient& out,
                                      ModelGradient& by_numbers) {
    refuse_held(further);
    out.t = 0.0;
    out.x.resize(z_.size());
    out.u.resize(z_.size());
    const bool is_plain =
        own_.passes() && pass_->has_gradients() &&
        std::all_of(of_multipliers, of_multipliers + told_.size(), [](double v) { return v == 0.0; }) &&
        std::none_of(further.begin(), further.end(), [](const NumberPlace& place) { return is_followed(place.array); });
    if (is_plain) return pass_->adjoint({t, x, u, udot}, of_rates, out.t, out.x.data(), out.u.data(), by_numbers);
    std::copy_n(of_multipliers, told_.size(), told_.begin());
    bool of_tree = false;
    for (size_t r = 0; r < told_.size(); ++r)
        of_tree |= told_[r] != 0.0 && own_.reactions_.is_of_tree(static_cast<int>(r));
    const bool balanced = of_tree || !own_.tree_.rotors.empty();
    go_to(t, x, u, udot, balanced);
    clear_loads();
    std::copy_n(of_rates, z_.size(), efforts_.begin());
    std::fill(virtual_.begin(), virtual_.end(), 0.0);
    std::fill(rates_.begin(), rates_.end(), 0.0);
    if (of_tree) {
        own_.reactions_.gather_over_tree(told_, virtual_.data());
        for (double& value : virtual_) value = -value;
        own_.reactions_.rates(virtual_.data(), rates_);
        std::fill(record_.begin(), record_.end(), 0.0);
        add_inertial(virtual_, -1.0, record_);
        own_.state_.add_loads(record_.data(), 1.0, loads_.data());
    }
    const auto seed = [&](int row) { return told_[row] + rates_[row]; };
    for (const Rotor& rotor : own_.tree_.rotors)
        efforts_[rotor.speed] -= rotor.factor * seed(rotor.row) / rotor.compliance;
    std::fill(given_.begin(), given_.end(), 0.0);
    for (size_t i = 0; i < targets_.size(); ++i) targets_[i] = -seed(own_.tree_.closing_rows[i]);
    solve();
    std::fill(by_row_.begin(), by_row_.end(), 0.0);
    for (size_t i = 0; i < lambda_.size(); ++i) by_row_[own_.tree_.closing_rows[i]] = lambda_[i];
    for (const Rotor& rotor : own_.tree_.rotors)
        by_row_[rotor.row] = -(seed(rotor.row) + rotor.factor * z_[rotor.speed]) / rotor.compliance;
    take_drives();
    body_motions(record_);
    for (size_t i = 0; i < record_.size(); ++i) virtual_[i] += record_[i];
    EquationsTangent::Seeds seeds;
    seeds.loads = virtual_.data();
    seeds.rows[2] = by_row_.data();
    (balanced ? balanced_ : others_).transposed(motion_point(t), seeds, further, found_, by_numbers);
    out.t = found_.t;
    TreeTangent::Gradient of{found_.x.data(), found_.u.data(), found_.udot.data()};
    if (!balanced) of.r = &forces_, of.Y = motions_.data(), of.y = z_.data();
    tree_.transposed(point(x, u, udot), of, out.x.data(), out.u.data(), by_numbers, further);
    if (!balanced) laws_.transposed({t, x, u}, z_.data(), further, out.t, out.x.data(), out.u.data(), by_numbers);
}

// Velocities first.
void Recursive::Differential::close_adjoint(double t, const double* x, const double* u, const double* of_dx,
                                            const double* of_du, const std::vector<NumberPlace>& further, Gradient& out,
                                            ModelGradient& by_numbers) {
    refuse_held(further);
    const size_t n = z_.size();
    out = {0.0, {of_dx, of_dx + n}, {of_du, of_du + n}};
    std::vector<double> by_x(n), by_u(n);
    const auto open = [&](int level, const std::vector<double>& of) {
        go_to(t, x, u);
        clear_loads();
        std::copy(of.begin(), of.end(), efforts_.begin());
        std::fill(given_.begin(), given_.end(), 0.0);
        std::fill(targets_.begin(), targets_.end(), 0.0);
        solve();
        std::fill(by_row_.begin(), by_row_.end(), 0.0);
        for (size_t i = 0; i < lambda_.size(); ++i)
            if (own_.compliance_[i] == 0.0) by_row_[own_.tree_.closing_rows[i]] = lambda_[i];
        take_drives();
        EquationsTangent::Seeds seeds;
        seeds.rows[level] = by_row_.data();
        others_.transposed({t, own_.poses_.data(), own_.twists_.data(), still_.data(), none_.data()}, seeds, further,
                           found_, by_numbers);
        tree_.transposed(at_rest(x, u), {found_.x.data(), found_.u.data(), nullptr}, by_x.data(), by_u.data(),
                         by_numbers, further);
        out.t += found_.t;
        for (size_t i = 0; i < n; ++i) out.x[i] += by_x[i], out.u[i] += by_u[i];
    };
    open(1, out.u);
    leave_out_velocity_rows(true, t, x);
    open(0, out.x);
    leave_out_velocity_rows(false, t, x);
}

// The tree's joints hold their orientations at zero, and have no compliance.
void Recursive::Differential::refuse_held(std::span<const NumberPlace> places) const {
    for (const NumberPlace& place : places) {
        if (place.array == NumberArray::row_constant && orientations_[place.index] != 0)
            own_.refuse("derivatives by constants of rows that hold orientations of the tree's joints");
        if (place.array != NumberArray::block_compliance) continue;
        const int row = model_.blocks[place.index].row_begin;
        if (held_[row] != 0 ||
            std::ranges::any_of(own_.tree_.drives, [row](const Drive& drive) { return drive.row == row; }))
            own_.refuse("derivatives by compliances of the tree's joints and drives");
    }
}

// Per row of the model: of the tree's joints, those that hold neither a length nor the lead of a screw.
std::vector<std::uint8_t> Recursive::Differential::orientation_rows() const {
    std::vector<std::uint8_t> out = held_;
    for (const JointMap& map : own_.tree_.joints) {
        for (const int row : map.joint.held_row)
            if (row >= 0) out[row] = 0;
        if (map.joint.screw_row >= 0) out[map.joint.screw_row] = 0;
    }
    return out;
}

void Recursive::Differential::go_to(double t, const double* x, const double* u) {
    if (own_.stands_ && reached_.is(t, x, u)) return;
    own_.to_records(t, x, u, own_.poses_.data(), own_.twists_.data());
    if (own_.recursion_.rows() > 0) own_.load_jacobians(t);
    own_.factor();
    note(t, x, u);
    reached_.loaded = false;
}

// With accelerations of links and bodies, after accelerate() there; and with the multipliers of all rows, or with
// what is left of forces without those of the tree's joints.
void Recursive::Differential::go_to(double t, const double* x, const double* u, const double* udot, bool balanced) {
    const bool known = own_.stands_ && reached_.is(t, x, u) && reached_.balanced == balanced &&
                       !reached_.udot.empty() && std::equal(reached_.udot.begin(), reached_.udot.end(), udot);
    if (known) return;
    std::fill(multipliers_.begin(), multipliers_.end(), 0.0);
    if (balanced) {
        own_.load_known_multipliers(t, x, u, udot);
        own_.reactions_.spread_over_tree();
        multipliers_ = own_.reactions_.loads().multipliers;
        go_to(t, x, u);
    } else {
        for (size_t i = 0; i < lambda_.size(); ++i) multipliers_[own_.tree_.closing_rows[i]] = own_.lambda_[i];
        if (!own_.stands_ || !reached_.is(t, x, u) || !reached_.loaded) {
            own_.load_forces(t, x, u);
            if (own_.recursion_.rows() > 0) own_.load_jacobians(t);
            own_.factor();
            note(t, x, u);
        }
        own_.recursion_.accelerations(own_.state_, own_.state_.bias.data(), udot, own_.link_accelerations_);
        own_.state_.write_accelerations(own_.link_accelerations_.data(), own_.rates_.data());
        find_forces();
    }
    reached_.udot.assign(udot, udot + own_.tangent_size());
    reached_.balanced = balanced;
}

// Forces of load_forces() less what accelerations take, with those of the other rows.
void Recursive::Differential::find_forces() {
    own_.state_.write_motions(own_.link_accelerations_.data(), record_.data());
    for (double& value : record_) value = -value;
    std::copy(record_.begin(), record_.end(), virtual_.begin());
    std::copy(own_.force_.begin(), own_.force_.end(), record_.begin());
    add_inertial(virtual_, 1.0, record_);
    for (const Entry& e : own_.entries_) {
        if (own_.lambda_[e.row] == 0.0) continue;
        double row[6];
        const int body = own_.read(e, row);
        for (int k = 0; k < 6; ++k)
            record_[kTwist * body + kComponent[k]] += own_.lambda_[e.row] * row[k] * own_.closing_.sqrt_mass(body, k);
    }
    std::fill(forces_.links.begin(), forces_.links.end(), recursive::kNothing);
    own_.state_.add_loads(record_.data(), 1.0, forces_.links.data());
    for (int b = 0; b < model_.bodies(); ++b) {
        const int link = own_.tree_.bodies[b].link;
        if (link < 0) continue;
        forces_.bodies[b] = {twist_angular(record_.data(), b),
                             transpose_times(own_.state_.world[link], twist_linear(record_.data(), b))};
    }
    for (size_t i = forces_.links.size(); i-- > 0;)
        if (const int parent = own_.tree_.links[i].parent; parent >= 0)
            forces_.links[parent] += outward(own_.state_.rotation[i], own_.state_.shift[i], forces_.links[i]);
}

// Changes of r, records, as loads on the links.
void Recursive::Differential::take_loads() {
    std::fill(lanes_.begin(), lanes_.end(), ForceT<Four>{});
    for (int b = 0; b < model_.bodies(); ++b) {
        const recursive::BodyPlace& place = own_.tree_.bodies[b];
        if (place.link < 0) continue;
        Four part[6];
        for (int c = 0; c < 6; ++c)
            std::memcpy(&part[c], &changes_.loads[kDirections * static_cast<size_t>(kTwist * b + kComponent[c])],
                        sizeof(Four));
        const Vec3T<Four> f = transpose_times(own_.state_.world[place.link], Vec3T<Four>{part[0], part[1], part[2]});
        lanes_[place.link] +=
            ForceT<Four>{place.at.rotation * Vec3T<Four>{part[3], part[4], part[5]} + cross(place.at.shift, f), f};
    }
}

void Recursive::Differential::fill(std::vector<Four>& out, const double* from) const {
    if (from == nullptr)
        std::fill(out.begin(), out.end(), Four{});
    else
        std::memcpy(out.data(), from, out.size() * sizeof(Four));
}

// Of the model: those of the tree's joints, drives apart.
std::vector<std::uint8_t> Recursive::Differential::held_rows() const {
    std::vector<std::uint8_t> held(model_.rows.size(), 0);
    for (const JointMap& map : own_.tree_.joints)
        for (const int row : map.rows) held[row] = 1;
    for (const Drive& drive : own_.tree_.drives) held[drive.row] = 0;
    return held;
}

// The same for four directions.
void Recursive::Differential::solve_along() {
    if (!own_.recursion_.is_doubtful()) {
        const recursive::Recursion::InputT<Four> in{lanes_.data(), more_.data(), nullptr, given_along_.data(),
                                                    targets_along_.data()};
        own_.recursion_.solve(own_.state_, in, z_along_.data(), lambda_along_.data());
        return;
    }
    for (int k = 0; k < kDirections; ++k) {
        const auto take = [k](const std::vector<Four>& from, std::vector<double>& to) {
            for (size_t i = 0; i < to.size(); ++i) to[i] = from[i][k];
        };
        for (size_t i = 0; i < loads_.size(); ++i) {
            const ForceT<Four>& on = lanes_[i];
            loads_[i] = {{on.n.x[k], on.n.y[k], on.n.z[k]}, {on.f.x[k], on.f.y[k], on.f.z[k]}};
        }
        take(more_, efforts_), take(given_along_, given_), take(targets_along_, targets_);
        solve();
        for (size_t i = 0; i < z_.size(); ++i) z_along_[i][k] = z_[i];
        for (size_t i = 0; i < lambda_.size(); ++i) lambda_along_[i][k] = lambda_[i];
    }
}

// Multipliers along one of them, in told_: those of the tree's joints are what bodies lack.
void Recursive::Differential::spread_along(int k) {
    std::fill(told_.begin(), told_.end(), 0.0);
    for (size_t i = 0; i < z_.size(); ++i) z_[i] = z_along_[i][k];
    for (size_t i = 0; i < lambda_along_.size(); ++i) told_[own_.tree_.closing_rows[i]] = lambda_along_[i][k];
    for (const Rotor& rotor : own_.tree_.rotors)
        told_[rotor.row] = -(second_along(rotor.row)[k] + rotor.factor * z_[rotor.speed]) / rotor.compliance;
    body_motions(virtual_);
    for (size_t i = 0; i < record_.size(); ++i) record_[i] = -changes_.loads[kDirections * i + k];
    add_inertial(virtual_, 1.0, record_);
    own_.reactions_.spread_over_tree(record_.data(), told_);
}

// The least change z_ that takes away what rows are off by; what it leaves.
double Recursive::Differential::close_one(const std::vector<double>& off, int k) {
    clear_loads();
    std::fill(efforts_.begin(), efforts_.end(), 0.0);
    const auto wanted = [&](int row) { return -off[kDirections * row + k]; };
    for (size_t i = 0; i < given_.size(); ++i)
        given_[i] = wanted(own_.tree_.drives[i].row) / own_.tree_.drives[i].factor;
    const auto is_rigid = [&](size_t i) { return own_.compliance_[i] == 0.0 && !own_.is_left_out(i); };
    for (size_t i = 0; i < targets_.size(); ++i) targets_[i] = is_rigid(i) ? wanted(own_.tree_.closing_rows[i]) : 0.0;
    std::vector<double>& sum = sum_;
    sum.assign(z_.size(), 0.0);
    double most = 0.0, beyond = 0.0;
    std::vector<double>& left = remaining_;
    left = targets_;
    for (const double value : targets_) most = std::max(most, std::abs(value));
    for (int round = 0;; ++round) {
        solve();
        for (size_t i = 0; i < z_.size(); ++i) sum[i] += z_[i];
        std::fill(given_.begin(), given_.end(), 0.0);
        subtract_rates(left);
        double kept = 0.0;
        beyond = 0.0;
        for (size_t i = 0; i < left.size(); ++i) {
            if (!is_rigid(i)) continue;
            beyond = std::max(beyond, std::abs(left[i]));
            if (own_.recursion_.dropped()[i] == 0) kept = std::max(kept, std::abs(left[i]));
        }
        if (!(kept > kLeft * most) || round + 1 == kMostRounds) break;
        for (size_t i = 0; i < left.size(); ++i) targets_[i] = is_rigid(i) ? left[i] : 0.0;
    }
    z_ = sum;
    return beyond;
}

// Of drives: what takes part at them beside what loads and efforts ask for.
void Recursive::Differential::take_drives() {
    if (given_.empty()) return;
    const std::vector<double>& lacks = own_.recursion_.lacks(own_.state_, input(), z_.data(), lambda_.data());
    for (const Drive& drive : own_.tree_.drives)
        by_row_[drive.row] = -lacks[own_.tree_.links[drive.link].u] / drive.factor;
}

void Recursive::Differential::add_inertial(const std::vector<double>& motions, double sign,
                                           std::vector<double>& out) const {
    for (int b = 0; b < model_.bodies(); ++b) {
        const Vec3 a = sign * twist_linear(motions.data(), b), w = sign * twist_angular(motions.data(), b),
                   I = model_.principal_inertia[b];
        add(out.data() + kTwist * b, model_.mass[b] * a);
        add(out.data() + kTwist * b + 4, Vec3{I.x * w.x, I.y * w.y, I.z * w.z});
    }
}

Recursive::Differential& Recursive::differential() {
    if (!differential_) differential_ = std::make_shared<Differential>(*this);
    return *differential_;
}

void Recursive::note_for_derivatives(double t, const double* x, const double* u) { differential_->note(t, x, u); }

void Recursive::inputs_changed() {
    JointSystem::inputs_changed();
    if (differential_) differential_->inputs_changed();
}

void Recursive::close_directions(double t, const double* x, const double* u, const Directions& directions, double* dx,
                                 double* du, double* left) {
    differential().close_directions(t, x, u, directions, dx, du, left);
}

void Recursive::tangent(double t, const double* x, const double* u, const double* udot, const Directions& directions,
                        double* out, double* multipliers) {
    differential().tangent(t, x, u, udot, directions, out, multipliers);
}

void Recursive::close_adjoint(double t, const double* x, const double* u, const double* of_dx, const double* of_du,
                              const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
    differential().close_adjoint(t, x, u, of_dx, of_du, further, out, by_numbers);
}

void Recursive::adjoint(double t, const double* x, const double* u, const double* udot, const double* of_rates,
                        const double* of_multipliers, const std::vector<NumberPlace>& further, Gradient& out,
                        ModelGradient& by_numbers) {
    differential().adjoint(t, x, u, udot, of_rates, of_multipliers, further, out, by_numbers);
}

}  // namespace bellcrank
