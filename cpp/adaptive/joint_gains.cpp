// Which locked joints matter. On the way down F, a node that is given a force or an acceleration could move by itself,
// and does not: with (Φ, b, c) of F and (Φᴿ, bᴿ, cᴿ) of the rigid body that it is,
//   2 G = fᵀ (Φ − Φᴿ) f + 2 fᵀ (b − bᴿ) + c − cᴿ,   of a law  aᵀ (Wᴿ − W) a + 2 aᵀ (gᴿ − g) + kᴿ − k,
// is what its locked joints lack of Gauss' function. It is the sum of the same of its parts and of q̈ᵀ D⁻¹ q̈ of its
// joint, and none of these is negative.
#include <algorithm>

#include "adaptive/hybrid_assembly.hpp"
#include "spatial/double_double.hpp"

namespace bellcrank {

double HybridAssembly::gain_in(const Given& at) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Composite& composite = composites_[at.node];
    double s[kProducts], first[6], second[6];
    products_of(at.w, s);
    const Six h = composite.load(at.w), in = six(at.input);
    const double k = composite.scalar(at.w);
    const auto by_acceleration = [&](const Matrix6& W, const double* columns, const double* scalar, double sign) {
        collapse(columns, s, first);
        const double rigid = dot(in, composite.inertia() * in - 2.0 * h) + k;
        return rigid - (dot(in, W * in + 2.0 * sign * six(first)) + collapse_scalar(scalar, s));
    };
    if (node.kind == NodeKind::rake || node.kind == NodeKind::sum) {
        const Law& law = laws_[node.slot];
        return by_acceleration(law.w, law.g, law.k, 1.0);
    }
    const StretchLoads columns = own_columns(node);
    if (node.kind == NodeKind::body && is_alone(node))
        return by_acceleration(bodies_[node.link].phi, columns.b1, columns.c, -1.0);

    const Mobility own = free_mobility(at.node);
    const Place* reach = frames_.reach(at.node);
    const bool is_long = reach != nullptr && !node.ends;
    const Six other = node.ends && node.kind == NodeKind::join ? Six{} : six(at.input + 6);
    collapse(columns.b1, s, first);
    double value = collapse_scalar(columns.c, s), rigid = -k;
    Six all = in + other;
    if (is_long) {
        collapse(columns.b2, s, second);
        all = in + force_out_of(*reach, other);
        value += dot(in, *own.phi1 * in + 2.0 * six(first)) + 2.0 * dot(other, *own.phi21 * in + six(second)) +
                 dot(other, *own.phi2 * other);
        rigid += 2.0 * dot(as_force(other).f, transpose_times(reach->rotation, centripetal(at.w, reach->shift)));
    } else
        value += dot(all, *own.phi1 * all + 2.0 * six(first));
    Matrix6 mobility = composite.inertia();
    invert(mobility);
    const Six load = all + h;
    return value - (rigid + dot(load, mobility * load));
}

void HybridAssembly::joint_rate(const Given& at, double* rate) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms(), six_each = 6 * link.freedom;
    const double* R = f_.r.data() + kColumns * link.freedom;
    double s[kProducts] = {};
    if (!is_open(at.node)) products_of(at.w, s);
    for (int i = 0; i < d; ++i) {
        rate[i] = R[i] - dot(six(f_.g1.data() + six_each + 6 * i), six(at.input));
        if (!is_open(at.node))
            for (int j = 0; j < kProducts; ++j) rate[i] += R[d * (j + 1) + i] * s[j];
        if (node.kind == NodeKind::join && !node.ends)
            rate[i] += dot(six(f_.g2.data() + six_each + 6 * i), six(at.input + 6));
    }
}

void HybridAssembly::enter(const Given& at) {
    if (is_open(at.node)) return given_.push_back(at);
    if (tree().nodes[at.node].kind == NodeKind::body && tree().nodes[at.node].left < 0) return;  // it has no joint
    Given next = at;
    next.gain = gain_in(at);
    ask(next);
}

// Sums of gains fall by many decades: they are kept in twice the digits.
void HybridAssembly::ask(const Given& at) {
    if (!(at.gain > 0.0)) return;
    left_ = left_ + DoubleDouble(at.gain);
    queue_.push_back(at);
    std::push_heap(queue_.begin(), queue_.end());
}

