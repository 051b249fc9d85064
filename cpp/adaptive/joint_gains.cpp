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
    const int number = loops_.number_of(at.node);
    const int ports = number < 0 ? 0 : static_cast<int>(loops_.at(number).kept.size());
    const double* const loads = loads_.data() + at.loads;
    double xi[kColumns] = {1.0};
    products_of(at.w, xi + 1);
    Six h = composite.load(at.w);
    double k = composite.scalar(at.w);
    if (ports > 0) h = h + load_of_ports(at.node, loads, at.w, &k);
    const Six in = six(at.input);
    const StretchLoads columns = own_columns(at.node);
    const auto value_of = [&](const double* of) { return times(of, xi, kColumns, loads, ports); };
    double scalar = collapse_scalar(columns.c, xi + 1);
    if (ports > 0) scalar = square_of(columns.c, xi, kColumns, loads, ports);
    const auto by_acceleration = [&](const Matrix6& W, double sign) {
        const double rigid = dot(in, composite.inertia() * in - 2.0 * h) + k;
        return rigid - (dot(in, W * in + 2.0 * sign * value_of(columns.b1)) + scalar);
    };
    if (is_law(node)) return by_acceleration(laws_[node.slot].w, 1.0);
    if (node.kind == NodeKind::body && is_alone(node)) return by_acceleration(bodies_[node.link].phi, -1.0);

    const Mobility own = free_mobility(at.node);
    const Place* reach = frames_.reach(at.node);
    const bool is_long = reach != nullptr && !node.ends;
    const Six other = node.ends && node.kind == NodeKind::join ? Six{} : six(at.input + 6);
    double value = scalar, rigid = -k;
    Six all = in + other;
    if (is_long) {
        all = in + force_out_of(*reach, other);
        value += dot(in, *own.phi1 * in + 2.0 * value_of(columns.b1)) +
                 2.0 * dot(other, *own.phi21 * in + value_of(columns.b2)) + dot(other, *own.phi2 * other);
        rigid += 2.0 * dot(as_force(other).f, transpose_times(reach->rotation, centripetal(at.w, reach->shift)));
    } else
        value += dot(all, *own.phi1 * all + 2.0 * value_of(columns.b1));
    Matrix6 mobility = composite.inertia();
    invert(mobility);
    const Six load = all + h;
    return value - (rigid + dot(load, mobility * load));
}

// loads: at all ports of the node.
void HybridAssembly::joint_rate(const Given& at, const double* loads, double* rate) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms(), six_each = 6 * link.freedom, number = loops_.number_of(at.node);
    const double* R = number < 0 ? f_.r.data() + kColumns * link.freedom : f_ports_[number].R.data();
    const int own = is_open(at.node) ? 1 : kColumns,
              ports = number < 0 ? 0 : static_cast<int>(loops_.at(number).links.size());
    double s[kProducts] = {};
    if (!is_open(at.node)) products_of(at.w, s);
    for (int i = 0; i < d; ++i) {
        rate[i] = R[i] - dot(six(f_.g1.data() + six_each + 6 * i), six(at.input));
        for (int j = 1; j < own; ++j) rate[i] += R[d * j + i] * s[j - 1];
        for (int p = 0; p < 6 * ports; ++p) rate[i] += R[d * (own + p) + i] * loads[p];
        if (node.kind == NodeKind::join && !node.ends)
            rate[i] += dot(six(f_.g2.data() + six_each + 6 * i), six(at.input + 6));
    }
}

