// Energies of a linkage of which few joints are free, and the power of what acts on it, from open nodes and their
// front.
#include "adaptive/hybrid_assembly.hpp"

namespace bellcrank {

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