// Gives the parts of a node what follows from what it is given.
template <class Enter>
void HybridAssembly::hand_on(const Given& at, const Enter& enter) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const bool open = is_open(at.node);
    double s[kProducts], value[6];
    if (!open) products_of(at.w, s);
    const auto number = [&](const double* columns) {
        if (open) return six(columns);
        collapse(columns, s, value);
        return six(value);
    };
    const auto give = [&](int part, const Six& first, const Six& second, const Vec3& w) {
        Given next{0.0, part, false, {}, w};
        put(next.input, first);
        put(next.input + 6, second);
        enter(next);
    };
    const Six first = six(at.input), second = six(at.input + 6);
    const auto behind = [&](int part, const Mat3& rotation) {
        return open ? held(part).twist.w : transpose_times(rotation, at.w);
    };
    if (node.kind == NodeKind::sum) {
        give(node.left, first, Six{}, at.w);
        return give(node.right, first, Six{}, at.w);
    }
    if (node.kind == NodeKind::body) {
        if (is_alone(node)) return give(node.left, first, Six{}, at.w);
        const Body& body = bodies_[node.link];
        return give(node.left, body.phi * (first + second) + number(body.b), Six{}, at.w);
    }
    const Place& place = frames_.place(node.link);
    if (node.kind == NodeKind::join) {
        const Join& join = joins_[node.slot];
        Six f = join.x1 * first + number(join.gamma);
        if (!node.ends) f = f - join.x2 * second;
        give(node.left, first, -force_out_of(place, f), at.w);
        return give(node.right, f, node.ends ? Six{} : second, behind(node.right, offset(node).rotation));
    }
    const Vec3 w = behind(node.left, place.rotation);
    const AssemblyNode& branch = tree().nodes[node.left];
    if (branch.kind == NodeKind::join) {
        const Law& law = laws_[node.slot];
        return give(node.left, force_into(place, law.w * first + number(law.g)), Six{}, w);
    }
    if (branch.left < 0) return;
    give(node.left, behind_rake(at), Six{}, w);
}

void HybridAssembly::pass_on(const Given& at) {
    hand_on(at, [this](const Given& next) { enter(next); });
}

// The acceleration of a branch that is a body by itself.
Six HybridAssembly::behind_rake(const Given& at) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Link& link = linkage_->links[node.link];
    const Place& place = frames_.place(node.link);
    double rate[6];
    joint_rate(at, rate);
    const Vec3 round = transpose_times(place.rotation, centripetal(at.w, place.shift));
    const Six zeta = is_open(at.node) ? six(held(at.node).zeta) : stacked({0, 0, 0}, round);
    return motion_into(place, six(at.input)) + zeta + joint_motion(link.motion, subspace(node.link), rate);
}

// Of the cluster that a body moves with, as the node above gave it, or by the joint of a rake that gives nothing.
Six HybridAssembly::acceleration(int link, const double* rates) const {
    int number = tree().body_of[link];
    Place at, step;
    for (; at_[number] < 0; number = tree().nodes[number].parent)
        if (frames_.step_up(number, step)) at = step * at;
    const AssemblyNode& node = tree().nodes[number];
    const Held& own = held(number);
    const Six first = six(own.input), second = six(own.input + 6);
    const bool is_law = node.kind == NodeKind::rake || node.kind == NodeKind::sum;
    Six a;
    if (!own.is_open && node.parent >= 0 && tree().nodes[node.parent].kind == NodeKind::rake) {
        const Link& by = linkage_->links[tree().nodes[node.parent].link];
        const Place& place = frames_.place(tree().nodes[node.parent].link);
        const Held& above = held(node.parent);
        a = motion_into(place, six(above.input)) + six(above.zeta);
        if (is_free(tree().nodes[node.parent].link))
            a = a + joint_motion(by.motion, subspace(tree().nodes[node.parent].link), rates + by.freedom);
    } else if (is_law || is_alone(node))
        a = first;
    else if (node.kind == NodeKind::join)
        a = own.phi1 * first + six(own.b1) + (node.ends ? Six{} : transpose_times(own.phi21, second));
    else
        a = own.phi1 * (first + second) + six(own.b1);
    const Vec3 round = transpose_times(at.rotation, centripetal(own.twist.w, at.shift));
    return motion_into(at, a) + stacked({0, 0, 0}, round);
}

// Down F, along the path to the body alone.
Six HybridAssembly::lack(const Vec3& base, int link, const double* rates) const {
    std::vector<int> path;
    for (int node = tree().body_of[link]; node >= 0; node = tree().nodes[node].parent) path.push_back(node);
    Given at{0.0, path.back(), false, {}, {0, 0, 0}};
    put(at.input, stacked({0, 0, 0}, base));
    while (path.size() > 1) {
        const int next = path[path.size() - 2];
        Given found{0.0, -1, false, {}, {0, 0, 0}};
        hand_on(at, [&](const Given& part) {
            if (part.node == next) found = part;
        });
        if (found.node < 0) {  // a body without branches, which is one by itself
            found.node = next;
            put(found.input, behind_rake(at));
        }
        at = found;
        path.pop_back();
    }
    const AssemblyNode& node = tree().nodes[at.node];
    Six a = six(at.input);
    if (!is_alone(node)) {
        const Body& body = bodies_[link];
        double b[6];
        std::copy_n(body.b, 6, b);
        if (!is_open(at.node)) {
            double s[kProducts];
            products_of(at.w, s);
            collapse(body.b, s, b);
        }
        a = body.phi * (a + six(at.input + 6)) + six(b);
    }
    return a - acceleration(link, rates);
}

