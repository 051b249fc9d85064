#include "forms.hpp"

#include <algorithm>
#include <stdexcept>

namespace bellcrank::symbolic {

namespace {

Vector part(const std::vector<Expression>& list, int first) { return {list[first], list[first + 1], list[first + 2]}; }

void put(std::vector<Expression>& list, int first, const Vector& v) {
    list[first] = v.x;
    list[first + 1] = v.y;
    list[first + 2] = v.z;
}

QuatT<Expression> expressions(Graph& graph, const Quat& q) {
    return {constant(graph, q.w), constant(graph, q.x), constant(graph, q.y), constant(graph, q.z)};
}

}  // namespace

// Each joint's transform is one matrix, as in the paper, whatever its motion could be taken apart into. Frames of balls
// may then be others:  before q after* = before' q' after'*,  after ω = after' ω'.
std::vector<Expression> Equation13::efforts() {
    Graph& graph = equations.graph;
    const MechanismTree& mechanism = equations.mechanism;
    const MechanismTree whole(graph, *equations.model, equations.numbers, mechanism.plan, true);
    Symbols image = equations.symbols();
    const Symbols& own = whole.tree.symbols;
    std::vector<std::pair<int, Matrix>> turned;  // speeds of balls
    for (size_t i = 0; i < whole.joints.size(); ++i) {
        const JointMap &map = whole.joints[i], &same = mechanism.joints[i];
        if (map.ball < 0) continue;
        const QuatT<Expression> q{image.coordinates[map.ball], image.coordinates[map.ball + 1],
                                  image.coordinates[map.ball + 2], image.coordinates[map.ball + 3]};
        const QuatT<Expression> there = expressions(graph, conjugate(map.before) * same.before) * q *
                                        expressions(graph, conjugate(same.after) * map.after);
        const Expression components[4] = {there.w, there.x, there.y, there.z};
        std::copy_n(components, 4, image.coordinates.begin() + map.ball);
        const Matrix R = matrix(graph, rotation_matrix(conjugate(map.after) * same.after));
        for (auto* list : {&image.speeds, &image.accelerations})
            put(*list, map.ball_speed, R * part(*list, map.ball_speed));
        turned.emplace_back(map.ball_speed, R);
    }
    std::vector<Ref> from = refs(own.coordinates), to = refs(image.coordinates);
    const auto add = [](std::vector<Ref>& list, const std::vector<Expression>& more) {
        for (const Expression& e : more) list.push_back(e.ref);
    };
    for (const auto list : {&Symbols::speeds, &Symbols::accelerations}) {
        add(from, own.*list);
        add(to, image.*list);
    }
    from.push_back(own.time.ref);
    to.push_back(image.time.ref);
    std::vector<Expression> Q;
    for (const Ref r : substitute(graph, refs(efforts_of_equation_13(whole.tree)), from, to)) Q.push_back({&graph, r});
    for (const auto& [speed, R] : turned) put(Q, speed, transpose_times(R, part(Q, speed)));
    return Q;
}

// What the applied wrenches do along the speeds: minus the efforts that they leave to a tree without mass.
std::vector<Expression> Equation13::applied_efforts() const {
    LinkTree massless = equations.mechanism.tree;
    const Expression o = massless.number(0.0);
    for (Link& link : massless.links) link.moments = {o, zero_vector(*massless.graph), zero_symmetric(*massless.graph)};
    std::vector<Expression> Q = inverse_dynamics(massless, motion_at_rest(massless), false, equations.applied());
    for (Expression& q : Q) q = -q;
    return Q;
}

std::vector<Expression> Equation13::accelerations() {
    if (!equations.is_free()) throw std::invalid_argument("equation 13: rows that close loops are no part of it");
    Graph& graph = equations.graph;
    const std::vector<Expression> needed = efforts(), applied = applied_efforts();
    const int n = equations.speeds();
    const std::vector<Ref> roots = refs(needed), accelerations = refs(equations.symbols().accelerations);
    const std::vector<Ref> still(n, graph.constant(0.0));
    LowerTriangle M(n);
    for (int j = 0; j < n; ++j) {
        // The later rows are the shorter expressions.
        const std::vector<Ref> column = coefficients(graph, std::span(roots).subspan(j), accelerations[j]);
        for (int i = j; i < n; ++i) M.at(i, j) = {&graph, column[i - j]};
    }
    equations.add_rotors(M);
    const std::vector<Ref> c = substitute(graph, roots, accelerations, still);
    std::vector<Expression> b;
    for (int i = 0; i < n; ++i) b.push_back(equations.generalized()[i] + applied[i] - Expression{&graph, c[i]});
    return solve_tip_first(M, b);
}

}  // namespace bellcrank::symbolic
