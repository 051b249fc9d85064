#include "derivation/formulas.hpp"

#include <set>

#include "derivation/equations.hpp"
#include "expression/part.hpp"

namespace bellcrank::symbolic {

std::vector<Expression> brought(const Formulas& formulas, const Numbers& numbers, Graph& graph,
                                std::span<const Ref> roots, Images images) {
    for (size_t i = 0; i < formulas.parameters.size(); ++i) {
        Ref image;
        if (!numbers.image(formulas.graph->symbol_of(formulas.parameters[i]), image))
            image = graph.constant(formulas.values[i]);
        images.emplace_back(formulas.parameters[i], image);
    }
    std::vector<Expression> out;
    for (const Ref r : transfer(*formulas.graph, roots, graph, images)) out.push_back({&graph, r});
    return out;
}

JointTransform transform_of(const Formulas& formulas, const JointFormula& joint, const Numbers& numbers, Graph& graph,
                            const Images& images, bool reversed) {
    std::vector<Ref> roots(joint.rotation.begin(), joint.rotation.end());
    roots.insert(roots.end(), joint.position.begin(), joint.position.end());
    const std::vector<Expression> e = brought(formulas, numbers, graph, roots, images);
    JointTransform out;
    for (int i = 0; i < 9; ++i) out.rotation.m[i] = e[i];
    out.position = {e[9], e[10], e[11]};
    if (!reversed) return out;
    const Matrix R = out.rotation;
    out.position = -transpose_times(R, out.position);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out.rotation.m[3 * i + j] = R.m[3 * j + i];
    return out;
}

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
