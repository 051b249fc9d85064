// What changes along directions, as functions of these: one forward pass each; and gradients of weighted sums: one
// reverse pass.
#include "derivation/equations.hpp"

namespace bellcrank::symbolic {

namespace {

std::vector<Ref> append_symbols(Graph& graph, const char* name, size_t count, std::vector<Ref>& to) {
    std::vector<Ref> made;
    for (size_t i = 0; i < count; ++i) made.push_back(graph.symbol(name));
    to.insert(to.end(), made.begin(), made.end());
    return made;
}

void append(std::vector<Ref>& to, const std::vector<Ref>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

// A centre of mass that follows parameters moves in its body; the point does not.
std::vector<Expression> Equations::motions_of_points() {
    std::vector<Expression> out;
    for (int b = 0; b < model->bodies(); ++b) {
        const BodyPlace place = mechanism.on_body(b, {.shift = vector(graph, model->com[b])});
        const Pose pose = link_poses.pose(-1, place);
        const Vector& p = pose.position;
        const Vector w = place.link < 0 ? zero_vector(graph) : link_poses.angular_velocities()[place.link];
        const Vector spin = matrix(graph, transpose(place.at.rotation)) * w;
        std::vector<Expression> velocities = time_derivatives(symbols(), {p.x, p.y, p.z}, false);
        velocities.insert(velocities.end(), {spin.x, spin.y, spin.z});
        const std::vector<Expression> rates = time_derivatives(symbols(), velocities, true);
        out.insert(out.end(), pose.rotation.m, pose.rotation.m + 9);
        out.insert(out.end(), {p.x, p.y, p.z});
        out.insert(out.end(), velocities.begin(), velocities.begin() + 3);
        out.insert(out.end(), rates.begin(), rates.begin() + 3);
        out.insert(out.end(), velocities.begin() + 3, velocities.end());
        out.insert(out.end(), rates.begin() + 3, rates.end());
    }
    return out;
}

std::vector<Expression> Equations::values_of(Changing what) {
    if (what == Changing::residuals) return residuals();
    if (what == Changing::bodies) return motions_of_points();
    std::vector<Expression> out = C_;
    out.insert(out.end(), Cdot_.begin(), Cdot_.end());
    return out;
}

// Coordinates change with a displacement as they do with a speed.
Form Equations::along(Changing what, bool by_parameters) {
    const Symbols& s = symbols();
    Form out;
    std::vector<Ref> on, changes;
    if (by_parameters) {
        on = numbers.parameters();
        changes = append_symbols(graph, "change", on.size(), out.further);
    } else {
        on.push_back(s.time.ref);
        changes = append_symbols(graph, "change of time", 1, out.further);
        const std::vector<Ref> moved = append_symbols(graph, "displacement", s.speeds.size(), out.further);
        append(on, refs(s.coordinates));
        append(changes, substitute(graph, refs(s.coordinate_rates), refs(s.speeds), moved));
        append(on, refs(s.speeds));
        append(changes, append_symbols(graph, "change of speed", s.speeds.size(), out.further));
        if (what == Changing::bodies) {
            append(on, refs(s.accelerations));
            append(changes, append_symbols(graph, "change of acceleration", s.speeds.size(), out.further));
        }
    }
    out.outputs = rate(graph, refs(values_of(what)), on, changes);
    out.count = count_operations(graph, out.outputs);
    return out;
}

Form Equations::gradient(Changing what, bool by_parameters) {
    const Symbols& s = symbols();
    Form out;
    const std::vector<Expression> values = values_of(what);
    Expression sum = constant(graph, 0.0);
    for (const Expression& value : values)
        sum = sum + value * Expression{&graph, append_symbols(graph, "weight", 1, out.further)[0]};
    std::vector<Ref> on = by_parameters ? numbers.parameters() : std::vector<Ref>{s.time.ref};
    if (!by_parameters) {
        append(on, refs(s.coordinates));
        append(on, refs(s.speeds));
        if (what == Changing::bodies) append(on, refs(s.accelerations));
    }
    std::vector<Ref> found = derivative(graph, std::span(&sum.ref, 1), on, DerivativeForm::reverse);
    if (!by_parameters) {
        const std::vector<Ref> per_speed = rates_by_speeds();
        std::vector<Ref> displaced;
        for (int j = 0; j < speeds(); ++j) {
            Expression by = constant(graph, 0.0);
            for (int k = 0; k < coordinates(); ++k)
                by = by + Expression{&graph, found[1 + k]} * Expression{&graph, per_speed[k * speeds() + j]};
            displaced.push_back(by.ref);
        }
        found.erase(found.begin() + 1, found.begin() + 1 + coordinates());
        found.insert(found.begin() + 1, displaced.begin(), displaced.end());
    }
    out.outputs = std::move(found);
    out.count = count_operations(graph, out.outputs);
    return out;
}

}  // namespace bellcrank::symbolic
