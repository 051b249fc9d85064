// The equations as users get them: dense matrices, generalized forces, frames on bodies with their Jacobians; as
// functions of t, q, u, u̇, efforts and parameters, and of nothing that a system remembers.
#include <algorithm>
#include <stdexcept>

#include "derivation/equations.hpp"
#include "expression/part.hpp"

namespace bellcrank::symbolic {

// Angles that no joint of the tree has are those within half a turn, since where they were last is not an input.
Exported Equations::exported(const std::string& form, const BodyFrame* frame, const std::vector<int>& open) {
    for (int i = static_cast<int>(efforts_.size()); i < speeds(); ++i)
        efforts_.push_back({&graph, graph.symbol("effort " + std::to_string(i))});
    const std::vector<Expression> outputs = frame == nullptr ? exported_outputs(form) : frame_outputs(form, *frame);
    Exported out{{}, {symbols().time.ref}};
    for (const auto* list : {&symbols().coordinates, &symbols().speeds, &symbols().accelerations})
        for (const Expression& e : *list) out.inputs.push_back(e.ref);
    for (const Expression& e : efforts_) out.inputs.push_back(e.ref);
    std::vector<bool> closed(numbers.parameters().size(), true);
    for (const int parameter : open) {
        out.inputs.push_back(numbers.parameters()[parameter]);
        closed[parameter] = false;
    }
    std::vector<Ref> given, values_given;
    for (size_t i = 0; i < closed.size(); ++i)
        if (closed[i]) {
            given.push_back(numbers.parameters()[i]);
            values_given.push_back(graph.constant(numbers.values()[i]));
        }
    for (const int c : branch_coordinates) {
        given.push_back(values.branches()[c].ref);
        values_given.push_back(graph.constant(0.0));
    }
    out.outputs = substitute(graph, refs(outputs), given, values_given);
    return out;
}

std::vector<Expression> Equations::exported_outputs(const std::string& form) {
    const int n = speeds();
    if (form == "mass_matrix") {
        const LowerTriangle M = mass_lower();
        std::vector<Expression> out;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const int row = std::max(i, j), column = std::min(i, j);
                out.push_back(M.has(row, column) ? M.at(row, column) : constant(graph, 0.0));
            }
        return out;
    }
    if (form == "bias") return known_forces();
    if (form == "forces") return acting_forces();
    if (form == "inverse_dynamics") return inverse_efforts();
    if (form == "coordinate_rates") return symbols().coordinate_rates;
    if (form == "forward_dynamics" && is_free()) return accelerations_under(efforts_);
    return exported_rows(form);
}

// Covers the rows that close loops; stops, which come last, are none of them.
std::vector<Expression> Equations::exported_rows(const std::string& form) {
    const auto count = static_cast<std::ptrdiff_t>(rows.size() - mechanism.plan.stops.size());
    const auto first = [&](const std::vector<Expression>& all) {
        return std::vector<Expression>(all.begin(), all.begin() + count);
    };
    if (form == "constraint_error") return first(C_);
    if (form == "constraint_drift") return first(constraint_drifts());
    if (form == "constraint_bias") return first(gamma_);
    if (form != "constraint_jacobian") throw std::invalid_argument("no form '" + form + "' of this model");
    std::vector<Expression> out;
    for (std::ptrdiff_t i = 0; i < count; ++i) out.insert(out.end(), J_[i].begin(), J_[i].end());
    return out;
}

// Ct: the rates of the rows at rest.
std::vector<Expression> Equations::constraint_drifts() {
    const std::vector<Ref> still(speeds(), graph.constant(0.0));
    std::vector<Expression> out;
    for (const Ref r : substitute(graph, refs(Cdot_), refs(symbols().speeds), still)) out.push_back({&graph, r});
    return out;
}

// Q: those of applied wrenches are the forces that a tree without mass at rest needs against them.
std::vector<Expression> Equations::acting_forces() const {
    std::vector<Expression> Q = acting_;
    if (applied_.empty()) return Q;
    const Expression o = mechanism.tree.number(0.0);
    LinkTree weightless = mechanism.tree;
    weightless.gravity = {o, o, o};
    for (Link& link : weightless.links) link.lumped = {o, {o, o, o}, {o, o, o, o, o, o}};
    const std::vector<Expression> none(weightless.axes.size(), o);
    const std::vector<Expression> needed = inverse_dynamics(weightless, {none, none}, true, applied_);
    for (int i = 0; i < speeds(); ++i) Q[i] = Q[i] - needed[i];
    return Q;
}

// World axes: "pose" position (3) and rotation (9) row by row; "velocity" of the origin (3) and angular (3); "jacobian"
// the derivatives of these by the speeds, (6, speeds).
std::vector<Expression> Equations::frame_outputs(const std::string& form, const BodyFrame& frame) {
    const BodyPlace& place = mechanism.bodies[frame.body];
    const Pose body = link_poses.pose(-1, place);
    const Vector p = body.position + body.rotation * frame.position;
    if (form == "pose") {
        const Matrix R = body.rotation * frame.rotation;
        std::vector<Expression> out{p.x, p.y, p.z};
        out.insert(out.end(), R.m, R.m + 9);
        return out;
    }
    std::vector<Expression> velocity = time_derivatives(symbols(), {p.x, p.y, p.z}, false);
    const Vector w = angular_velocity(place);
    velocity.insert(velocity.end(), {w.x, w.y, w.z});
    if (form == "velocity") return velocity;
    if (form != "jacobian") throw std::invalid_argument("no form '" + form + "' of a frame");
    std::vector<Expression> out;
    for (const Ref r : derivative(graph, refs(velocity), refs(symbols().speeds))) out.push_back({&graph, r});
    return out;
}

BodyFrame Equations::frame_of(int body, const Graph& from, std::span<const Ref> pose) {
    std::vector<std::pair<Ref, Ref>> images;
    for (const std::uint32_t index : from.reachable(pose)) {
        const Ref node(index, false);
        if (from.node(node).op != Op::symbol) continue;
        Ref image;
        if (!numbers.image(from.symbol_of(node), image))
            throw std::invalid_argument("the frame depends on '" + from.symbol_of(node).name +
                                        "', which is no parameter of the mechanism");
        images.emplace_back(node, image);
    }
    const std::vector<Ref> here = transfer(from, pose, graph, images);
    BodyFrame out{body, {}, {}};
    out.position = {{&graph, here[0]}, {&graph, here[1]}, {&graph, here[2]}};
    for (int i = 0; i < 9; ++i) out.rotation.m[i] = {&graph, here[3 + i]};
    return out;
}

}  // namespace bellcrank::symbolic
