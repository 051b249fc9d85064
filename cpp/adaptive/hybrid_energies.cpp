// Energies of a linkage of which few joints are free, that of the difference between its two systems among them, and
// the power of what acts on it, from open nodes and their front.
#include <cmath>

#include "adaptive/hybrid_assembly.hpp"

namespace bellcrank {

namespace {

constexpr double kBalance = 1e-14;  // of a difference of sums, in parts of these

double value_at(const Matrix6& W, const double* g, double k, const Six& a) { return dot(a, W * a + 2.0 * six(g)) + k; }

}  // namespace

double HybridAssembly::distance(const Vec3& base) const {
    const Six a = stacked({0, 0, 0}, base);
    const StretchLoads own = loads(order_[0]);
    return value_at(held_[0].phi1, own.b1, *own.c, a) - least_of_free(a);
}

// Of a body, as it is where no joint accelerates.
Six HybridAssembly::carried_of(int link) const {
    int node = tree().body_of[link];
    Place at, step;
    for (; at_[node] < 0; node = tree().nodes[node].parent)
        if (frames_.step_up(node, step)) at = step * at;
    const Vec3 round = transpose_times(at.rotation, centripetal(held(node).twist.w, at.shift));
    return motion_into(at, six(held(node).carried)) + stacked({0, 0, 0}, round);
}

Six HybridAssembly::last_carried(int node) const {
    while (is_open(node) && tree().nodes[node].kind == NodeKind::join) node = tree().nodes[node].right;
    const Held& first = held(node);
    const Place* reach = frames_.reach(node);
    if (reach == nullptr) return six(first.carried);
    const Vec3 round = transpose_times(reach->rotation, centripetal(first.twist.w, reach->shift));
    return motion_into(*reach, six(first.carried)) + stacked({0, 0, 0}, round);
}

// Gauss' function of accelerations that velocities and the ground alone make, less its minimum; none where that is
// rounding, as in balance.
double HybridAssembly::distance_at_rest(const Vec3& base) {
    double sum = 0.0, size = 0.0;
    const auto add = [&](double part) { sum += part, size += std::abs(part); };
    for (size_t i = 0; i < order_.size(); ++i) {
        const int number = order_[i];
        const AssemblyNode& node = tree().nodes[number];
        Held& own = held_[i];
        Six a = stacked({0, 0, 0}, base);
        if (node.parent >= 0 && is_behind(number)) {
            const AssemblyNode& above = tree().nodes[node.parent];
            const Six carrier =
                above.kind == NodeKind::rake ? six(held(node.parent).carried) : last_carried(above.left);
            a = motion_into(frames_.place(above.link), carrier) + six(held(node.parent).zeta);
        } else if (node.parent >= 0)
            a = six(held(node.parent).carried);
        put(own.carried, a);
        const Vec3& w = own.twist.w;
        if (!own.is_open) {
            const Composite& composite = composites_[number];
            add(dot(a, composite.inertia() * a - 2.0 * composite.load(w)) + composite.scalar(w));
        } else if (node.kind == NodeKind::body) {
            const Matrix6& I = linkage_->links[node.link].inertia;
            add(dot(a, I * a - 2.0 * (six(bodies_[node.link].force) + gyroscopic(I, w))) + spread(I, w));
        }
    }
    add(-least_of_free(stacked({0, 0, 0}, base)));
    add(-2.0 * work_of_rows(base));
    return sum > kBalance * size ? sum : 0.0;
}

// Gauss' function of F at its minimum, times 2.
double HybridAssembly::least_of_free(const Six& base) const {
    const int root = static_cast<int>(tree().nodes.size()) - 1;
    const StretchLoads columns = own_columns(root);
    return value_at(laws_[tree().nodes[root].slot].w, columns.b1, *columns.c, base);
}

double HybridAssembly::kinetic_energy() const {
    double twice = 0.0;
    for (size_t i = 0; i < order_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[order_[i]];
        if (held_[i].is_open && node.kind != NodeKind::body) continue;
        const Six v = stacked(held_[i].twist);
        twice += dot(v, (held_[i].is_open ? linkage_->links[node.link].inertia : composites_[order_[i]].inertia()) * v);
    }
    return 0.5 * twice;
}

double HybridAssembly::energy_of_stop() const {
    double twice = 0.0;
    for (size_t i = 0; i < order_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[order_[i]];
        if (held_[i].is_open && node.kind != NodeKind::body) continue;
        const Six v = stacked(held_[i].twist) - stacked(held_[i].before);
        twice += dot(v, (held_[i].is_open ? linkage_->links[node.link].inertia : composites_[order_[i]].inertia()) * v);
    }
    return 0.5 * twice;
}

double HybridAssembly::power(const double* u) const {
    double sum = led_power_;
    for (size_t i = 0; i < order_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[order_[i]];
        const Held& own = held_[i];
        if (!own.is_open) {
            const Composite& composite = composites_[order_[i]];
            sum += dot(composite.moment, own.twist.w) + dot(composite.force, own.twist.v);
            continue;
        }
        if (node.kind == NodeKind::sum) continue;
        if (node.kind == NodeKind::body) {
            sum += dot(six(bodies_[node.link].force), stacked(own.twist));
            continue;
        }
        const Link& link = linkage_->links[node.link];
        if (is_free(node.link))
            for (int k = link.freedom; k < link.freedom + link.motion.freedoms(); ++k) sum += effort_[k] * u[k];
        if (given_of_[node.link] >= 0) sum += dot(given_force(node.link), given_twist(node.link));
    }
    return sum;
}

Vec3 HybridAssembly::first_moment() {
    for (size_t i = order_.size(); i-- > 0;) {
        const AssemblyNode& node = tree().nodes[order_[i]];
        Held& own = held_[i];
        if (!own.is_open) {
            own.mass = composites_[order_[i]].mass;
            own.moment = composites_[order_[i]].first;
            continue;
        }
        if (node.kind == NodeKind::body) {
            const Link& link = linkage_->links[node.link];
            own.mass = link.mass;
            own.moment = link.mass * link.principal.shift;
        } else {
            own.mass = held(node.left).mass;
            own.moment = held(node.left).moment;
        }
        const auto add = [&](int part, const Place& place) {
            const Held& of = held(part);
            own.mass += of.mass;
            own.moment += place.rotation * of.moment + of.mass * place.shift;
        };
        if (node.kind == NodeKind::body && node.left >= 0) add(node.left, Place{});
        if (node.kind == NodeKind::sum) add(node.right, Place{});
        if (node.kind == NodeKind::join) add(node.right, offset(node));
        if (node.kind == NodeKind::rake) {
            const Place& place = frames_.place(node.link);
            own.moment = place.rotation * own.moment + own.mass * place.shift;
        }
    }
    return held_[0].moment;
}

}  // namespace bellcrank
