#include "adaptive/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

constexpr std::uint8_t kVectors = 1, kMatrices = 2;

// out += Σ g_i g_iᵀ over columns of six.
void add_squares(const double* left, const double* right, int count, double sign, Matrix6& out) {
    for (int i = 0; i < count; ++i, left += 6, right += 6) {
        const Six g = six(left);
        for (int j = 0; j < 6; ++j) out.set_column(j, out.column(j) + (sign * right[j]) * g);
    }
}

}  // namespace

RootedAssembly::RootedAssembly(std::shared_ptr<const Linkage> linkage, bool with_totals)
    : linkage_(std::move(linkage)), with_totals_(with_totals), frames_(tree()), marks_(tree()) {
    const AssemblyTree& t = tree();
    const std::vector<Link>& links = linkage_->links;
    joins_.resize(t.joins);
    laws_.resize(t.laws);
    bodies_.resize(links.size());
    w_.resize(with_totals_ ? t.joins : 1);
    if (with_totals_) {
        totals_.resize(t.joins, t.laws, t.branched);
    }
    const size_t freedoms = linkage_->freedoms;
    size_t squares = 0;
    for (const Link& link : links) {
        squares_.push_back(static_cast<int>(squares));
        squares += static_cast<size_t>(link.motion.freedoms()) * link.motion.freedoms();
    }
    for (Array<double>* six_each : {&subspace_, &u_, &g1_, &g2_}) six_each->assign(6 * freedoms, 0.0);
    effort_.assign(freedoms, 0.0);
    r_.assign(freedoms, 0.0);
    terms_.assign(freedoms, 0.0);
    d_.assign(squares, 0.0);
    for (size_t i = 0; i < links.size(); ++i) {
        BodyState& body = bodies_[i];
        body = {};
        const AssemblyNode& node = t.nodes[t.body_of[i]];
        if (node.left >= 0) continue;
        body.phi = t.nodes[node.parent].kind == NodeKind::join ? links[i].mobility() : links[i].inertia;
    }
}

void RootedAssembly::set_place(int link, const Place& place, const double* subspace) {
    frames_.place(link) = place;
    const Link& of = linkage_->links[link];
    if (of.motion.shifts()) reach_ = std::max(reach_, norm(place.shift));
    if (!of.motion.is_axial()) std::copy_n(subspace, 6 * of.motion.freedoms(), subspace_.data() + 6 * of.freedom);
    marks_.mark(tree().joint_of[link], kMatrices);
}

bool RootedAssembly::set_force(int link, const double* force) {
    if (std::memcmp(bodies_[link].force, force, 6 * sizeof(double)) == 0) return false;
    std::memcpy(bodies_[link].force, force, 6 * sizeof(double));
    marks_.mark(tree().body_of[link], kVectors);
    return true;
}

bool RootedAssembly::set_effort(int link, const double* effort) {
    const Link& of = linkage_->links[link];
    double* own = effort_.data() + of.freedom;
    const size_t size = of.motion.freedoms() * sizeof(double);
    if (std::memcmp(own, effort, size) == 0) return false;
    std::memcpy(own, effort, size);
    marks_.mark(tree().joint_of[link], kVectors);
    return true;
}

void RootedAssembly::set_bias(int link, const double* acceleration) {
    if (bias_.empty()) bias_.assign(6 * linkage_->links.size(), 0.0);
    std::copy_n(acceleration, 6, bias_.data() + 6 * link);
    marks_.mark(tree().joint_of[link], kVectors);
}

void RootedAssembly::update_frames() {
    marks_.spread([this](int node, std::uint8_t what) {
        if (what >= kMatrices) frames_.update(tree().nodes[node]);
    });
    frames_.update_chosen();
}

void RootedAssembly::update_all_frames() {
    for (const AssemblyNode& node : tree().nodes) frames_.update(node);
    frames_.update_chosen();
}

void RootedAssembly::update() {
    const auto work = [this](int node, std::uint8_t what) {
        update_node(node, what >= kMatrices);
        if (!losses_.empty()) measure_loads(node);
    };
    updated_ = marks_.sweep(work);
    judge_digits();
}

void RootedAssembly::update_all(bool anew) {
    marks_.clear();
    updated_ = static_cast<int>(tree().nodes.size());
    const bool is_measured = !anew && !losses_.empty();
    for (int node = 0; node < updated_; ++node) {
        update_node(node, true);
        if (is_measured) measure_loads(node);
    }
    if (!is_measured) since_measured_ = std::numeric_limits<int>::max();
    judge_digits();
}

