#include "adaptive/hybrid_assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

constexpr std::uint8_t kLoads = 1, kJointMatrices = 2;

}  // namespace

JointNumbers HybridAssembly::Numbers::of(int number, const Link& link, const double* S, int square, bool free) {
    const int at = 6 * link.freedom;
    JointNumbers out{
        link.motion,   S, free ? link.motion.freedoms() : 0, u.data() + at, d.data() + square, g1.data() + at,
        g2.data() + at};
    if (bar_of[number] < 0 || !free) return out;
    Bar& bar = bars[bar_of[number]];
    out.directions = bar.directions;
    out.along = bar.along;
    out.whole = bar.whole;
    return out;
}

double HybridAssembly::Numbers::energy(int number, const Link& link, int square, bool factored, const double* u) const {
    const int freedoms = link.motion.freedoms();
    if (bar_of[number] >= 0) return bellcrank::energy_along(bars[bar_of[number]].whole, freedoms, false, u);
    return bellcrank::energy_along(d.data() + square, freedoms, factored, u);
}

HybridAssembly::HybridAssembly(std::shared_ptr<const Model> model, std::shared_ptr<const Linkage> linkage)
    : linkage_(std::move(linkage)),
      joins_(tree().joins),
      laws_(tree().laws),
      bodies_(tree().links()),
      composites_(tree().nodes.size()),
      frames_(tree()),
      marks_(tree()),
      loops_(model, *linkage_),
      base_(-model->gravity),
      free_(tree().links(), 0),
      counted_(tree().links(), 0),
      given_of_(tree().links(), -1),
      open_(tree().nodes.size(), 0),
      at_(tree().nodes.size(), -1) {
    int squares = 0;
    for (const Link& link : linkage_->links) {
        squares_.push_back(squares);
        squares += link.motion.freedoms() * link.motion.freedoms();
    }
    const size_t freedoms = linkage_->freedoms;
    subspace_.assign(6 * freedoms, 0.0);
    effort_.assign(freedoms, 0.0);
    nothing_.assign(6, 0.0);
    for (Numbers* numbers : {&f_, &h_}) {
        for (Array<double>* rows : {&numbers->u, &numbers->g1, &numbers->g2}) rows->assign(6 * freedoms, 0.0);
        numbers->d.assign(squares, 0.0);
        numbers->bar_of.assign(tree().links(), -1);
    }
    f_.r.assign(kColumns * freedoms, 0.0);
    h_.r.assign(freedoms, 0.0);
    for (Body& body : bodies_) std::fill_n(body.force, 6, 0.0);
    size_t most = 0;
    int rows = 0;
    for (const PortedNode& ported : loops_.nodes()) {
        const AssemblyNode& node = tree().nodes[ported.node];
        const bool has_joint = node.kind == NodeKind::join || node.kind == NodeKind::rake;
        const int d = has_joint ? linkage_->links[node.link].motion.freedoms() : 0;
        ports_.push_back({std::vector<Place>(ported.links.size()), loops_.room_for(ported)});
        f_ports_.emplace_back(ported, kColumns, d, ports_.back().rows.count);
        h_ports_.emplace_back(ported, 1, d, ports_.back().rows.count);
        most = std::max(most, ported.links.size());
        rows = std::max(rows, ports_.back().rows.count);
    }
    port_twists_.resize(most);
    at_ports_.resize(6 * most);
    multipliers_.resize(rows);
    for (const GivenMotion& motion : linkage_->given) {
        if (given_of_[motion.link] >= 0) continue;
        given_of_[motion.link] = static_cast<int>(givens_.size());
        givens_.push_back({});
        changed_.push_back(motion.link);
    }
    count();
}

void HybridAssembly::set_given(int link, const double* rates, const Six& twist, const Six& acceleration) {
    GivenOf& own = givens_[given_of_[link]];
    std::copy_n(rates, linkage_->links[link].motion.coordinates(), own.rates);
    put(own.twist, twist);
    put(own.acceleration, acceleration);
}

