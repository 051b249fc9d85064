#include "derivation/links.hpp"

#include <array>
#include <cmath>

#include "spatial/rotation.hpp"

namespace bellcrank::symbolic {

namespace {

bool is_one(Expression e) { return e.graph->is_constant(e.ref) && e.graph->constant_value(e.ref) == 1.0; }

QuatT<Expression> quaternion_number(Graph& graph, const Quat& q) {
    const auto number = [&](double v) { return constant(graph, std::abs(v) < 4e-15 ? 0.0 : v); };
    return {number(q.w), number(q.x), number(q.y), number(q.z)};
}

// About a coordinate axis, from cosine and sine of half the angle.
QuatT<Expression> quaternion_turn(Graph& graph, int axis, Expression cosine, Expression sine) {
    const Expression o = constant(graph, 0.0);
    return {cosine, axis == 0 ? sine : o, axis == 1 ? sine : o, axis == 2 ? sine : o};
}

// w = ½ √(1 + tr R), v = vee(R − Rᵀ)/(4 w), while tr R > −0.9; else from the largest of x, y, z, as S. W. Shepperd does
// (Quaternion from rotation matrix, 1978).
QuatT<Expression> quaternion_of(const Matrix& R) {
    Graph& graph = *R.m[0].graph;
    const Expression trace = R.m[0] + R.m[4] + R.m[8];
    // 4 c² of the component c that is found first, and the products 4 c q.
    const auto from = [&](Expression size, std::array<Expression, 4> products, int first) {
        const Expression component = half(sqrt(size)), factor = 0.25 / component;
        for (Expression& p : products) p = factor * p;
        products[first] = component;
        return products;
    };
    const Expression x = R.m[7] - R.m[5], y = R.m[2] - R.m[6], z = R.m[3] - R.m[1];
    const Expression xy = R.m[1] + R.m[3], xz = R.m[2] + R.m[6], yz = R.m[5] + R.m[7];
    const auto by_w = from(1.0 + trace, {trace, x, y, z}, 0);
    const auto by_x = from(1.0 + (R.m[0] - R.m[4] - R.m[8]), {x, x, xy, xz}, 1);
    const auto by_y = from(1.0 + (R.m[4] - R.m[0] - R.m[8]), {y, xy, y, yz}, 2);
    const auto by_z = from(1.0 + (R.m[8] - R.m[0] - R.m[4]), {z, xz, yz, z}, 3);
    const auto less = [&](Expression a, Expression b) { return graph.apply(Op::less, a.ref, b.ref); };
    const Ref turned_far = less(trace, constant(graph, -0.9)), y_over_x = less(R.m[0], R.m[4]);
    const Ref z_over_x = less(R.m[0], R.m[8]), z_over_y = less(R.m[4], R.m[8]);
    std::array<Expression, 4> q;
    for (int k = 0; k < 4; ++k) {
        const Ref over_x = graph.select(z_over_x, by_z[k].ref, by_x[k].ref);
        const Ref over_y = graph.select(z_over_y, by_z[k].ref, by_y[k].ref);
        q[k] = {&graph, graph.select(turned_far, graph.select(y_over_x, over_y, over_x), by_w[k].ref)};
    }
    const Expression sign{&graph,
                          graph.select(less(q[0], constant(graph, 0.0)), graph.constant(-1.0), graph.constant(1.0))};
    return {sign * q[0], sign * q[1], sign * q[2], sign * q[3]};
}

}  // namespace

bool LinkTree::is_shared() const {
    std::vector<bool> used(speeds(), false);
    for (const Axis& axis : axes) {
        if (axis.shares.size() != 1 || !is_one(axis.shares[0].factor) || used[axis.shares[0].speed]) return true;
        used[axis.shares[0].speed] = true;
    }
    return false;
}

bool LinkTree::is_simple() const {
    for (const Link& link : links)
        if (link.motion != Motion::turn && link.motion != Motion::slide) return false;
    return !is_shared();
}

Vector to_joint(const Link& link, const Vector& v) {
    Vector out = v;
    for (const Turn& turn : link.setting) out = rotated_back(turn, out);
    return out;
}

Vector from_joint(const Link& link, const Vector& v) {
    Vector out = v;
    for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) out = rotated(*turn, out);
    return out;
}

Vector across_motion(const Link& link, const Vector& v) {
    if (link.motion == Motion::slide) return v;
    return link.motion == Motion::turn ? rotated_back(link.turn, v) : transpose_times(link.rotation, v);
}

Vector before_motion(const Link& link, const Vector& v) {
    if (link.motion == Motion::slide) return v;
    return link.motion == Motion::turn ? rotated(link.turn, v) : link.rotation * v;
}

Vector to_link(const Link& link, const Vector& v) { return across_motion(link, to_joint(link, v)); }

Vector displacement(const LinkTree& tree, const Link& link) {
    if (link.motion == Motion::general) return link.shift;
    Vector d = zero_vector(*tree.graph);
    if (link.motion == Motion::slide) d.z = link.position;
    return d;
}

Moments shifted(const Moments& m, const Vector& s) {
    const Vector h = m.first, p = m.first + m.mass * s;  // r = r' + s
    Symmetric J = m.second;
    J.xx() += (h.x + p.x) * s.x;
    J.yy() += (h.y + p.y) * s.y;
    J.zz() += (h.z + p.z) * s.z;
    J.xy() += h.x * s.y + s.x * p.y;
    J.xz() += h.x * s.z + s.x * p.z;
    J.yz() += h.y * s.z + s.y * p.z;
    return {m.mass, p, J};
}

Moments& operator+=(Moments& a, const Moments& b) {
    a.mass += b.mass;
    a.first += b.first;
    a.second += b.second;
    return a;
}