void RootedAssembly::update_node(int number, bool matrices) {
    const AssemblyNode& node = tree().nodes[number];
    switch (node.kind) {
        case NodeKind::body:
            return body(node, matrices);
        case NodeKind::join:
            if (matrices) join_matrices(node);
            return join_vectors(node);
        case NodeKind::rake:
            if (matrices) rake_matrices(node);
            return rake_vectors(node);
        case NodeKind::sum:
            return add_laws(node, matrices);
    }
}

RootedAssembly::Ends RootedAssembly::ends(int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join) {
        const JoinState& s = joins_[node.slot];
        return {{&s.phi1, &s.phi21, &s.phi2}, s.b1, s.b2};
    }
    const BodyState& s = bodies_[node.link];
    return {{&s.phi, &s.phi, &s.phi}, s.b, s.b};
}

EndForm RootedAssembly::end_form(const Forms& forms, int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join) return EndForm(forms.joins[node.slot]);
    return node.left < 0 ? EndForm() : EndForm(forms.bodies[node.slot]);
}

void RootedAssembly::join_matrices(const AssemblyNode& node) {
    const Ends A = ends(node.left), B = ends(node.right);
    JoinState& out = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    bellcrank::join_matrices(joint(node.link), X, XT, A, B, node.ends, out, w_[with_totals_ ? node.slot : 0]);
    if (!with_totals_) return;
    StretchForm& totals = totals_.joins[node.slot];
    pass_join(end_form(totals_, node.left), end_form(totals_, node.right), out, X, XT, node.ends, totals);
    add_rates(node, totals);
}

// The joint's own part of the total, |R − G1 f1 + G2 f2|².
void RootedAssembly::add_rates(const AssemblyNode& node, StretchForm& totals) const {
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom;
    add_squares(G1, G1, d, 1.0, totals.psi1);
    if (node.ends) return;
    add_squares(G2, G1, d, -1.0, totals.psi21);
    add_squares(G2, G2, d, 1.0, totals.psi2);
}

// Of the joint's own part of the total −2 G1ᵀ R, 2 G2ᵀ R, Rᵀ R. Without totals W is that of the node whose matrices
// were made last, which is this one.
void RootedAssembly::join_vectors(const AssemblyNode& node) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const Place& place = frames_.place(node.link);
    JoinState& out = joins_[node.slot];
    const double *U = u_.data() + 6 * link.freedom, *G1 = g1_.data() + 6 * link.freedom,
                 *G2 = g2_.data() + 6 * link.freedom;
    const double *Q = effort_.data() + link.freedom, *D = d_.data() + squares_[node.link], *zeta = bias(node.link);
    double *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom;
    join_loads<1>(joint(node.link), place, out, w_[with_totals_ ? node.slot : 0], {A.b1, A.b2, nullptr},
                  {B.b1, B.b2, nullptr}, zeta, Q, node.ends, {out.b1, out.b2, out.gamma, R, nullptr});
    Six beta = motion_into(place, six(A.b2)) - six(B.b1);
    if (zeta != nullptr) beta = beta + six(zeta);
    for (int i = 0; i < d; ++i) {
        terms[i] = size_of_dot(six(U + 6 * i), beta);
        for (int j = 0; j < d; ++j) terms[i] += std::abs(D[d * j + i] * Q[j]);
    }
    if (with_totals_) {
        StretchForm& totals = totals_.joins[node.slot];
        pass_join_loads(end_form(totals_, node.left), end_form(totals_, node.right), out, place, node.ends, totals);
        Six p1 = six(totals.p1), p2 = node.ends ? Six{} : six(totals.p2);
        for (int i = 0; i < d; ++i) {
            p1 = p1 - (2.0 * R[i]) * six(G1 + 6 * i);
            if (!node.ends) p2 = p2 + (2.0 * R[i]) * six(G2 + 6 * i);
            totals.eta += R[i] * R[i];
        }
        put(totals.p1, p1);
        if (!node.ends) put(totals.p2, p2);
    }
}

void RootedAssembly::add_laws(const AssemblyNode& node, bool matrices) {
    const int a = tree().nodes[node.left].slot, b = tree().nodes[node.right].slot;
    LawState& out = laws_[node.slot];
    if (matrices) {
        out.w = laws_[a].w;
        add(out.w, laws_[b].w);
    }
    put(out.g, six(laws_[a].g) + six(laws_[b].g));
    if (with_totals_) {
        LawForm& totals = totals_.laws[node.slot];
        if (matrices) {
            totals.psi = totals_.laws[a].psi;
            add(totals.psi, totals_.laws[b].psi);
        }
        put(totals.p, six(totals_.laws[a].p) + six(totals_.laws[b].p));
        totals.eta = totals_.laws[a].eta + totals_.laws[b].eta;
    }
}