Six HybridAssembly::bias(int link, const double* q, const double* u, const Six& relative, const Vec3& w) const {
    const JointMotion& motion = linkage_->links[link].motion;
    const Place& place = frames_.place(link);
    if (given_of_[link] < 0) return moving_bias(motion, place, q, u, relative, w);
    const GivenOf& own = givens_[given_of_[link]];
    double all[6];
    motion.with_given(u, own.rates, all);
    return moving_bias(motion, place, q, all, relative, w) + six(own.acceleration);
}

void HybridAssembly::set_place(int link, const Place& place, const double* subspace) {
    frames_.place(link) = place;
    const Link& of = linkage_->links[link];
    if (!of.motion.is_axial()) std::copy_n(subspace, 6 * of.motion.freedoms(), subspace_.data() + 6 * of.freedom);
}

bool HybridAssembly::set_force(int link, const double* force) {
    if (std::equal(force, force + 6, bodies_[link].force)) return false;
    std::copy_n(force, 6, bodies_[link].force);
    if (!is_open(tree().body_of[link])) marks_.mark(tree().body_of[link], kLoads);
    return true;
}

bool HybridAssembly::set_effort(int link, const double* effort) {
    const Link& of = linkage_->links[link];
    double* own = effort_.data() + of.freedom;
    if (std::equal(effort, effort + of.motion.freedoms(), own)) return false;
    std::copy_n(effort, of.motion.freedoms(), own);
    if (!is_open(tree().joint_of[link])) marks_.mark(tree().joint_of[link], kLoads);
    return true;
}

void HybridAssembly::set_free(int link, bool free) {
    if (is_free(link) == free) return;
    free_[link] = free;
    changed_.push_back(link);
}

// Joint by joint, or all at once where that is shorter.
void HybridAssembly::count() {
    if (16 * changed_.size() > tree().nodes.size()) {
        std::fill(open_.begin(), open_.end(), 0);
        for (size_t link = 0; link < free_.size(); ++link)
            open_[tree().joint_of[link]] += counted_[link] = is_loose(static_cast<int>(link));
        for (size_t node = 0; node < open_.size(); ++node)
            if (tree().nodes[node].parent >= 0) open_[tree().nodes[node].parent] += open_[node];
        return changed_.clear();
    }
    for (const int link : changed_) {
        const bool loose = is_loose(link);
        if (loose == (counted_[link] != 0)) continue;
        counted_[link] = loose;
        const int change = loose ? 1 : -1;
        for (int node = tree().joint_of[link]; node >= 0; node = tree().nodes[node].parent) open_[node] += change;
    }
    changed_.clear();
}

void HybridAssembly::close_all() {
    count();
    for (size_t node = 0; node < tree().nodes.size(); ++node) {
        frames_.update(tree().nodes[node]);
        place_ports(static_cast<int>(node));
    }
    frames_.update_chosen();
    marks_.clear();
    for (size_t node = 0; node < tree().nodes.size(); ++node)
        if (!is_open(static_cast<int>(node))) close(static_cast<int>(node), true);
    for (const int node : order_) at_[node] = -1;
    order_.clear();
    arrange();
}

void HybridAssembly::arrange() {
    count();
    for (size_t i = order_.size(); i-- > 0;) {
        const int node = order_[i];
        at_[node] = -1;
        // Those of the front are closed, and come first where they are parts.
        if (held_[i].is_open && !is_open(node)) close(node, true);
    }
    order_.clear();
    stack_.assign(1, static_cast<int>(tree().nodes.size()) - 1);
    while (!stack_.empty()) {
        const int node = stack_.back();
        stack_.pop_back();
        at_[node] = static_cast<int>(order_.size());
        order_.push_back(node);
        if (!is_open(node)) continue;
        const AssemblyNode& of = tree().nodes[node];
        for (const int part : {of.right, of.left})
            if (part >= 0) stack_.push_back(part);
    }
    if (held_.size() < order_.size()) held_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) {
        held_[i].is_open = is_open(order_[i]);
        if (!held_[i].is_open) begin_front(order_[i]);
    }
}

