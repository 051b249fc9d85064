// Nodes through which loops reach: what they answer in F and in H, and which loads their ports get on the way down.
#include <algorithm>

#include "adaptive/hybrid_assembly.hpp"
#include "adaptive/room.hpp"

namespace bellcrank {

// Where the bodies of a node's ports are in its first frame, or in that of its carrier.
void HybridAssembly::place_ports(int number) {
    const int at = loops_.number_of(number);
    if (at < 0) return;
    const PortedNode& ported = loops_.at(at);
    const AssemblyNode& node = tree().nodes[number];
    std::vector<Place>& places = ports_[at].places;
    size_t port = 0;
    const auto take = [&](int part, const Place* from) {
        const int below = part < 0 ? -1 : loops_.number_of(part);
        if (below < 0) return;
        for (const int kept : loops_.at(below).kept) {
            const Place& place = ports_[below].places[kept];
            places[port++] = from == nullptr ? place : *from * place;
        }
    };
    if (node.kind == NodeKind::join) {
        const Place behind = offset(node);
        take(node.left, nullptr);
        take(node.right, &behind);
    } else if (node.kind == NodeKind::rake)
        take(node.left, &frames_.place(node.link));
    else {
        take(node.left, nullptr);
        take(node.right, nullptr);
    }
    if (ported.own) places[port] = Place{};
}

// Rows that are met in open nodes, by the motion taken.
void HybridAssembly::find_rows() {
    if (loops_.empty()) return;
    for (size_t i = 0; i < order_.size(); ++i) {
        const int at = held_[i].is_open ? loops_.number_of(order_[i]) : -1;
        if (at < 0 || loops_.at(at).meeting < 0) continue;
        const PortedNode& ported = loops_.at(at);
        for (size_t p = 0; p < ported.links.size(); ++p) port_twists_[p] = twist_of(ported.links[p]);
        loops_.find(ported, time_, ports_[at].places.data(), port_twists_.data(), ports_[at].rows);
    }
}

// What rows have beside accelerations of ports, per own column: where bodies move as one, they hold whatever ω is.
template <bool kFree>
const double* HybridAssembly::bias_of(int number, int own, Pass pass, double* room) const {
    const int at = loops_.number_of(number);
    const PortedNode& ported = loops_.at(at);
    const MeetingRows& rows = ports_[at].rows;
    if (!kFree && pass == Pass::momenta) return rows.drift.data();
    if (!kFree && pass == Pass::displacement) return rows.C.data();
    const int ports = static_cast<int>(ported.links.size());
    std::fill_n(room, own * rows.count, 0.0);
    if (pass == Pass::impulse) return room;
    for (int r = 0; r < rows.count; ++r) room[r] = (own == 1 ? rows.bias[r] : 0.0) + dot(rows.on_ground[r], base_);
    if (own == 1) return room;
    double columns[kVector];
    for (int p = 0; p < ports; ++p) {
        still_bias(ports_[at].places[p], columns);
        for (int r = 0; r < rows.count; ++r) {
            const Six J = six(rows.J.data() + 6 * (static_cast<size_t>(ports) * r + p));
            for (int j = 1; j < own; ++j) room[rows.count * j + r] -= dot(J, six(columns + 6 * j));
        }
    }
    return room;
}

template <bool kFree>
PartColumns HybridAssembly::part_columns(int number, int own, const Mat3* turned, double* turn) const {
    const int at = loops_.number_of(number), ports = at < 0 ? 0 : static_cast<int>(loops_.at(at).kept.size());
    if constexpr (!kFree) {
        const StretchLoads of = loads(number);
        return {of.b1, of.b2, of.c, 1, ports, nullptr};
    } else {
        const StretchLoads of = own_columns(number);
        const int columns = is_open(number) ? 1 : kColumns;
        PartColumns out{of.b1, of.b2, of.c, columns, ports, turn};
        if (columns == own && (own == 1 || turned == nullptr)) {
            out.turn = nullptr;
        } else if (own == 1) {
            turn[0] = 1.0;
            std::copy_n(held(number).s, kProducts, turn + 1);
        } else {
            const ProductsTurned by(*turned);
            std::fill_n(turn, kScalar, 0.0);
            turn[0] = 1.0;
            for (int j = 0; j < kProducts; ++j)
                for (int k = 0; k < kProducts; ++k) turn[kColumns * (j + 1) + k + 1] = by.m[6 * j + k];
        }
        return out;
    }
}

template <bool kFree>
void HybridAssembly::answer_ported(int number, int own, Pass pass) {
    const AssemblyNode& node = tree().nodes[number];
    const int at = loops_.number_of(number);
    const PortedNode& ported = loops_.at(at);
    const MeetingRows& rows = ports_[at].rows;
    PortedColumns& out = (kFree ? f_ports_ : h_ports_)[at];
    const int ports = static_cast<int>(ported.links.size()), all = own + 6 * ports;
    const bool meets = rows.count > 0, moves = kFree || pass == Pass::motion;
    Room<0> b1(6 * all), b2(6 * all), c(all * all), bias_room(own * rows.count + 1);
    for (double* each : {static_cast<double*>(b1), static_cast<double*>(b2)}) std::fill_n(each, 6 * all, 0.0);
    std::fill_n(static_cast<double*>(c), all * all, 0.0);
    const double* bias = meets ? bias_of<kFree>(number, own, pass, bias_room) : nullptr;
    double turn[kScalar];
    const auto place = [&](int part, int first, const Mat3* turned, double* first_columns, double* second_columns) {
        const PartColumns columns = part_columns<kFree>(part, own, turned, turn);
        place_columns(columns, first, own, all, first_columns, second_columns, c);
    };
    const auto law_of = [&](int part) -> const Matrix6& {
        if constexpr (kFree)
            return laws_[tree().nodes[part].slot].w;
        else
            return held(part).phi1;
    };
    if (node.kind == NodeKind::body) {
        const Link& link = linkage_->links[node.link];
        Matrix6& V = kFree ? bodies_[node.link].phi : held(number).phi1;
        V = link.inertia;
        if (node.left >= 0) {
            place(node.left, 0, nullptr, b1, nullptr);
            add(V, law_of(node.left));
            for (int i = 0; i < 6 * all; ++i) b1[i] = -b1[i];
        }
        if (own == 1) {
            const Twist& twist = held(number).twist;
            Six h{};
            if (moves)
                h = six(bodies_[node.link].force) + gyroscopic(link.inertia, twist.w);
            else if (pass == Pass::momenta)
                h = link.inertia * stacked(twist);
            put(b1, six(b1) + h);
            if (moves) c[0] += spread(link.inertia, twist.w);
        } else {
            double h[kVector], k[kScalar];
            gyroscopic_columns(link.inertia, bodies_[node.link].force, h);
            spread_columns(link.inertia, k);
            for (int i = 0; i < kVector; ++i) b1[i] += h[i];
            for (int j = 0; j < kColumns; ++j)
                for (int i = 0; i < kColumns; ++i) c[all * j + i] += k[kColumns * j + i];
        }
        if (ported.own)
            for (int i = 0; i < 6; ++i) b1[6 * (all - 6 + i) + i] += 1.0;
        if (meets) meet(rows, bias, -1.0, true, own, all, {&V, nullptr, nullptr}, b1, nullptr, c, out);
        keep(ported, own, all, b1, nullptr, c, out);
        if (is_alone(node)) return;
        if (node.left >= 0)
            invert(V);
        else
            V = link.mobility();
        const int n = own + 6 * static_cast<int>(ported.kept.size());
        Room<0> h(6 * n), k(n * n);
        std::copy(out.b1.begin(), out.b1.begin() + 6 * n, static_cast<double*>(h));
        std::copy(out.c.begin(), out.c.begin() + n * n, static_cast<double*>(k));
        return mobility_loads<0>(V, h, k, out.b1.data(), out.c.data(), n);
    }
    if (node.kind == NodeKind::sum) {
        Matrix6& W = kFree ? laws_[node.slot].w : held(number).phi1;
        W = law_of(node.left);
        add(W, law_of(node.right));
        place(node.left, 0, nullptr, b1, nullptr);
        std::copy_n(static_cast<double*>(b1), 6 * own, static_cast<double*>(b2));
        place(node.right, ported.left, nullptr, b1, nullptr);
        for (int i = 0; i < 6 * own; ++i) b1[i] += b2[i];
        if (meets) meet(rows, bias, -1.0, false, own, all, {&W, nullptr, nullptr}, b1, nullptr, c, out);
        return keep(ported, own, all, b1, nullptr, c, out);
    }
    const Link& link = linkage_->links[node.link];
    const JointNumbers joint =
        (kFree ? f_ : h_).of(node.link, link, subspace(node.link), squares_[node.link], kFree || is_free(node.link));
    const Place& at_joint = frames_.place(node.link);
    const Matrix6 X = motion_transform(at_joint), XT = transpose(X);
    Room<0> zeta(6 * all), c_out(all * all);
    std::fill_n(static_cast<double*>(zeta), 6 * all, 0.0);
    if (own == 1) {
        std::copy_n(zeta_of(number, kFree ? Pass::motion : pass), 6, static_cast<double*>(zeta));
    } else if (const Place* reach = node.kind == NodeKind::join ? frames_.reach(node.left) : nullptr) {
        double turned[kVector];
        still_bias(at_joint, turned);
        ProductsTurned(reach->rotation).columns(turned, zeta);
    } else
        still_bias(at_joint, zeta);
    const double* effort = moves ? effort_.data() + link.freedom : nothing_.data();
    if (pass == Pass::impulse && node.link == struck_) effort = impulse_;
    if (node.kind == NodeKind::rake) {
        const AssemblyNode& branch = tree().nodes[node.left];
        const bool alone = branch.kind == NodeKind::body || (!kFree && !is_open(node.left));
        Matrix6& W = kFree ? laws_[node.slot].w : held(number).phi1;
        const Matrix6& of = !kFree                          ? held(node.left).phi1
                            : branch.kind == NodeKind::body ? bodies_[branch.link].phi
                                                            : joins_[branch.slot].phi1;
        Matrix6 WX;
        rake_matrices(joint, X, XT, of, alone, W, WX);
        place(node.left, 0, &at_joint.rotation, b1, nullptr);
        const LawLoads loads{b2, out.R.data(), c_out};
        if (alone)
            rake_alone_loads<0>(joint, at_joint, W, b1, c, zeta, effort, loads, all);
        else
            rake_loads<0>(joint, at_joint, W, b1, c, zeta, effort, loads, all);
        out.law = W;
        std::copy_n(static_cast<double*>(b2), 6 * all, out.gamma.data());
        if (meets) meet(rows, bias, -1.0, false, own, all, {&W, nullptr, nullptr}, b2, nullptr, c_out, out);
        return keep(ported, own, all, b2, nullptr, c_out, out);
    }
    Room<0> left1(6 * all), left2(6 * all), right1(6 * all), right2(6 * all), nothing(all * all);
    for (double* each : {static_cast<double*>(left1), static_cast<double*>(left2), static_cast<double*>(right1),
                         static_cast<double*>(right2)})
        std::fill_n(each, 6 * all, 0.0);
    std::fill_n(static_cast<double*>(nothing), all * all, 0.0);
    const Place from_first = offset(node);
    place(node.left, 0, nullptr, left1, left2);
    place(node.right, ported.left, &from_first.rotation, right1, right2);
    JoinMatrices& matrices = kFree ? static_cast<JoinMatrices&>(joins_[node.slot]) : held(number);
    Matrix6& W = kFree ? joins_[node.slot].w : held(number).w;
    join_matrices(joint, X, XT, kFree ? free_mobility(node.left) : mobility(node.left),
                  kFree ? free_mobility(node.right) : mobility(node.right), node.ends, matrices, W);
    join_loads<0>(joint, at_joint, matrices, W, {left1, left2, c}, {right1, right2, nothing}, zeta, effort, node.ends,
                  {b1, b2, out.gamma.data(), out.R.data(), c_out}, all);
    double* second = node.ends ? nullptr : static_cast<double*>(b2);
    if (meets)
        meet(rows, bias, 1.0, false, own, all, {&matrices.phi1, node.ends ? nullptr : &matrices.phi21, &matrices.phi2},
             b1, second, c_out, out);
    keep(ported, own, all, b1, second, c_out, out);
}

template void HybridAssembly::answer_ported<true>(int, int, Pass);
template void HybridAssembly::answer_ported<false>(int, int, Pass);

// A rigid body with ports at places in it, which accelerate with it.
void HybridAssembly::hold_ported_front(int number, Pass pass) {
    const AssemblyNode& node = tree().nodes[number];
    const int at = loops_.number_of(number);
    const PortedNode& ported = loops_.at(at);
    PortedColumns& out = h_ports_[at];
    Held& own = held(number);
    const Composite& composite = composites_[number];
    const Vec3& w = own.twist.w;
    const int n = 1 + 6 * static_cast<int>(ported.kept.size());
    Room<0> h(6 * n), k(n * n);
    std::fill_n(static_cast<double*>(k), n * n, 0.0);
    Six load{};
    if (pass == Pass::motion) {
        load = composite.load(w);
        k[0] = composite.scalar(w);
    } else if (pass == Pass::momenta)
        load = composite.inertia() * stacked(own.twist);
    put(h, load);
    for (size_t p = 0; p < ported.kept.size(); ++p) {
        const Place& place = ports_[at].places[ported.kept[p]];
        const Vec3 round = transpose_times(place.rotation, centripetal(w, place.shift));
        const double bias[6] = {0.0, 0.0, 0.0, round.x, round.y, round.z};
        for (int i = 0; i < 6; ++i) {
            double unit[6] = {};
            unit[i] = 1.0;
            const int column = 1 + 6 * static_cast<int>(p) + i;
            put(h + 6 * column, force_out_of(place, six(unit)));
            if (pass == Pass::motion) k[column] = k[n * column] = -bias[i];
        }
    }
    if (is_law(node) || is_alone(node)) {
        for (int i = 0; i < 6 * n; ++i) out.b1[i] = is_law(node) ? -h[i] : h[i];
        std::copy_n(static_cast<double*>(k), n * n, out.c.data());
        return;
    }
    mobility_loads<0>(own.phi1, h, k, out.b1.data(), out.c.data(), n);
    const Place* reach = frames_.reach(number);
    if (reach == nullptr || node.ends) return;
    for (int j = 0; j < n; ++j) put(out.b2.data() + 6 * j, motion_into(*reach, six(out.b1.data() + 6 * j)));
    if (pass != Pass::motion) return;
    const Vec3 round = transpose_times(reach->rotation, centripetal(w, reach->shift));
    put(out.b2.data(), six(out.b2.data()) + stacked({0, 0, 0}, round));
}

// Loads at all ports of a node: those that it is given, and those by multipliers of its rows. first, second: what it is
// given, of a body its acceleration.
const double* HybridAssembly::loads_in(int number, bool free, const double* kept, const double* xi, int own,
                                       const Six& first, const Six& second) {
    const int at = loops_.number_of(number);
    load_ports(loops_.at(at), ports_[at].rows, (free ? f_ports_ : h_ports_)[at], xi, own, kept, first, second,
               multipliers_.data(), at_ports_.data());
    return at_ports_.data();
}

// What loads at the ports that a closed node keeps add to its load, and to Gauss' scalar.
Six HybridAssembly::load_of_ports(int number, const double* loads, const Vec3& w, double* scalar) const {
    const int at = loops_.number_of(number);
    const PortedNode& ported = loops_.at(at);
    Six sum{};
    for (size_t p = 0; p < ported.kept.size(); ++p) {
        const Place& place = ports_[at].places[ported.kept[p]];
        const Vec3 round = transpose_times(place.rotation, centripetal(w, place.shift));
        sum = sum + force_out_of(place, six(loads + 6 * p));
        *scalar -= 2.0 * dot(as_force(six(loads + 6 * p)).f, round);
    }
    return sum;
}

// Of a load in a node's part `from`, or on its body, without velocities: what the node answers to it in its first
// column, and across_, of the ports that it keeps.
void HybridAssembly::answer_along(int number, int from, double* first, double* second, double* scalar) {
    const AssemblyNode& node = tree().nodes[number];
    const int at = loops_.number_of(number);
    const PortedNode& ported = loops_.at(at);
    const MeetingRows& rows = ports_[at].rows;
    const PortedColumns& of = f_ports_[at];
    const int ports = static_cast<int>(ported.links.size()), all = 1 + 6 * ports;
    Room<0> b1(6 * all), b2(6 * all), c(all * all), answer1(6 * all), answer2(6 * all), gamma(6 * all), R(6 * all),
        other1(6 * all), other2(6 * all), other_c(all * all);
    for (double* each : {static_cast<double*>(b1), static_cast<double*>(b2), static_cast<double*>(other1),
                         static_cast<double*>(other2)})
        std::fill_n(each, 6 * all, 0.0);
    for (double* each : {static_cast<double*>(c), static_cast<double*>(other_c)}) std::fill_n(each, all * all, 0.0);
    constexpr double nothing[6] = {};
    double turn[kScalar];
    const auto place = [&](int part, int port, double* to1, double* to2) {
        if (part < 0) return;
        const PartColumns columns = part_columns<true>(part, 1, nullptr, turn);
        place_columns(columns, port, 1, all, to1, to2, c);
    };
    // The first column is that of the load alone.
    const auto load = [&](double* to1, double* to2, int port, int count) {
        std::copy_n(first, 6, to1);
        if (to2 != nullptr) std::copy_n(second, 6, to2);
        for (int j = 0; j < all; ++j) c[j] = c[all * j] = 0.0;
        c[0] = *scalar;
        for (int p = 0; p < 6 * count; ++p) c[1 + 6 * port + p] = c[all * (1 + 6 * port + p)] = across_[p];
    };
    double *up1 = answer1, *up2 = nullptr, *up_c = other_c;
    if (node.kind == NodeKind::body || node.kind == NodeKind::sum) {
        place(node.left, 0, b1, nullptr);
        std::fill_n(static_cast<double*>(b1), 6, 0.0);
        place(node.right, ported.left, b1, nullptr);
        std::fill_n(static_cast<double*>(b1), 6, 0.0);
        load(b1, nullptr, from == node.right && from >= 0 ? ported.left : 0, static_cast<int>(across_.size()) / 6);
        if (node.kind == NodeKind::body) {
            for (int i = from < 0 ? 6 : 0; i < 6 * all; ++i) b1[i] = -b1[i];
            if (ported.own)
                for (int i = 0; i < 6; ++i) b1[6 * (all - 6 + i) + i] += 1.0;
        }
        up1 = b1, up_c = c;
    } else {
        const Link& link = linkage_->links[node.link];
        const JointNumbers joint = f_.of(node.link, link, subspace(node.link), squares_[node.link], true);
        const Place& at_joint = frames_.place(node.link);
        if (node.kind == NodeKind::join) {
            const bool is_left = node.left == from;
            place(node.left, 0, b1, b2);
            place(node.right, ported.left, other1, other2);
            for (double* each : {static_cast<double*>(b1), static_cast<double*>(b2), static_cast<double*>(other1),
                                 static_cast<double*>(other2)})
                std::fill_n(each, 6, 0.0);
            load(is_left ? b1 : other1, is_left ? b2 : other2, is_left ? 0 : ported.left,
                 static_cast<int>(across_.size()) / 6);
            const Join& join = joins_[node.slot];
            Room<0> c_out(all * all);
            join_loads<0>(joint, at_joint, join, join.w, {b1, b2, c}, {other1, other2, other_c}, nullptr, nothing,
                          node.ends, {answer1, answer2, gamma, R, c_out}, all);
            std::copy_n(static_cast<double*>(c_out), all * all, static_cast<double*>(other_c));
            if (!node.ends) up2 = answer2;
        } else {
            place(node.left, 0, b1, nullptr);
            load(b1, nullptr, 0, static_cast<int>(across_.size()) / 6);
            const LawLoads loads{answer1, R, other_c};
            if (tree().nodes[node.left].kind == NodeKind::body)
                rake_alone_loads<0>(joint, at_joint, of.law, b1, c, nullptr, nothing, loads, all);
            else
                rake_loads<0>(joint, at_joint, of.law, b1, c, nullptr, nothing, loads, all);
        }
    }
    // Rows answer the load: their other columns are known.
    const int own = is_open(number) ? 1 : kColumns, known = own + 6 * ports;
    Room<0> across(rows.count + 1);
    for (int r = 0; r < rows.count; ++r) {
        across[r] = 0.0;
        for (int p = 0; p < 6 * ports; ++p) across[r] += rows.J[static_cast<size_t>(6) * ports * r + p] * up_c[1 + p];
    }
    across_.assign(6 * ported.kept.size(), 0.0);
    for (size_t k = 0; k < across_.size(); ++k) across_[k] = up_c[1 + 6 * ported.kept[k / 6] + k % 6];
    *scalar = up_c[0];
    for (int r = 0; r < rows.count; ++r) {
        const double* S = of.inverse.data() + static_cast<size_t>(rows.count) * r;
        const double flip = node.kind == NodeKind::body ? -1.0 : 1.0;
        put(up1, six(up1) - across[r] * flip * six(of.row_b1.data() + 6 * r));
        if (up2 != nullptr) put(up2, six(up2) - across[r] * six(of.row_b2.data() + 6 * r));
        for (int s = 0; s < rows.count; ++s) *scalar -= across[r] * S[s] * across[s];
        for (size_t k = 0; k < across_.size(); ++k)
            across_[k] -= across[r] * of.row_c[static_cast<size_t>(known) * r + own + 6 * ported.kept[k / 6] + k % 6];
    }
    if (node.kind == NodeKind::body && !is_alone(node)) {
        // A load h with scalar k: b = Φ h, c = hᵀ Φ h − k, of ports hₚᵀ Φ h − kₚ.
        const Matrix6& phi = bodies_[node.link].phi;
        const Six h = six(up1), b = phi * h;
        *scalar = dot(h, b) - *scalar;
        const double* columns = of.b1.data() + 6 * own;  // Φ hₚ
        for (size_t k = 0; k < across_.size(); ++k) across_[k] = dot(six(columns + 6 * k), h) - across_[k];
        put(first, b);
        return put(second, b);
    }
    std::copy_n(up1, 6, first);
    if (up2 != nullptr) std::copy_n(up2, 6, second);
}

double HybridAssembly::loop_error(bool of_all) const {
    double largest = 0.0;
    for (size_t i = 0; i < order_.size(); ++i) {
        const int at = held_[i].is_open ? loops_.number_of(order_[i]) : -1;
        if (at < 0) continue;
        const MeetingRows& rows = ports_[at].rows;
        for (int r = 0; r < rows.count; ++r)
            if (of_all || h_ports_[at].inverse[static_cast<size_t>(rows.count) * r + r] != 0.0)
                largest = std::abs(rows.C[r]) <= largest ? largest : std::abs(rows.C[r]);  // what is no number stays
    }
    return largest;
}

void HybridAssembly::find_open_ways(double error, std::vector<int>& links) const {
    for (size_t i = 0; i < order_.size(); ++i) {
        const int at = held_[i].is_open ? loops_.number_of(order_[i]) : -1;
        if (at < 0 || loops_.at(at).meeting < 0) continue;
        const std::vector<double>& C = ports_[at].rows.C;
        if (std::all_of(C.begin(), C.end(), [error](double c) { return std::abs(c) <= error; })) continue;
        const std::vector<int>& way = loops_.way(loops_.at(at).meeting);
        links.insert(links.end(), way.begin(), way.end());
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
}

void HybridAssembly::correct(double* displacement) {
    hold_all(Pass::displacement);
    for (size_t i = 0; i < order_.size(); ++i)
        if (held_[i].is_open) std::fill_n(held_[i].zeta, 6, 0.0);
    accelerate({0, 0, 0}, displacement);
}

}  // namespace bellcrank