double HybridAssembly::gains(const Vec3& base, double enough, int most, std::vector<int>& links) {
    given_.clear();
    queue_.clear();
    left_ = DoubleDouble();
    Given root{0.0, static_cast<int>(tree().nodes.size()) - 1, false, {}, {0, 0, 0}};
    put(root.input, stacked({0, 0, 0}, base));
    enter(root);
    while (!given_.empty()) {
        const Given at = given_.back();
        given_.pop_back();
        const AssemblyNode& node = tree().nodes[at.node];
        const bool has_joint = node.kind == NodeKind::join || node.kind == NodeKind::rake;
        if (has_joint && !is_free(node.link)) {
            double rate[6];
            joint_rate(at, rate);
            const Link& link = linkage_->links[node.link];
            const bool factored = node.kind == NodeKind::rake && tree().nodes[node.left].kind == NodeKind::body;
            Given next = at;
            next.of_joint = true;
            next.gain =
                bellcrank::energy_along(f_.d.data() + squares_[node.link], link.motion.freedoms(), factored, rate);
            ask(next);
        }
        pass_on(at);
    }
    while (!queue_.empty() && left_.hi > enough && static_cast<int>(links.size()) < most) {
        std::pop_heap(queue_.begin(), queue_.end());
        const Given at = queue_.back();
        queue_.pop_back();
        left_ = left_ + DoubleDouble(-at.gain);
        const AssemblyNode& node = tree().nodes[at.node];
        if (node.kind == NodeKind::join || node.kind == NodeKind::rake) links.push_back(node.link);
        if (!at.of_joint) pass_on(at);
    }
    return left_.hi;
}

// Up the path to the root with no other load and no velocities: −k is what is asked for there.
double HybridAssembly::mobility_along(int number, const Six& load) {
    constexpr double zero[6] = {}, nothing = 0.0;
    double first[6], second[6], gamma[6], R[6], scalar = 0.0;
    double up_first[6], up_second[6], up_scalar = 0.0;
    put(first, load);
    for (int at = tree().body_of[number], from = -1; at >= 0; from = at, at = tree().nodes[at].parent) {
        const AssemblyNode& node = tree().nodes[at];
        if (node.kind == NodeKind::sum) continue;
        if (node.kind == NodeKind::body) {
            if (from >= 0) put(first, -six(first));  // a law's g is a load on its carrier
            if (is_alone(node)) continue;
            const double k = scalar;
            mobility_loads<1>(bodies_[node.link].phi, first, &k, up_first, &scalar);
            std::copy_n(up_first, 6, first);
            std::copy_n(up_first, 6, second);
            continue;
        }
        const Link& link = linkage_->links[node.link];
        const JointNumbers joint = f_.of(link, subspace(node.link), squares_[node.link], true);
        const Place& place = frames_.place(node.link);
        if (node.kind == NodeKind::join) {
            const Join& join = joins_[node.slot];
            const StretchLoads own{first, second, &scalar}, other{zero, zero, &nothing};
            const bool is_left = node.left == from;
            join_loads<1>(joint, place, join, join.w, is_left ? own : other, is_left ? other : own, nullptr, zero,
                          node.ends, {up_first, up_second, gamma, R, &up_scalar});
            std::copy_n(up_first, 6, first);
            std::copy_n(up_second, 6, second);
            scalar = up_scalar;
            continue;
        }
        const Matrix6& law = laws_[node.slot].w;
        if (tree().nodes[node.left].kind == NodeKind::body)
            rake_alone_loads<1>(joint, place, law, first, &scalar, nullptr, zero, {up_first, R, &up_scalar});
        else
            rake_loads<1>(joint, place, law, first, &scalar, nullptr, zero, {up_first, R, &up_scalar});
        std::copy_n(up_first, 6, first);
        scalar = up_scalar;
    }
    return -scalar;
}

double HybridAssembly::energy_along(int link, const double* u) const {
    const AssemblyNode& node = tree().nodes[tree().joint_of[link]];
    const bool factored =
        node.kind == NodeKind::rake && (!is_open(node.left) || tree().nodes[node.left].kind == NodeKind::body);
    return bellcrank::energy_along(h_.d.data() + squares_[link], linkage_->links[link].motion.freedoms(), factored, u);
}

}  // namespace bellcrank