void HybridAssembly::enter(const Given& at) {
    if (is_open(at.node)) return given_.push_back(at);
    if (!ranks_) return;
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

// Loads at all ports of a node, from what it is given; null: it has none.
const double* HybridAssembly::loads_of(const Given& at) {
    const int number = loops_.number_of(at.node);
    if (number < 0) return nullptr;
    const AssemblyNode& node = tree().nodes[at.node];
    const int own = is_open(at.node) ? 1 : kColumns;
    double xi[kColumns] = {1.0};
    if (own > 1) products_of(at.w, xi + 1);
    const double* const kept = loads_.data() + at.loads;
    Six first = six(at.input), second = node.ends ? Six{} : six(at.input + 6);
    if (node.kind == NodeKind::body) {
        second = Six{};
        if (!is_alone(node))
            first = bodies_[node.link].phi * (first + six(at.input + 6)) +
                    times(f_ports_[number].b1.data(), xi, own, kept, static_cast<int>(loops_.at(number).kept.size()));
    }
    return loads_in(at.node, true, kept, xi, own, first, second);
}

// Gives the parts of a node what follows from what it is given; loads: at all its ports.
template <class Give>
void HybridAssembly::divide(const Given& at, const double* loads, const Give& to) {
    const AssemblyNode& node = tree().nodes[at.node];
    const bool open = is_open(at.node);
    const int ported = loops_.number_of(at.node);
    const int ports = ported < 0 ? 0 : static_cast<int>(loops_.at(ported).links.size());
    double xi[kColumns] = {1.0};
    if (!open) products_of(at.w, xi + 1);
    const int own = open ? 1 : kColumns;
    const auto number = [&](const double* columns) { return times(columns, xi, own, loads, ports); };
    const auto give = [&](int part, const Six& first, const Six& second, const Vec3& w) {
        Given next{0.0, part, false, {}, w, 0};
        put(next.input, first);
        put(next.input + 6, second);
        if (const int below = loops_.number_of(part); below >= 0) {
            next.loads = static_cast<int>(loads_.size());
            const double* const from = loads + (part == node.right ? 6 * loops_.at(ported).left : 0);
            loads_.insert(loads_.end(), from, from + 6 * loops_.at(below).kept.size());
        }
        to(next);
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
        const double* b = own_columns(at.node).b1;
        const Six free =
            ported < 0 ? number(b)
                       : times(b, xi, own, loads_.data() + at.loads, static_cast<int>(loops_.at(ported).kept.size()));
        return give(node.left, bodies_[node.link].phi * (first + second) + free, Six{}, at.w);
    }
    const Place& place = frames_.place(node.link);
    if (node.kind == NodeKind::join) {
        const Join& join = joins_[node.slot];
        Six f = join.x1 * first + number(ported < 0 ? join.gamma : f_ports_[ported].gamma.data());
        if (!node.ends) f = f - join.x2 * second;
        give(node.left, first, -force_out_of(place, f), at.w);
        return give(node.right, f, node.ends ? Six{} : second, behind(node.right, offset(node).rotation));
    }
    const Vec3 w = behind(node.left, place.rotation);
    const AssemblyNode& branch = tree().nodes[node.left];
    if (branch.kind == NodeKind::join) {
        const Law& law = laws_[node.slot];
        const Six force = ported < 0 ? law.w * first + number(law.g)
                                     : f_ports_[ported].law * first + number(f_ports_[ported].gamma.data());
        return give(node.left, force_into(place, force), Six{}, w);
    }
    if (branch.left < 0) return;
    give(node.left, behind_rake(at, loads), Six{}, w);
}

// The acceleration of a branch that is a body by itself.
Six HybridAssembly::behind_rake(const Given& at, const double* loads) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Link& link = linkage_->links[node.link];
    const Place& place = frames_.place(node.link);
    double rate[6];
    joint_rate(at, loads, rate);
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
    Six a;
    if (!own.is_open && node.parent >= 0 && tree().nodes[node.parent].kind == NodeKind::rake) {
        const Link& by = linkage_->links[tree().nodes[node.parent].link];
        const Place& place = frames_.place(tree().nodes[node.parent].link);
        const Held& above = held(node.parent);
        a = motion_into(place, six(above.input)) + six(above.zeta);
        if (is_free(tree().nodes[node.parent].link))
            a = a + joint_motion(by.motion, subspace(tree().nodes[node.parent].link), rates + by.freedom);
    } else if (is_law(node) || is_alone(node)) {
        a = first;
    } else {
        const int ported = loops_.number_of(number);
        constexpr double kOne = 1.0;
        a = ported < 0 ? six(own.b1)
                       : times(h_ports_[ported].b1.data(), &kOne, 1, h_ports_[ported].given.data(),
                               static_cast<int>(loops_.at(ported).kept.size()));
        if (node.kind == NodeKind::join)
            a = a + own.phi1 * first + (node.ends ? Six{} : transpose_times(own.phi21, second));
        else
            a = a + own.phi1 * (first + second);
    }
    const Vec3 round = transpose_times(at.rotation, centripetal(own.twist.w, at.shift));
    return motion_into(at, a) + stacked({0, 0, 0}, round);
}

