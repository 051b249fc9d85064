// Force laws, applied wrenches, and rows and forces given by formulas, as expressions.
#include <set>

#include "derivation/equations.hpp"

namespace bellcrank::symbolic {

namespace {

// Which symbols formulas speak of, so that no other is worked out.
class Mentioned {
  public:
    Mentioned(const Graph& graph, std::span<const Ref> roots) {
        for (const std::uint32_t node : graph.reachable(roots)) nodes_.insert(node);
    }
    bool operator()(Ref symbol) const { return nodes_.contains(symbol.index()); }
    template <size_t N>
    bool operator()(const std::array<Ref, N>& symbols) const {
        for (const Ref s : symbols)
            if ((*this)(s)) return true;
        return false;
    }

  private:
    std::set<std::uint32_t> nodes_;
};

void give(Images& images, const std::array<Ref, 3>& symbols, const Vector& v) {
    images.emplace_back(symbols[0], v.x.ref);
    images.emplace_back(symbols[1], v.y.ref);
    images.emplace_back(symbols[2], v.z.ref);
}

}  // namespace

Expression Equations::number_of(int function, int param) const {
    const int place = model->data().function_param_start[function] + param;
    return numbers.number("function_params", place, model->data().function_params[place]);
}

// Functions that are formulas become such: constants fold, and what follows parameters goes on following them.
Expression Equations::table(int function, Expression at) {
    const ModelData& data = model->data();
    const std::string& kind = data.function_kind[function];
    if (kind == "harmonic")
        return number_of(function, 0) + number_of(function, 1) * at +
               number_of(function, 2) * sin(number_of(function, 3) * at + number_of(function, 4));
    if (const auto expressed = data.expression_of(function)) {
        const int count = data.function_param_start[function + 1] - data.function_param_start[function];
        std::vector<Ref> inputs{at.ref};
        for (int i = 0; i < count; ++i) inputs.push_back(number_of(function, i).ref);
        return expressed->at(graph, inputs);
    }
    int& number = tables_[function];
    if (number < 0) {
        const int begin = data.function_param_start[function], end = data.function_param_start[function + 1];
        number = graph.table(
            {data.function_kind[function], {data.function_params.begin() + begin, data.function_params.begin() + end}});
    }
    return {&graph, graph.table_value(static_cast<std::uint16_t>(number), 0, at.ref)};
}

Expression Equations::function_of_time(int function) { return table(function, symbols().time); }

void Equations::make_forces() {
    for (size_t i = 0; i < model->laws.size(); ++i) {
        const Expression value = values.value(model->laws[i].coordinate);
        const Expression rate = time_derivatives(symbols(), {value}, false)[0];
        const Expression tau = effort(static_cast<int>(i), value, rate);
        const std::vector<Expression> g = gradient(rate);
        for (int k = 0; k < speeds(); ++k) generalized_[k] = generalized_[k] + tau * g[k];
    }
    for (size_t i = 0; i < model->wrenches.size(); ++i) add_wrench(static_cast<int>(i));
    make_formula_forces();
    make_contact_forces();
}

Expression Equations::effort(int number, Expression value, Expression rate) {
    const Law& law = model->laws[number];
    std::vector<Expression> params;
    for (size_t i = 0; i < law.params.size(); ++i)
        params.push_back(
            numbers.number("law_params", model->data().law_param_start[number] + static_cast<int>(i), law.params[i]));
    LawFunction<Expression> function(nullptr);
    if (law.function >= 0) function = LawFunction<Expression>([&](Expression at) { return table(law.function, at); });
    return law.kind->formula({value, rate, symbols().time}, params, function);
}

void Equations::add_wrench(int number) {
    const bellcrank::Wrench& wrench = model->wrenches[number];
    const BodyPlace& body = mechanism.bodies[wrench.body];
    if (body.link < 0) return;
    Expression component[6];
    for (int k = 0; k < 6; ++k) {
        component[k] = numbers.number("wrench_constant", 6 * number + k, wrench.constant[k]);
        if (wrench.function[k] >= 0) component[k] = component[k] + function_of_time(wrench.function[k]);
    }
    const ModelData& data = model->data();
    const Vector offset = numbers.vector("wrench_position", 3 * number, data.wrench_position[number]);
    const Vector place = body.at.shift + matrix(graph, body.at.rotation) * offset;
    Vector moment{component[0], component[1], component[2]}, force{component[3], component[4], component[5]};
    if (wrench.local) {
        const Matrix R = matrix(graph, body.at.rotation) *
                         numbers.rotation("wrench_rotation", 4 * number, data.wrench_rotation[number]);
        moment = R * moment;
        force = R * force;
    } else {
        const Matrix R = link_poses.pose(-1, body.link).rotation;
        moment = transpose_times(R, moment);
        force = transpose_times(R, force);
    }
    apply_to_link(body.link, moment + cross(place, force), force);
}

// Contacts are found numerically: what they exert is an input of all forms.
void Equations::make_contact_forces() {
    std::set<int> bodies;
    for (const ContactGroup& group : model->contacts.groups)
        for (const int shape : group.shapes) bodies.insert(model->contacts.shapes[shape].body);
    bodies.erase(model->ground());
    for (const int b : bodies) {
        const BodyPlace& body = mechanism.bodies[b];
        if (body.link < 0) continue;
        touching.push_back(b);
        const auto symbols_of = [&](const char* what) {
            Expression component[3];
            for (int k = 0; k < 3; ++k) {
                component[k] = {&graph, graph.symbol(std::string(what) + std::to_string(3 * b + k))};
                contact_wrenches_.push_back(component[k]);
            }
            return Vector{component[0], component[1], component[2]};
        };
        const Vector moment = symbols_of("moment of contacts "), force = symbols_of("force of contacts ");
        const Matrix R = link_poses.pose(-1, body.link).rotation;
        const Vector com = body.at.shift + matrix(graph, body.at.rotation) * mechanism.com(b);
        const Vector seen = transpose_times(R, force);
        apply_to_link(body.link, transpose_times(R, moment) + cross(com, seen), seen);
    }
}

// Moment about the link's origin and force, in its axes.
void Equations::apply_to_link(int link, const Vector& moment, const Vector& force) {
    if (applied_.empty()) applied_.assign(mechanism.tree.links.size(), {zero_vector(graph), zero_vector(graph)});
    applied_[link] += Load{moment, force};
}

// Values of the coordinates and poses of the markers that formulas speak of, and how these move; world axes.
std::vector<Expression> Equations::formulas_at(const std::vector<MarkerSymbols>& markers,
                                               const std::vector<CoordinateSymbols>& coordinates,
                                               std::span<const Ref> roots) {
    const Formulas& formulas = model->data().formulas;
    const Mentioned mentioned(*formulas.graph, roots);
    Images images{{formulas.time, symbols().time.ref}};
    for (const MarkerSymbols& m : markers) {
        const BodyPlace place = mechanism.marker(m);
        const Vector p = link_poses.pose(-1, place).position;
        give(images, m.position, p);
        if (mentioned(m.rotation)) {
            const QuatT<Expression> q = link_poses.quaternion(-1, place);
            const Expression components[4] = {q.w, q.x, q.y, q.z};
            for (int k = 0; k < 4; ++k) images.emplace_back(m.rotation[k], components[k].ref);
        }
        if (mentioned(m.velocity)) {
            const std::vector<Expression> v = time_derivatives(symbols(), {p.x, p.y, p.z}, false);
            give(images, m.velocity, {v[0], v[1], v[2]});
        }
        if (mentioned(m.angular_velocity)) give(images, m.angular_velocity, angular_velocity(place));
    }
    for (const CoordinateSymbols& c : coordinates) {
        const Expression value = values.value(c.coordinate);
        images.emplace_back(c.value, value.ref);
        if (mentioned(c.rate)) images.emplace_back(c.rate, time_derivatives(symbols(), {value}, false)[0].ref);
    }
    return brought(formulas, numbers, graph, roots, std::move(images));
}

Vector Equations::angular_velocity(const BodyPlace& place) {
    if (place.link < 0) return zero_vector(graph);
    return link_poses.pose(-1, place.link).rotation * link_poses.angular_velocities()[place.link];
}

void Equations::add_formula_row(int row, int block) {
    const int number = model->formula_of_block[block];
    const ConstraintFormula& constraint = model->data().formulas.constraints[number];
    const Ref root[1] = {constraint.rows[row - model->blocks[block].row_begin]};
    const Expression value = formulas_at(constraint.markers, constraint.coordinates, root)[0];
    if (constraint.of_velocity)
        add_row(row, constant(graph, 0.0), value);
    else
        add_row(row, value, time_derivatives(symbols(), {value}, false)[0]);
}

void Equations::make_formula_forces() {
    for (const ForceFormula& force : model->data().formulas.forces)
        if (force.force.empty() && force.effort.empty() && force.has_potential)
            add_potential(force);
        else
            add_efforts(force);
}

// What the potential loses per speed.
void Equations::add_potential(const ForceFormula& force) {
    const Ref root[1] = {force.potential};
    const Expression potential = formulas_at(force.markers, force.coordinates, root)[0];
    const std::vector<Expression> g = gradient(time_derivatives(symbols(), {potential}, false)[0]);
    for (int i = 0; i < speeds(); ++i) generalized_[i] = generalized_[i] - g[i];
}

void Equations::add_efforts(const ForceFormula& force) {
    std::vector<Ref> roots;
    for (size_t i = 0; i < force.force.size(); ++i) {
        roots.insert(roots.end(), force.force[i].begin(), force.force[i].end());
        roots.insert(roots.end(), force.moment[i].begin(), force.moment[i].end());
    }
    roots.insert(roots.end(), force.effort.begin(), force.effort.end());
    const std::vector<Expression> e = formulas_at(force.markers, force.coordinates, roots);
    const Expression* at = e.data();
    for (size_t i = 0; i < force.force.size(); ++i, at += 6) {
        const BodyPlace place = mechanism.marker(force.markers[i]);
        if (place.link < 0) continue;
        const Matrix R = link_poses.pose(-1, place.link).rotation;
        const Vector pull = transpose_times(R, Vector{at[0], at[1], at[2]});
        const Vector turn = transpose_times(R, Vector{at[3], at[4], at[5]});
        apply_to_link(place.link, turn + cross(place.at.shift, pull), pull);
    }
    for (size_t i = 0; i < force.effort.size(); ++i, ++at) {
        const Expression value = values.value(force.coordinates[i].coordinate);
        const std::vector<Expression> g = gradient(time_derivatives(symbols(), {value}, false)[0]);
        for (int k = 0; k < speeds(); ++k) generalized_[k] = generalized_[k] + *at * g[k];
    }
}

}  // namespace bellcrank::symbolic
