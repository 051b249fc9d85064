// F, in which all joints can accelerate: what nodes answer, closed ones in columns of 1 and the six products of their
// angular velocity, open ones in numbers.
#include <algorithm>

#include "adaptive/hybrid_assembly.hpp"

namespace bellcrank {

void HybridAssembly::loosen() {
    for (size_t i = order_.size(); i-- > 0;)
        if (held_[i].is_open) answer<1>(order_[i], true);
}

template <int N>
void HybridAssembly::answer(int number, bool matrices) {
    const AssemblyNode& node = tree().nodes[number];
    switch (node.kind) {
        case NodeKind::body:
            return answer_body<N>(node, matrices);
        case NodeKind::join:
            return answer_join<N>(number, matrices);
        case NodeKind::rake:
            return answer_rake<N>(number, matrices);
        case NodeKind::sum: {
            Law& out = laws_[node.slot];
            Parts room[2];
            const auto [g1, k1] = law<N>(node.left, room[0]);
            const auto [g2, k2] = law<N>(node.right, room[1]);
            if (matrices) {
                out.w = laws_[tree().nodes[node.left].slot].w;
                add(out.w, laws_[tree().nodes[node.right].slot].w);
            }
            for (int i = 0; i < 6 * N; ++i) out.g[i] = g1[i] + g2[i];
            for (int i = 0; i < N * N; ++i) out.k[i] = k1[i] + k2[i];
            return;
        }
    }
}

Mobility HybridAssembly::free_mobility(int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::body) {
        const Matrix6& phi = bodies_[node.link].phi;
        return {&phi, &phi, &phi};
    }
    const Join& join = joins_[node.slot];
    return {&join.phi1, &join.phi21, &join.phi2};
}

StretchLoads HybridAssembly::own_columns(const AssemblyNode& node) const {
    if (node.kind == NodeKind::body) return {bodies_[node.link].b, bodies_[node.link].b, bodies_[node.link].c};
    return {joins_[node.slot].b1, joins_[node.slot].b2, joins_[node.slot].c};
}

// A closed part in columns of a closed node, whose first frame `turned` takes the part's to (null: they are one); or in
// numbers, by the products of its velocity.
template <int N>
StretchLoads HybridAssembly::part(int number, const Mat3* turned, Parts& room) const {
    const AssemblyNode& node = tree().nodes[number];
    const bool is_body = node.kind == NodeKind::body;
    const StretchLoads own = own_columns(node);
    if (N == 1 ? is_open(number) : turned == nullptr) return own;
    if constexpr (N == 1) {
        const double* s = held(number).s;
        collapse(own.b1, s, room.b1);
        if (!is_body && !node.ends) collapse(own.b2, s, room.b2);
        room.c[0] = collapse_scalar(own.c, s);
    } else {
        const ProductsTurned turn(*turned);
        turn.columns(own.b1, room.b1);
        if (!is_body && !node.ends) turn.columns(own.b2, room.b2);
        turn.scalar(own.c, room.c);
    }
    return {room.b1, is_body ? room.b1 : room.b2, room.c};
}

template <int N>
std::pair<const double*, const double*> HybridAssembly::law(int number, Parts& room) const {
    const Law& own = laws_[tree().nodes[number].slot];
    if (N == kColumns || is_open(number)) return {own.g, own.k};
    collapse(own.g, held(number).s, room.b1);
    room.c[0] = collapse_scalar(own.k, held(number).s);
    return {room.b1, room.c};
}

template <int N>
void HybridAssembly::answer_body(const AssemblyNode& node, bool matrices) {
    Body& out = bodies_[node.link];
    const Link& link = linkage_->links[node.link];
    const bool alone = is_alone(node);
    if (matrices) {
        if (node.left >= 0) {
            out.phi = link.inertia;
            add(out.phi, laws_[tree().nodes[node.left].slot].w);
            if (!alone) invert(out.phi);
        } else
            out.phi = alone ? link.inertia : link.mobility();
    }
    double h[6 * N], k[N * N];
    if constexpr (N == 1) {
        const Vec3& w = held(tree().body_of[node.link]).twist.w;
        put(h, six(out.force) + gyroscopic(link.inertia, w));
        k[0] = spread(link.inertia, w);
    } else {
        gyroscopic_columns(link.inertia, out.force, h);
        spread_columns(link.inertia, k);
    }
    if (node.left >= 0) {
        Parts room;
        const auto [g, more] = law<N>(node.left, room);
        for (int i = 0; i < 6 * N; ++i) h[i] -= g[i];
        for (int i = 0; i < N * N; ++i) k[i] += more[i];
    }
    if (!alone) return mobility_loads<N>(out.phi, h, k, out.b, out.c);
    std::copy_n(h, 6 * N, out.b);
    std::copy_n(k, N * N, out.c);
}

template <int N>
void HybridAssembly::answer_join(int number, bool matrices) {
    const AssemblyNode& node = tree().nodes[number];
    const Link& link = linkage_->links[node.link];
    const JointNumbers joint = f_.of(node.link, link, subspace(node.link), squares_[node.link], true);
    const Place &place = frames_.place(node.link), from_first = offset(node);
    Join& out = joins_[node.slot];
    if (matrices) {
        const Matrix6 X = motion_transform(place), XT = transpose(X);
        join_matrices(joint, X, XT, free_mobility(node.left), free_mobility(node.right), node.ends, out, out.w);
    }
    Parts room[2];
    double zeta[6 * N];
    if constexpr (N == 1)
        std::copy_n(held(number).zeta, 6, zeta);
    else if (const Place* reach = frames_.reach(node.left)) {
        double own[kVector];
        still_bias(place, own);
        ProductsTurned(reach->rotation).columns(own, zeta);
    } else
        still_bias(place, zeta);
    join_loads<N>(joint, place, out, out.w, part<N>(node.left, nullptr, room[0]),
                  part<N>(node.right, &from_first.rotation, room[1]), zeta, effort_.data() + link.freedom, node.ends,
                  {out.b1, out.b2, out.gamma, f_.r.data() + kColumns * link.freedom, out.c});
}

template <int N>
void HybridAssembly::answer_rake(int number, bool matrices) {
    const AssemblyNode &node = tree().nodes[number], &branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const JointNumbers joint = f_.of(node.link, link, subspace(node.link), squares_[node.link], true);
    const Place& place = frames_.place(node.link);
    const bool alone = branch.kind == NodeKind::body;
    Law& out = laws_[node.slot];
    if (matrices) {
        const Matrix6 X = motion_transform(place), XT = transpose(X);
        Matrix6 WX;
        rake_matrices(joint, X, XT, alone ? bodies_[branch.link].phi : joins_[branch.slot].phi1, alone, out.w, WX);
    }
    Parts room;
    double zeta[6 * N];
    if constexpr (N == 1)
        std::copy_n(held(number).zeta, 6, zeta);
    else
        still_bias(place, zeta);
    const StretchLoads of = part<N>(node.left, &place.rotation, room);
    const double* effort = effort_.data() + link.freedom;
    const LawLoads loads{out.g, f_.r.data() + kColumns * link.freedom, out.k};
    if (alone)
        rake_alone_loads<N>(joint, place, out.w, of.b1, of.c, zeta, effort, loads);
    else
        rake_loads<N>(joint, place, out.w, of.b1, of.c, zeta, effort, loads);
}

template void HybridAssembly::answer<kColumns>(int, bool);

}  // namespace bellcrank
