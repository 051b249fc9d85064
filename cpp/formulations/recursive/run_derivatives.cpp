// What runs are differentiated by besides accelerations: how bodies move along directions of the tree, what is measured
// of them, and impacts.
#include "formulations/recursive/differential.hpp"
#include "tangents/measures.hpp"

namespace bellcrank {

using recursive::Drive;
using recursive::Rotor;
using recursive::TreeTangent;

// Poses, twists and accelerations of the bodies; factors that serve there are kept.
void Recursive::Differential::go_to_motion(double t, const double* x, const double* u, const double* udot) {
    const bool stands = own_.stands_ && reached_.is(t, x, u);
    if (stands && !reached_.udot.empty() && std::equal(reached_.udot.begin(), reached_.udot.end(), udot)) return;
    if (!stands) own_.to_records(t, x, u, own_.poses_.data(), own_.twists_.data());
    own_.recursion_.accelerations(own_.state_, own_.state_.bias.data(), udot, own_.link_accelerations_);
    own_.state_.write_accelerations(own_.link_accelerations_.data(), own_.rates_.data());
    reached_.udot.clear();
}

void Recursive::Differential::body_directions(double t, const double* x, const double* u, const double* udot,
                                              const Directions& d, const double* rates, double* dx, double* du,
                                              double* dudot) {
    go_to_motion(t, x, u, udot);
    tree_.along(point(x, u, udot), {d.x, d.u, rates, &numbers_along(d)}, bodies_);
    std::copy(bodies_.x.begin(), bodies_.x.end(), dx);
    std::copy(bodies_.u.begin(), bodies_.u.end(), du);
    std::copy(bodies_.udot.begin(), bodies_.udot.end(), dudot);
}

void Recursive::Differential::measure_tangent(double t, const double* x, const double* u, const double* udot,
                                              const Directions& d, const double* dudot, Measured& out) {
    const ModelTangent& numbers = numbers_along(d);
    refuse_held(numbers.changed());
    go_to_motion(t, x, u, udot);
    tree_.along(point(x, u, udot), {d.x, d.u, dudot, &numbers}, bodies_);
    measured_along(model_, balanced_, motion_point(t, none_),
                   {d.t, bodies_.x.data(), bodies_.u.data(), bodies_.udot.data()}, numbers, changes_, out);
}

void Recursive::Differential::measure_adjoint(double t, const double* x, const double* u, const double* udot,
                                              const Measured& of, const std::vector<NumberPlace>& further,
                                              Gradient& out, ModelGradient& by_numbers) {
    refuse_held(further);
    go_to_motion(t, x, u, udot);
    measured_transposed(model_, balanced_, motion_point(t, none_), of, further, found_, by_numbers);
    out.t = found_.t;
    for (auto* v : {&out.x, &out.u, &out.udot}) v->resize(z_.size());
    find_efforts(found_.udot.data(), out.udot);
    tree_.transposed(point(x, u, udot), {found_.x.data(), found_.u.data(), found_.udot.data()}, out.x.data(),
                     out.u.data(), by_numbers, further);
}

// Along speeds, of loads on the bodies as gradients by records are them.
void Recursive::Differential::find_efforts(const double* records, std::vector<double>& out) {
    clear_loads();
    own_.state_.add_loads(records, 1.0, loads_.data());
    for (size_t i = loads_.size(); i-- > 0;) {
        const recursive::Link& link = own_.tree_.links[i];
        for (int c = 0; c < link.speeds; ++c) out[link.u + c] = dot(own_.state_.S[link.u + c], loads_[i]);
        if (link.parent >= 0) loads_[link.parent] += outward(own_.state_.rotation[i], own_.state_.shift[i], loads_[i]);
    }
}

// Impulses Λ of all rows, and Newton's law of impact where they are stops, e = 0 for all others,
//   Bᵀ (Jᵀ Λ − M B (u1 − u)) = 0,   Ċ(u1) = −e Ċ(u),
// of the form of the equations of motion at rest with u1 − u for u̇ and nothing applied. The bodies are left there.
Recursive::Differential::Impact Recursive::Differential::impact_of(double t, const double* x, const double* u,
                                                                   const double* u1) {
    Impact found;
    own_.measure_stops(t, x, u);
    if (!own_.stops_.find_bounced(found.restitution))
        own_.refuse("derivatives of an impact whose restitution was weakened");
    go_to(t, x, own_.at_rest_.data());
    found.jump.resize(z_.size());
    for (size_t i = 0; i < z_.size(); ++i) found.jump[i] = u1[i] - u[i];
    own_.recursion_.accelerations(own_.state_, nullptr, found.jump.data(), own_.link_accelerations_);
    clear_loads();
    std::fill(efforts_.begin(), efforts_.end(), 0.0);
    for (size_t i = 0; i < given_.size(); ++i) given_[i] = found.jump[own_.tree_.links[own_.tree_.drives[i].link].u];
    std::fill(targets_.begin(), targets_.end(), 0.0);
    for (const recursive::RowEnd& end : own_.recursion_.ends())
        if (end.link >= 0 && own_.compliance_[end.row] == 0.0)
            targets_[end.row] += dot(own_.link_accelerations_[end.link], end.load);
    solve();
    if (!own_.is_explained(found.jump.data(), z_.data()))
        own_.refuse("derivatives of an impact that rows which push do not explain");
    found.impulses.assign(told_.size(), 0.0);
    for (const Rotor& rotor : own_.tree_.rotors)
        found.impulses[rotor.row] = -rotor.factor * found.jump[rotor.speed] / rotor.compliance;
    for (size_t i = 0; i < lambda_.size(); ++i) found.impulses[own_.tree_.closing_rows[i]] = lambda_[i];
    own_.state_.write_accelerations(own_.link_accelerations_.data(), own_.rates_.data());
    own_.reactions_.take_motion(t, own_.poses_.data(), own_.twists_.data(), own_.rates_.data());
    std::fill(record_.begin(), record_.end(), 0.0);
    add_inertial(own_.rates_, 1.0, record_);
    own_.reactions_.spread_over_tree(record_.data(), found.impulses);
    return found;
}

// Ċ of rows that are none of the tree's, in changes_.
void Recursive::Differential::rates_along(double t, const double* x, const double* u, const Directions& d) {
    go_to(t, x, u);
    tree_.along(at_rest(x, u), {d.x, d.u, nullptr, &numbers_along(d)}, bodies_);
    EquationsTangent::ask(changes_, 1);
    others_.along({t, own_.poses_.data(), own_.twists_.data(), still_.data(), none_.data()},
                  {d.t, bodies_.x.data(), bodies_.u.data(), nullptr}, numbers_along(d), changes_);
}

void Recursive::Differential::impact_tangent(double t, const double* x, const double* u, const double* u1,
                                             const Directions& d, double* du1) {
    const ModelTangent& numbers = numbers_along(d);
    refuse_held(numbers.changed());
    const Impact impact = impact_of(t, x, u, u1);
    tree_.along(point(x, own_.at_rest_.data(), impact.jump.data()), {d.x, nullptr, nullptr, &numbers}, bodies_);
    EquationsTangent::ask(changes_, 2);
    changes_.of_loads = true;
    balanced_.along(impulses_at(t, impact), {d.t, bodies_.x.data(), nullptr, bodies_.udot.data()}, numbers, changes_);
    take_loads();
    std::fill(more_.begin(), more_.end(), Four{});
    for (const Rotor& rotor : own_.tree_.rotors)
        more_[rotor.speed] -= rotor.factor / rotor.compliance * second_along(rotor.row);
    std::vector<Four> wanted(told_.size(), Four{});
    const auto rate = [this](int row) {
        Four out;
        std::memcpy(&out, &changes_.rows[1][kDirections * static_cast<size_t>(row)], sizeof out);
        return out;
    };
    for (size_t i = 0; i < targets_along_.size(); ++i)
        if (own_.compliance_[i] > 0.0) targets_along_[i] = -second_along(own_.tree_.closing_rows[i]);
    rates_along(t, x, u, d);
    const std::span<const Dual4> e = numbers.values(NumberArray::block_restitution);
    for (size_t i = 0; i < impact.restitution.size(); ++i) {
        if (impact.restitution[i] == 0.0) continue;
        const int row = own_.stops_.rows()[i];
        const Dual4& own = e[model_.block_of(row)];
        wanted[row] = -own.value * rate(row) - own.d * own_.stops_.speed[i];
    }
    rates_along(t, x, u1, d);
    for (size_t i = 0; i < given_along_.size(); ++i)
        given_along_[i] = -rate(own_.tree_.drives[i].row) / own_.tree_.drives[i].factor;
    for (size_t i = 0; i < targets_along_.size(); ++i)
        if (const int row = own_.tree_.closing_rows[i]; own_.compliance_[i] == 0.0)
            targets_along_[i] = wanted[row] - rate(row);
    solve_along();
    const auto* changed = reinterpret_cast<const double*>(z_along_.data());
    for (size_t i = 0; i < kDirections * z_.size(); ++i) du1[i] = d.u[i] + changed[i];
}

void Recursive::Differential::impact_adjoint(double t, const double* x, const double* u, const double* u1,
                                             const double* of_after, const std::vector<NumberPlace>& further,
                                             Gradient& out, ModelGradient& by_numbers) {
    refuse_held(further);
    const Impact impact = impact_of(t, x, u, u1);
    const size_t n = z_.size();
    clear_loads();
    std::copy_n(of_after, n, efforts_.begin());
    std::fill(given_.begin(), given_.end(), 0.0);
    std::fill(targets_.begin(), targets_.end(), 0.0);
    solve();
    std::vector<double> compliant(told_.size(), 0.0), bounced(told_.size(), 0.0), by_x(n), by_u(n);
    std::fill(by_row_.begin(), by_row_.end(), 0.0);
    for (size_t i = 0; i < lambda_.size(); ++i)
        (own_.compliance_[i] == 0.0 ? by_row_ : compliant)[own_.tree_.closing_rows[i]] = lambda_[i];
    for (const Rotor& rotor : own_.tree_.rotors)
        compliant[rotor.row] = -rotor.factor * z_[rotor.speed] / rotor.compliance;
    take_drives();
    body_motions(virtual_);
    EquationsTangent::Seeds seeds;
    seeds.loads = virtual_.data();
    seeds.rows[2] = compliant.data();
    balanced_.transposed(impulses_at(t, impact), seeds, further, found_, by_numbers);
    out = {found_.t, std::vector<double>(n), {of_after, of_after + n}, {}};
    tree_.transposed(point(x, own_.at_rest_.data(), impact.jump.data()),
                     {found_.x.data(), found_.u.data(), found_.udot.data()}, out.x.data(), by_u.data(), by_numbers,
                     further);
    const auto open = [&](const double* at, const std::vector<double>& of) {
        go_to(t, x, at);
        EquationsTangent::Seeds by_rates;
        by_rates.rows[1] = of.data();
        others_.transposed({t, own_.poses_.data(), own_.twists_.data(), still_.data(), none_.data()}, by_rates, further,
                           found_, by_numbers);
        tree_.transposed(at_rest(x, at), {found_.x.data(), found_.u.data(), nullptr}, by_x.data(), by_u.data(),
                         by_numbers, further);
        out.t += found_.t;
        for (size_t i = 0; i < n; ++i) out.x[i] += by_x[i], out.u[i] += by_u[i];
    };
    open(u1, by_row_);
    for (size_t i = 0; i < impact.restitution.size(); ++i) {
        const int row = own_.stops_.rows()[i];
        bounced[row] = impact.restitution[i] * by_row_[row];
        if (impact.restitution[i] != 0.0)
            by_numbers[NumberArray::block_restitution][model_.block_of(row)] += own_.stops_.speed[i] * by_row_[row];
    }
    open(u, bounced);
}

void Recursive::body_directions(double t, const double* x, const double* u, const double* udot,
                                const Directions& directions, const double* rates, double* dx, double* du,
                                double* dudot) {
    differential().body_directions(t, x, u, udot, directions, rates, dx, du, dudot);
}

void Recursive::measure_tangent(double t, const double* x, const double* u, const double* udot,
                                const Directions& directions, const double* dudot, Measured& out) {
    differential().measure_tangent(t, x, u, udot, directions, dudot, out);
}

void Recursive::measure_adjoint(double t, const double* x, const double* u, const double* udot, const Measured& of,
                                const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
    differential().measure_adjoint(t, x, u, udot, of, further, out, by_numbers);
}

void Recursive::impact_tangent(double t, const double* x, const double* u, const double* u1,
                               const Directions& directions, double* du1) {
    differential().impact_tangent(t, x, u, u1, directions, du1);
}

void Recursive::impact_adjoint(double t, const double* x, const double* u, const double* u1, const double* of_after,
                               const std::vector<NumberPlace>& further, Gradient& out, ModelGradient& by_numbers) {
    differential().impact_adjoint(t, x, u, u1, of_after, further, out, by_numbers);
}

}  // namespace bellcrank