// V = I + Σ W, h = force − Σ g; in a join Φ = V⁻¹, b = Φ h, and the total in forces.
void RootedAssembly::body(const AssemblyNode& node, bool matrices) {
    BodyState& out = bodies_[node.link];
    const bool alone = tree().nodes[node.parent].kind == NodeKind::rake;
    const int law = node.left < 0 ? -1 : tree().nodes[node.left].slot;
    if (matrices && law >= 0) {
        out.phi = linkage_->links[node.link].inertia;
        add(out.phi, laws_[law].w);
        if (!alone) invert(out.phi);
    }
    Six h = six(out.force);
    if (law >= 0) h = h - six(laws_[law].g);
    if (alone) return put(out.b, h);
    const Six b = out.phi * h;
    put(out.b, b);
    if (!with_totals_ || law < 0) return;
    LawForm& totals = totals_.bodies[node.slot];
    if (matrices) pass_through(totals_.laws[law].psi, out.phi, totals.psi);
    pass_body_loads(totals_.laws[law], out.phi, b, totals);
}

RootedAssembly::Terms RootedAssembly::joint_acceleration(int number, const double* input, double* rate,
                                                         double* behind) const {
    const AssemblyNode& node = tree().nodes[number];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom,
                 *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom;
    const Six a = six(input);
    Terms size{0.0, 0.0};
    for (int i = 0; i < d; ++i) {
        const Six g = six(G1 + 6 * i);
        rate[i] = R[i] - dot(g, a);
        size.own += terms[i];
        size.of_input += size_of_dot(g, a);
    }
    if (node.kind == NodeKind::rake) {
        const Place& place = frames_.place(node.link);
        if (tree().nodes[node.left].kind == NodeKind::body) {
            // What the carrier does cancels where a body hangs on nothing.
            Six motion = link.floats ? six(R) : motion_into(place, a) + joint_motion(node.link, rate);
            if (const double* zeta = bias(node.link)) motion = motion + six(zeta);
            put(behind, motion);
        } else
            put(behind, force_into(place, laws_[node.slot].w * a + six(laws_[node.slot].g)));
        return size;
    }
    const JoinState& s = joins_[node.slot];
    Six f = s.x1 * a + six(s.gamma);
    if (!node.ends) {
        const Six f2 = six(input + 6);
        f = f - s.x2 * f2;
        for (int i = 0; i < d; ++i) {
            const Six g = six(G2 + 6 * i);
            rate[i] += dot(g, f2);
            size.of_input += size_of_dot(g, f2);
        }
    }
    put(behind, f);
    return size;
}

void RootedAssembly::total(int number, const double* input, double* value, double* size) const {
    const AssemblyNode& node = tree().nodes[number];
    const auto part = [&](const Matrix6& psi, const double* p, const double* in) {
        const Six v = six(in), q = six(p);
        *value += dot(v, psi * v + q);
        double s = 0.0;
        for (int i = 0; i < 6; ++i) s += in[i] * in[i] * psi.m[7 * i] + std::abs(in[i] * p[i]);
        *size += s;
    };
    if (node.kind != NodeKind::join) {
        const LawForm& t = totals_.laws[node.slot];
        *value = *size = t.eta;
        return part(t.psi, t.p, input);
    }
    const StretchForm& t = totals_.joins[node.slot];
    *value = *size = t.eta;
    part(t.psi1, t.p1, input);
    if (node.ends) return;
    part(t.psi2, t.p2, input + 6);
    *value += 2.0 * dot(six(input + 6), t.psi21 * six(input));
}

std::size_t RootedAssembly::bytes() const {
    const auto size = [](const auto& array) { return array.capacity() * sizeof(array[0]); };
    return size(joins_) + size(w_) + totals_.bytes() + size(laws_) + size(bodies_) + size(squares_) + size(subspace_) +
           size(u_) + size(g1_) + size(g2_) + size(effort_) + size(r_) + size(terms_) + size(d_) + size(bias_) +
           size(losses_) + errors_.bytes() + error_totals_.bytes() + frames_.bytes() + marks_.bytes() +
           size(tree().nodes) + size(linkage_->links) + size(linkage_->link_of) + size(tree().given) +
           size(tree().body_of) + size(tree().joint_of);
}

}  // namespace bellcrank