// Down F, along the path to the body alone.
Six HybridAssembly::lack(const Vec3& base, int link, const double* rates) {
    path_.clear();
    for (int node = tree().body_of[link]; node >= 0; node = tree().nodes[node].parent) path_.push_back(node);
    Given at = begin_down(base);
    for (; path_.size() > 1; path_.pop_back()) {
        const int next = path_[path_.size() - 2];
        const double* const loads = loads_of(at);
        Given found{0.0, -1, false, {}, {0, 0, 0}, 0};
        divide(at, loads, [&](const Given& part) {
            if (part.node == next) found = part;
        });
        if (found.node < 0) {  // a body without branches, which is one by itself
            found.node = next;
            put(found.input, behind_rake(at, loads));
        }
        at = found;
    }
    const AssemblyNode& node = tree().nodes[at.node];
    Six a = six(at.input);
    if (!is_alone(node)) {
        const int ported = loops_.number_of(at.node), own = is_open(at.node) ? 1 : kColumns;
        double xi[kColumns] = {1.0};
        if (own > 1) products_of(at.w, xi + 1);
        const int ports = ported < 0 ? 0 : static_cast<int>(loops_.at(ported).kept.size());
        a = bodies_[link].phi * (a + six(at.input + 6)) +
            times(own_columns(at.node).b1, xi, own, loads_.data() + at.loads, ports);
    }
    return a - acceleration(link, rates);
}

void HybridAssembly::pass_on(const Given& at, const double* loads) {
    divide(at, loads, [this](const Given& part) { enter(part); });
}

HybridAssembly::Given HybridAssembly::begin_down(const Vec3& base) {
    given_.clear();
    queue_.clear();
    loads_.clear();
    left_ = DoubleDouble();
    Given root{0.0, static_cast<int>(tree().nodes.size()) - 1, false, {}, {0, 0, 0}, 0};
    put(root.input, stacked({0, 0, 0}, base));
    return root;
}

double HybridAssembly::gains(const Vec3& base, double enough, int most, std::vector<int>& links) {
    enter(begin_down(base));
    while (!given_.empty()) {
        const Given at = given_.back();
        given_.pop_back();
        const AssemblyNode& node = tree().nodes[at.node];
        const bool has_joint = node.kind == NodeKind::join || node.kind == NodeKind::rake;
        const double* const loads = loads_of(at);
        if (has_joint && !is_free(node.link)) {
            double rate[6];
            joint_rate(at, loads, rate);
            const Link& link = linkage_->links[node.link];
            const bool factored = node.kind == NodeKind::rake && tree().nodes[node.left].kind == NodeKind::body;
            Given next = at;
            next.of_joint = true;
            next.gain = f_.energy(node.link, link, squares_[node.link], factored, rate);
            ask(next);
        }
        pass_on(at, loads);
    }
    while (!queue_.empty() && left_.hi > enough && static_cast<int>(links.size()) < most) {
        std::pop_heap(queue_.begin(), queue_.end());
        const Given at = queue_.back();
        queue_.pop_back();
        left_ = left_ + DoubleDouble(-at.gain);
        const AssemblyNode& node = tree().nodes[at.node];
        if (node.kind == NodeKind::join || node.kind == NodeKind::rake) links.push_back(node.link);
        if (!at.of_joint) pass_on(at, loads_of(at));
    }
    return left_.hi;
}