void HybridAssembly::close(int node, bool matrices) {
    if (const int at = loops_.number_of(node); at >= 0) {
        place_ports(node);
        if (loops_.at(at).meeting >= 0)
            loops_.find(loops_.at(at), time_, ports_[at].places.data(), nullptr, ports_[at].rows);
        answer_ported<true>(node, kColumns, Pass::motion);
    } else
        answer<kColumns>(node, matrices);
    const AssemblyNode& of = tree().nodes[node];
    Composite& out = composites_[node];
    switch (of.kind) {
        case NodeKind::body:
            out = Composite::of_body(linkage_->links[of.link], bodies_[of.link].force);
            if (of.left >= 0) out += composites_[of.left];
            return;
        case NodeKind::join:
            out = composites_[of.left];
            out += composites_[of.right].seen_from(offset(of));
            return;
        case NodeKind::rake:
            out = composites_[of.left].seen_from(frames_.place(of.link));
            return;
        case NodeKind::sum:
            out = composites_[of.left];
            out += composites_[of.right];
            return;
    }
}

Place HybridAssembly::offset(const AssemblyNode& node) const {
    const Place* reach = node.kind == NodeKind::join ? frames_.reach(node.left) : nullptr;
    return reach == nullptr ? frames_.place(node.link) : *reach * frames_.place(node.link);
}

void HybridAssembly::update_frames() {
    for (size_t i = order_.size(); i-- > 0;)
        if (held_[i].is_open) {
            frames_.update(tree().nodes[order_[i]]);
            place_ports(order_[i]);
        }
    frames_.update_chosen();
}

void HybridAssembly::update_loads() {
    marks_.sweep([this](int node, std::uint8_t what) {
        if (!is_open(node)) close(node, (what & kJointMatrices) != 0);
    });
}

void HybridAssembly::unbar() {
    for (const System system : {System::moving, System::judging})
        while (bars(system)) bar(system, numbers_of(system).bars.back().link, 0, nullptr);
}

bool HybridAssembly::bar(System system, int link, int directions, const double* along, const double* bias) {
    Numbers& numbers = system == System::moving ? h_ : f_;
    int& place = numbers.bar_of[link];
    if (place < 0 && directions == 0) return false;
    const int freedoms = linkage_->links[link].motion.freedoms(), size = freedoms * directions;
    if (place < 0) {
        place = static_cast<int>(numbers.bars.size());
        numbers.bars.push_back({link, 0, {}, {}, {}});
    }
    Numbers::Bar& bar = numbers.bars[place];
    const bool is_same = bar.directions == directions && std::equal(along, along + size, bar.along);
    if (!is_same && system == System::judging && !is_open(tree().joint_of[link]))
        marks_.mark(tree().joint_of[link], kLoads | kJointMatrices);
    bool is_moved = false;
    for (int i = 0; i < freedoms; ++i) {
        const double next = bias == nullptr || directions == 0 ? 0.0 : bias[i];
        is_moved |= bar.bias[i] != next;
        bar.bias[i] = next;
    }
    bar.directions = directions;
    std::copy_n(along, size, bar.along);
    if (directions > 0) return is_moved;
    bar = numbers.bars.back();
    numbers.bar_of[bar.link] = place;
    numbers.bars.pop_back();
    place = -1;
    return is_moved;
}

bool HybridAssembly::is_behind(int number) const {
    const AssemblyNode& above = tree().nodes[tree().nodes[number].parent];
    return above.kind == NodeKind::rake || (above.kind == NodeKind::join && above.right == number);
}

// The twist of the last body of a stretch, whose parts have theirs.
Twist HybridAssembly::last_twist(int node) const {
    while (is_open(node) && tree().nodes[node].kind == NodeKind::join) node = tree().nodes[node].right;
    const Twist& first = held(node).twist;
    const Place* reach = frames_.reach(node);
    return reach == nullptr ? first : inward(reach->rotation, reach->shift, first);
}