void lump(LinkTree& tree) {
    const Expression o = tree.number(0.0);
    for (Link& link : tree.links) link.lumped = link.moments;
    for (size_t k = tree.links.size(); k-- > 0;) {
        Link& link = tree.links[k];
        Moments& own = link.lumped;
        Moments passed{o, zero_vector(*tree.graph), zero_symmetric(*tree.graph)};
        switch (link.motion) {
            case Motion::turn:
                passed.mass = own.mass;
                passed.first.z = own.first.z;
                passed.second.zz() = own.second.zz();
                own.mass = own.first.z = own.second.zz() = o;
                break;
            case Motion::slide:
                passed.second = own.second;
                own.second = zero_symmetric(*tree.graph);
                break;
            case Motion::ball:
                passed.mass = own.mass;
                own.mass = o;
                break;
            default:  // general
                if (link.axes > 0) break;
                passed = own;  // it does not move
                passed.first = link.rotation * passed.first;
                passed.second = rotated(link.rotation, passed.second);
                passed = shifted(passed, link.shift);
                own = {o, zero_vector(*tree.graph), zero_symmetric(*tree.graph)};
                break;
        }
        if (link.parent < 0) continue;
        for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) {
            passed.first = rotated(*turn, passed.first);
            passed.second = rotated(*turn, passed.second);
        }
        tree.links[link.parent].lumped += shifted(passed, link.offset);
    }
}

Pose LinkPoses::step(const Link& link) const {
    Graph& graph = *tree_.graph;
    const bool turns = link.motion == Motion::turn, slides = link.motion == Motion::slide;
    Matrix R = turns ? rotation_matrix_of(graph, link.turn) : slides ? identity_matrix(graph) : link.rotation;
    for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) R = rotated_columns(*turn, R);
    return {R, link.offset + from_joint(link, displacement(tree_, link))};
}

Pose LinkPoses::pose(int ancestor, int link) {
    if (link == ancestor) return {identity_matrix(*tree_.graph), zero_vector(*tree_.graph)};
    const auto found = poses_.find({ancestor, link});
    if (found != poses_.end()) return found->second;
    const Link& last = tree_.links[link];
    const Pose above = pose(ancestor, last.parent), own = step(last);
    const Pose out{above.rotation * own.rotation, above.position + above.rotation * own.position};
    return poses_[{ancestor, link}] = out;
}

Pose LinkPoses::pose(int ancestor, const BodyPlace& place) {
    const Pose link = pose(ancestor, place.link);
    return {link.rotation * matrix(*tree_.graph, place.at.rotation), link.position + link.rotation * place.at.shift};
}

int LinkPoses::common_ancestor(int a, int b) const {
    while (a != b) (a > b ? a : b) = tree_.links[a > b ? a : b].parent;
    return a;
}

Pose LinkPoses::between(const BodyPlace& first, const BodyPlace& second) {
    const int ancestor = common_ancestor(first.link, second.link);
    const Pose a = pose(ancestor, first), b = pose(ancestor, second);
    return {transpose_times(a.rotation, b.rotation), transpose_times(a.rotation, b.position - a.position)};
}

QuatT<Expression> LinkPoses::quaternion_step(const Link& link) const {
    Graph& graph = *tree_.graph;
    QuatT<Expression> q = quaternion_number(graph, {1, 0, 0, 0});
    for (const Turn& turn : link.setting) {
        const double angle = std::atan2(graph.constant_value(turn.sine.ref), graph.constant_value(turn.cosine.ref));
        q = q * quaternion_turn(graph, turn.axis, constant(graph, std::cos(0.5 * angle)),
                                constant(graph, std::sin(0.5 * angle)));
    }
    switch (link.motion) {
        case Motion::turn: {
            const Expression angle = half(link.position);
            return q * quaternion_turn(graph, 2, cos(angle), sin(angle));
        }
        case Motion::slide:
            return q;
        case Motion::ball:
            return q * link.quaternion;
        default:  // general
            return q * (link.quaternion.w.graph == nullptr ? quaternion_of(link.rotation) : link.quaternion);
    }
}

QuatT<Expression> LinkPoses::quaternion(int ancestor, const BodyPlace& place) {
    QuatT<Expression> q = quaternion_number(*tree_.graph, quaternion_from_matrix(place.at.rotation));
    for (int k = place.link; k != ancestor; k = tree_.links[k].parent) q = quaternion_step(tree_.links[k]) * q;
    return q;
}

QuatT<Expression> LinkPoses::quaternion_between(const BodyPlace& first, const BodyPlace& second) {
    const int ancestor = common_ancestor(first.link, second.link);
    return conjugate(quaternion(ancestor, first)) * quaternion(ancestor, second);
}

const std::vector<Vector>& LinkPoses::angular_velocities() {
    if (!angular_.empty()) return angular_;
    std::vector<Vector> found;  // kept when it is complete: what makes expressions may be interrupted
    for (const Link& link : tree_.links) {
        Vector w = link.parent < 0 ? zero_vector(*tree_.graph) : to_link(link, found[link.parent]);
        for (int i = link.first_axis; i < link.first_axis + link.axes; ++i) {
            const Axis& axis = tree_.axes[i];
            if (link.motion == Motion::turn) w.z += axis.rate;
            if (link.motion == Motion::ball) *std::array{&w.x, &w.y, &w.z}[axis.number] += axis.rate;
            if (link.motion == Motion::general) w += axis.rate * axis.angular;
        }
        found.push_back(w);
    }
    angular_ = std::move(found);
    return angular_;
}

}  // namespace bellcrank::symbolic