// What multipliers of rows do along accelerations of F, where no joint accelerates: F's are stationary against those
// that rows allow, and these are not.
double HybridAssembly::work_of_rows(const Vec3& base) {
    if (loops_.empty()) return 0.0;
    double work = 0.0;
    ranks_ = false;
    enter(begin_down(base));
    while (!given_.empty()) {
        const Given at = given_.back();
        given_.pop_back();
        const double* const loads = loads_of(at);
        const int number = loops_.number_of(at.node);
        const MeetingRows* rows = number < 0 || loops_.at(number).meeting < 0 ? nullptr : &ports_[number].rows;
        for (int r = 0; rows != nullptr && r < rows->count; ++r) {
            const std::vector<int>& links = loops_.at(number).links;
            double left = rows->bias[r] + dot(rows->on_ground[r], base);
            for (size_t p = 0; p < links.size(); ++p)
                left += dot(six(rows->J.data() + 6 * (links.size() * r + p)), carried_of(links[p]));
            work += multipliers_[r] * left;
        }
        pass_on(at, loads);
    }
    ranks_ = true;
    return work;
}

// Up the path to the root with no other load and no velocities: −k is what is asked for there. Ports on the path have
// columns too, so that rows may answer the load.
double HybridAssembly::mobility_along(int number, const Six& load) {
    constexpr double zero[6] = {}, nothing = 0.0;
    double first[6], second[6], gamma[6], R[6], scalar = 0.0;
    double up_first[6], up_second[6], up_scalar = 0.0;
    put(first, load);
    across_.clear();  // of ports that the node keeps
    for (int at = tree().body_of[number], from = -1; at >= 0; from = at, at = tree().nodes[at].parent) {
        const AssemblyNode& node = tree().nodes[at];
        if (loops_.number_of(at) >= 0) {
            answer_along(at, from, first, second, &scalar);
            continue;
        }
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
        const JointNumbers joint = f_.of(node.link, link, subspace(node.link), squares_[node.link], true);
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
    return h_.energy(link, linkage_->links[link], squares_[link], factored, u);
}

// Down the paths from the root to some joints. The force on what a joint carries, along S and beside its effort.
void HybridAssembly::judge(const Vec3& base, const std::vector<int>& links, std::vector<JointInF>& told) {
    told.clear();
    is_asked_.resize(tree().nodes.size(), 0);
    for (const int link : links) {
        int node = tree().joint_of[link];
        told_.push_back(node);
        for (; node >= 0 && is_asked_[node] == 0; node = tree().nodes[node].parent) is_asked_[node] = 1;
    }
    std::sort(told_.begin(), told_.end());
    given_.assign(1, begin_down(base));
    while (!given_.empty()) {
        const Given at = given_.back();
        given_.pop_back();
        if (is_asked_[at.node] == 0) continue;
        is_asked_[at.node] = 0;
        const double* const loads = loads_of(at);
        if (std::binary_search(told_.begin(), told_.end(), at.node)) {
            JointInF& one = told.emplace_back(JointInF{tree().nodes[at.node].link, {}, {}});
            joint_rate(at, loads, one.rate);
            exerted_in(at, loads, one.exerted);
        }
        divide(at, loads, [this](const Given& part) { given_.push_back(part); });
    }
    told_.clear();
}

// loads: at all ports of the node.
void HybridAssembly::exerted_in(const Given& at, const double* loads, double* along) const {
    const AssemblyNode& node = tree().nodes[at.node];
    const Link& link = linkage_->links[node.link];
    const int ported = loops_.number_of(at.node), own = is_open(at.node) ? 1 : kColumns;
    const int ports = ported < 0 ? 0 : static_cast<int>(loops_.at(ported).links.size());
    double xi[kColumns] = {1.0}, load[6];
    if (own > 1) products_of(at.w, xi + 1);
    const auto value = [&](const double* columns) {
        return times(ported < 0 ? columns : f_ports_[ported].gamma.data(), xi, own, loads, ports);
    };
    if (node.kind == NodeKind::join) {
        const Join& join = joins_[node.slot];
        Six f = join.x1 * six(at.input) + value(join.gamma);
        if (!node.ends) f = f - join.x2 * six(at.input + 6);
        put(load, f);
    } else {
        const Law& law = laws_[node.slot];
        const Matrix6& W = ported < 0 ? law.w : f_ports_[ported].law;
        put(load, force_into(frames_.place(node.link), W * six(at.input) + value(law.g)));
    }
    subspace_components(link.motion, subspace(node.link), load, along);
    for (int i = 0; i < link.motion.freedoms(); ++i) along[i] -= effort_[link.freedom + i];
}

}  // namespace bellcrank