void HybridAssembly::take_motion(double t, const double* q, const double* u) {
    time_ = t;
    for (size_t i = 0; i < order_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[order_[i]];
        Held& own = held_[i];
        if (node.parent < 0)
            own.twist = Twist{{0, 0, 0}, {0, 0, 0}};
        else if (is_behind(order_[i])) {
            const AssemblyNode& above = tree().nodes[node.parent];
            const Twist carrier = above.kind == NodeKind::rake ? held(node.parent).twist : last_twist(above.left);
            const Link& link = linkage_->links[above.link];
            const Place& place = frames_.place(above.link);
            const double *own_q = q + link.coordinate, *own_u = u + link.freedom;
            Six relative = given_twist(above.link);
            if (is_free(above.link)) relative = relative + joint_motion(link.motion, subspace(above.link), own_u);
            own.twist = as_motion(motion_into(place, stacked(carrier)) + relative);
            Six zeta = bias(above.link, own_q, own_u, relative, carrier.w);
            if (h_.directions(above.link) > 0 && is_free(above.link))
                zeta = zeta + joint_motion(link.motion, subspace(above.link), h_.bars[h_.bar_of[above.link]].bias);
            put(held(node.parent).zeta, zeta);
        } else
            own.twist = held(node.parent).twist;
        if (!own.is_open) products_of(own.twist.w, own.s);
    }
}

// The cluster that a body moves with is the first node above it that is visited.
Twist HybridAssembly::twist_of(int link) const {
    int node = tree().body_of[link];
    Place at, step;
    for (; at_[node] < 0; node = tree().nodes[node].parent)
        if (frames_.step_up(node, step)) at = step * at;
    return inward(at.rotation, at.shift, held(node).twist);
}

// Of the front in H: matrices, which stay as long as it is.
void HybridAssembly::begin_front(int node) {
    const AssemblyNode& of = tree().nodes[node];
    Held& own = held(node);
    own.phi1 = composites_[node].inertia();
    if (is_law(of) || is_alone(of)) return;
    if (of.kind == NodeKind::body && of.left < 0)
        own.phi1 = linkage_->links[of.link].mobility();
    else
        invert(own.phi1);
    const Place* reach = frames_.reach(node);
    if (reach == nullptr || of.ends) return;
    const Matrix6 X = motion_transform(*reach);
    product(X, own.phi1, own.phi21);
    product(own.phi21, transpose(X), own.phi2);
}

void HybridAssembly::hold_front(int node, Pass pass) {
    if (loops_.number_of(node) >= 0) return hold_ported_front(node, pass);
    const AssemblyNode& of = tree().nodes[node];
    Held& own = held(node);
    const Composite& composite = composites_[node];
    const Vec3& w = own.twist.w;
    const bool moves = pass == Pass::motion;
    const Six h = moves ? composite.load(w) : pass == Pass::momenta ? composite.inertia() * stacked(own.twist) : Six{};
    const double k = moves ? composite.scalar(w) : 0.0;
    own.c = k;
    if (is_law(of)) return put(own.b1, -h);
    if (is_alone(of)) return put(own.b1, h);
    const Six b = own.phi1 * h;
    put(own.b1, b);
    own.c = dot(h, b) - k;
    const Place* reach = frames_.reach(node);
    if (reach == nullptr || of.ends) return;
    Six last = motion_into(*reach, b);
    if (moves) last = last + stacked({0, 0, 0}, transpose_times(reach->rotation, centripetal(w, reach->shift)));
    put(own.b2, last);
}

Mobility HybridAssembly::mobility(int node) const {
    const Held& own = held(node);
    if (frames_.reach(node) == nullptr) return {&own.phi1, &own.phi1, &own.phi1};
    return {&own.phi1, &own.phi21, &own.phi2};
}
StretchLoads HybridAssembly::loads(int node) const {
    const bool is_short = frames_.reach(node) == nullptr;
    if (const int at = loops_.number_of(node); at >= 0) {
        const PortedColumns& of = h_ports_[at];
        return {of.b1.data(), is_short ? of.b1.data() : of.b2.data(), of.c.data()};
    }
    const Held& own = held(node);
    return {own.b1, is_short ? own.b1 : own.b2, &own.c};
}

