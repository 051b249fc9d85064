#include "derivation/mechanism.hpp"

#include "derivation/builder.hpp"
#include "expression/derivative.hpp"

namespace bellcrank::symbolic {

MechanismTree::MechanismTree(Graph& g, const Model& m, const Numbers& n, JointTree p, bool whole)
    : graph(g), model(m), numbers(n), plan(std::move(p)), couplings(find_couplings(g, m, n, plan)), description(g) {
    const auto number_markers = [&](const auto& elements) {
        for (const auto& element : elements)
            for (const MarkerSymbols& marker : element.markers)
                formula_markers_.emplace(&marker, static_cast<int>(formula_markers_.size()));
    };
    number_markers(model.data().formulas.constraints);
    number_markers(model.data().formulas.forces);
    Builder builder{*this, description, {}, whole, {}, {}, {}, -1, {}};
    builder.run();
    description.gravity = numbers.vector("gravity", 0, model.gravity);
    // Mass of all bodies of one link together: about the joint com of the group, by second moments.
    for (int b = 0; b < model.bodies(); ++b) {
        const BodyPlace& place = builder.described[b];
        if (place.link < 0) continue;
        const Matrix R = matrix(graph, place.at.rotation);
        description.links[place.link].add(numbers.number("body_mass", b, model.mass[b]), place.at.shift + R * com(b),
                                          rotated(R, inertia(b)));
    }
    tree = description.tree();
    const std::vector<bellcrank::Place>& frames = description.placements();
    const auto chosen = [&](const BodyPlace& place) {
        if (place.link < 0) return place;
        const bellcrank::Place back = inverse(frames[place.link]);
        return BodyPlace{place.link, Place{back.rotation, vector(graph, back.shift)} * place.at};
    };
    for (const BodyPlace& place : builder.described) bodies.push_back(chosen(place));
    for (const auto& [marker, place] : builder.turned_markers) turned_markers_[marker] = chosen(place);
    for (const auto& [marker, place] : builder.turned_formula_markers) turned_formula_markers_[marker] = chosen(place);
    for (const auto& ball : builder.balls) {
        const auto frame = [&](int link) {
            return link < 0 ? Quat{1, 0, 0, 0} : quaternion_from_matrix(frames[link].rotation);
        };
        joints[ball.joint].before = ball.before * frame(ball.parent_link);
        joints[ball.joint].after = frame(ball.link);
    }
}

// The value of a coordinate that follows others of the tree, as built so far; no graph if it does not.
Expression MechanismTree::followed(int coordinate) const {
    for (const Coupling& coupling : couplings.found) {
        if (coupling.coordinate != coordinate) continue;
        std::vector<Ref> from{couplings.time}, to{description.symbols.time.ref};
        for (size_t c = 0; c < model.coordinates.size(); ++c) {
            const Expression value = own_coordinate(model.coordinates[c]);
            if (value.graph == nullptr) continue;
            from.push_back(couplings.symbols[c]);
            to.push_back(value.ref);
        }
        return {&graph, substitute(graph, std::span(&coupling.value, 1), from, to)[0]};
    }
    return {};
}

Vector MechanismTree::com(int body) const { return numbers.vector("body_com", 3 * body, model.com[body]); }

Symmetric MechanismTree::inertia(int body) const {
    const Mat3& I = model.data().body_inertia[body];
    const auto entry = [&](int i) { return numbers.number("body_inertia", 9 * body + i, I.m[i]); };
    return {entry(0), entry(4), entry(8), entry(1), entry(2), entry(5)};
}

Place MechanismTree::marker_on_body(int pair, int side) const {
    return {clean_matrix(model.data().pair_rotations[2 * pair + side]), marker_shift(pair, side)};
}

Vector MechanismTree::marker_shift(int pair, int side) const {
    const int i = 2 * pair + side;
    return numbers.vector("pair_positions", 3 * i, model.data().pair_positions[i]);
}

Matrix MechanismTree::marker_turn(int pair, int side) const {
    const int i = 2 * pair + side;
    return numbers.rotation("pair_rotations", 4 * i, model.data().pair_rotations[i]);
}

bool MechanismTree::follows_turn(int pair, int side) const {
    return numbers.follows("pair_rotations", 4 * (2 * pair + side), 4);
}

Vector MechanismTree::formula_marker_shift(const MarkerSymbols& marker) const {
    return numbers.vector("formula_marker_positions", 3 * formula_markers_.at(&marker), marker.offset);
}

Matrix MechanismTree::formula_marker_turn(const MarkerSymbols& marker) const {
    return numbers.rotation("formula_marker_rotations", 4 * formula_markers_.at(&marker), marker.attitude);
}

BodyPlace MechanismTree::marker(int pair, int side) const {
    if (const auto found = turned_markers_.find(2 * pair + side); found != turned_markers_.end()) return found->second;
    return on_body(model.pairs[pair].body[side], marker_on_body(pair, side));
}

BodyPlace MechanismTree::marker(const MarkerSymbols& m) const {
    if (const auto found = turned_formula_markers_.find(formula_markers_.at(&m));
        found != turned_formula_markers_.end())
        return found->second;
    return on_body(m.body, {rotation_matrix(m.attitude), formula_marker_shift(m)});
}

BodyPlace MechanismTree::on_body(int body, const Place& at) const { return {bodies[body].link, bodies[body].at * at}; }

Expression MechanismTree::own_coordinate(const Coordinate& coordinate) const {
    for (const JointMap& map : joints) {
        const JointPart part = part_of(map.joint, coordinate);
        if (part.kind == JointPart::Kind::slide) return map.slide_value[part.number];
        if (part.kind == JointPart::Kind::turn) return map.turn_value[part.number];
        if (part.kind == JointPart::Kind::own) return description.symbols.coordinates[map.own[part.number]];
    }
    return {};
}

}  // namespace bellcrank::symbolic