// Of a joint in a pass: accelerations by velocities and as they are given, or given speeds.
const double* HybridAssembly::zeta_of(int number, Pass pass) const {
    const AssemblyNode& node = tree().nodes[number];
    const bool has_joint = node.kind == NodeKind::join || node.kind == NodeKind::rake;
    if (!has_joint || pass == Pass::impulse || pass == Pass::displacement) return nothing_.data();
    if (pass == Pass::motion) return held(number).zeta;
    return given_of_[node.link] < 0 ? nothing_.data() : givens_[given_of_[node.link]].twist;
}

void HybridAssembly::hold_open(int number, Pass pass) {
    if (loops_.number_of(number) >= 0) return answer_ported<false>(number, 1, pass);
    const AssemblyNode& node = tree().nodes[number];
    const bool moves = pass == Pass::motion;
    Held& own = held(number);
    if (node.kind == NodeKind::sum) {
        const StretchLoads a = loads(node.left), b = loads(node.right);
        own.phi1 = held(node.left).phi1;
        add(own.phi1, held(node.right).phi1);
        put(own.b1, six(a.b1) + six(b.b1));
        own.c = *a.c + *b.c;
        return;
    }
    const Link& link = linkage_->links[node.link];
    if (node.kind == NodeKind::body) {
        const StretchLoads law = loads(node.left);
        const Vec3& w = own.twist.w;
        Six h = -six(law.b1);
        if (moves)
            h = h + six(bodies_[node.link].force) + gyroscopic(link.inertia, w);
        else if (pass == Pass::momenta)
            h = h + link.inertia * stacked(own.twist);
        own.c = *law.c + (moves ? spread(link.inertia, w) : 0.0);
        own.phi1 = link.inertia;
        add(own.phi1, held(node.left).phi1);
        if (is_alone(node)) return put(own.b1, h);
        invert(own.phi1);
        double load[6];
        const double k = own.c;
        put(load, h);
        return mobility_loads<1>(own.phi1, load, &k, own.b1, &own.c);
    }
    const JointNumbers joint = h_.of(node.link, link, subspace(node.link), squares_[node.link], is_free(node.link));
    const Place& place = frames_.place(node.link);
    const Matrix6 X = motion_transform(place), XT = transpose(X);
    const double *zeta = zeta_of(number, pass), *effort = moves ? effort_.data() + link.freedom : nothing_.data();
    if (pass == Pass::impulse && node.link == struck_) effort = impulse_;
    double* R = h_.r.data() + link.freedom;
    if (node.kind == NodeKind::join) {
        if (moves) join_matrices(joint, X, XT, mobility(node.left), mobility(node.right), node.ends, own, own.w);
        return join_loads<1>(joint, place, own, own.w, loads(node.left), loads(node.right), zeta, effort, node.ends,
                             {own.b1, own.b2, own.gamma, R, &own.c});
    }
    const StretchLoads branch = loads(node.left);
    const bool alone = !is_open(node.left) || tree().nodes[node.left].kind == NodeKind::body;
    Matrix6 WX;
    if (moves) rake_matrices(joint, X, XT, held(node.left).phi1, alone, own.phi1, WX);
    if (alone)
        rake_alone_loads<1>(joint, place, own.phi1, branch.b1, branch.c, zeta, effort, {own.b1, R, &own.c});
    else
        rake_loads<1>(joint, place, own.phi1, branch.b1, branch.c, zeta, effort, {own.b1, R, &own.c});
}

void HybridAssembly::hold_all(Pass pass) {
    for (size_t i = order_.size(); i-- > 0;)
        held_[i].is_open ? hold_open(order_[i], pass) : hold_front(order_[i], pass);
}

void HybridAssembly::hold() {
    find_rows();
    hold_all(Pass::motion);
}

void HybridAssembly::accelerate(const Vec3& base, double* rates) {
    led_power_ = 0.0;
    put(held_[0].input, stacked({0, 0, 0}, base));
    for (size_t i = 0; i < order_.size(); ++i)
        if (held_[i].is_open) hand_down(order_[i], rates);
}

// Jᵀ λ does λᵀ J v, which is −λᵀ drift.
void HybridAssembly::book_multipliers(int ported) {
    const MeetingRows& rows = ports_[ported].rows;
    for (int r = 0; r < rows.count; ++r) led_power_ -= multipliers_[r] * rows.drift[r];
}

// From what a node is given: the acceleration of its joint, and what its parts are given.
void HybridAssembly::hand_down(int number, double* rates) {
    const AssemblyNode& node = tree().nodes[number];
    Held& own = held(number);
    const int at = loops_.number_of(number), ports = at < 0 ? 0 : static_cast<int>(loops_.at(at).links.size());
    const PortedColumns* ported = at < 0 ? nullptr : &h_ports_[at];
    constexpr double kOne = 1.0;
    const double* loads = nullptr;  // at all ports
    const auto give = [&](int part, const Six& first, const Six& second) {
        put(held(part).input, first);
        put(held(part).input + 6, second);
        if (const int below = loops_.number_of(part); below >= 0)
            std::copy_n(loads + (part == node.right ? 6 * loops_.at(at).left : 0), h_ports_[below].given.size(),
                        h_ports_[below].given.data());
    };
    const Six first = six(own.input);
    const Six second = node.ends ? Six{} : six(own.input + 6);
    if (node.kind == NodeKind::body) {
        Six motion = first;
        if (!is_alone(node)) {
            const Six b = ported == nullptr ? six(own.b1)
                                            : times(ported->b1.data(), &kOne, 1, ported->given.data(),
                                                    static_cast<int>(loops_.at(at).kept.size()));
            motion = own.phi1 * (first + six(own.input + 6)) + b;
        }
        if (ported != nullptr) loads = loads_in(number, false, ported->given.data(), &kOne, 1, motion, Six{});
        if (ported != nullptr) book_multipliers(at);
        return give(node.left, motion, Six{});
    }
    if (ported != nullptr) loads = loads_in(number, false, ported->given.data(), &kOne, 1, first, second);
    if (ported != nullptr) book_multipliers(at);
    if (node.kind == NodeKind::sum) {
        give(node.left, first, Six{});
        return give(node.right, first, Six{});
    }
    const Link& link = linkage_->links[node.link];
    const JointNumbers joint = h_.of(node.link, link, subspace(node.link), squares_[node.link], is_free(node.link));
    const Place& place = frames_.place(node.link);
    double R[6], rate[6];
    for (int i = 0; i < joint.freedoms; ++i) {
        if (ported == nullptr)
            R[i] = h_.r[link.freedom + i];
        else {
            R[i] = ported->R[i];
            for (int p = 0; p < 6 * ports; ++p) R[i] += ported->R[joint.freedoms * (1 + p) + i] * loads[p];
        }
        rate[i] = R[i] - dot(six(joint.G1 + 6 * i), first);
        if (node.kind == NodeKind::join && !node.ends) rate[i] += dot(six(joint.G2 + 6 * i), second);
        rates[link.freedom + i] = rate[i];
        if (joint.directions > 0) rates[link.freedom + i] += h_.bars[h_.bar_of[node.link]].bias[i];
    }
    const bool is_asked = given_of_[node.link] >= 0 || joint.directions > 0;  // for the force on what it carries
    if (node.kind == NodeKind::rake) {
        const bool is_long = is_open(node.left) && tree().nodes[node.left].kind == NodeKind::join;
        if (is_asked || is_long) {
            const Six force = ported == nullptr
                                  ? own.phi1 * first + six(own.b1)
                                  : ported->law * first + times(ported->gamma.data(), &kOne, 1, loads, ports);
            put(own.force, force_into(place, force));
            if (is_long) return give(node.left, force_into(place, force), Six{});
        }
        if (!is_open(node.left)) return;
        // What the carrier does cancels where a body hangs on nothing.
        Six motion = link.floats ? six(R) : motion_into(place, first);
        if (joint.freedoms > 0 && !link.floats) motion = motion + joint_motion(link.motion, joint.S, rate);
        return give(node.left, motion + six(own.zeta), Six{});
    }
    Six f = own.x1 * first + (ported == nullptr ? six(own.gamma) : times(ported->gamma.data(), &kOne, 1, loads, ports));
    if (!node.ends) f = f - own.x2 * second;
    if (is_asked) put(own.force, f);
    give(node.left, first, -force_out_of(place, f));
    give(node.right, f, second);
}

// Impulses stop what is locked: with momenta for forces, and no velocities, accelerations are the speeds after it.
void HybridAssembly::stop(double* u) {
    for (size_t i = 0; i < order_.size(); ++i) held_[i].before = held_[i].twist;
    hold_all(Pass::momenta);
    descend(Pass::momenta, u);
}

void HybridAssembly::strike(int link, const double* impulse, double* speeds) {
    struck_ = link;
    std::copy_n(impulse, linkage_->links[link].motion.freedoms(), impulse_);
    hold_all(Pass::impulse);
    descend(Pass::impulse, speeds);
}

void HybridAssembly::descend(Pass pass, double* speeds) {
    for (size_t i = 0; i < order_.size(); ++i)
        if (held_[i].is_open) std::copy_n(zeta_of(order_[i], pass), 6, held_[i].zeta);
    for (Numbers::Bar& bar : h_.bars) std::fill_n(bar.bias, 6, 0.0);
    accelerate({0, 0, 0}, speeds);
}

void HybridAssembly::exerted(int number, double* along) const {
    const Link& link = linkage_->links[number];
    subspace_components(link.motion, subspace(number), held(tree().joint_of[number]).force, along);
    for (int i = 0; i < link.motion.freedoms(); ++i) along[i] -= effort_[link.freedom + i];
}

std::size_t HybridAssembly::bytes() const {
    const auto size = [](const auto& array) { return array.capacity() * sizeof(array[0]); };
    std::size_t sum = size(joins_) + size(laws_) + size(bodies_) + size(composites_) + size(squares_) +
                      size(subspace_) + size(effort_) + frames_.bytes() + marks_.bytes() + size(free_) +
                      size(counted_) + size(open_) + size(at_) + size(order_) + size(held_) + size(tree().nodes) +
                      size(linkage_->links) + size(linkage_->link_of) + size(tree().given) + size(tree().body_of) +
                      size(tree().joint_of);
    for (size_t at = 0; at < ports_.size(); ++at) {
        const MeetingRows& rows = ports_[at].rows;
        sum += size(ports_[at].places) + size(rows.J) + size(rows.C) + size(rows.drift) + size(rows.bias);
        for (const PortedColumns* of : {&f_ports_[at], &h_ports_[at]})
            sum += sizeof(*of) + size(of->b1) + size(of->b2) + size(of->c) + size(of->gamma) + size(of->R) +
                   size(of->row_b1) + size(of->row_b2) + size(of->row_c) + size(of->inverse) + size(of->given);
    }
    for (const Numbers* of : {&f_, &h_}) sum += size(of->u) + size(of->g1) + size(of->g2) + size(of->d) + size(of->r);
    return sum;
}

void HybridAssembly::spoil_below() {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (size_t i = 0; i < at_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[i];
        if (at_[i] >= 0) continue;
        composites_[i].mass = kNone;
        if (const int at = loops_.number_of(static_cast<int>(i)); at >= 0) f_ports_[at].b1[0] = kNone;
        if (node.kind == NodeKind::body) {
            Body& body = bodies_[node.link];
            for (double* each : {body.phi.m, body.b, body.c, body.force}) *each = kNone;
        } else if (node.kind == NodeKind::join)
            std::fill_n(joins_[node.slot].b1, kVector, kNone);
        else
            std::fill_n(laws_[node.slot].g, kVector, kNone);
    }
}

}  // namespace bellcrank
