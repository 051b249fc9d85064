// What inversions lose. Rounding is relative to what is inverted and taken away, and stays in what is left of it. How
// far Φ and b may be off is told by a form Ê in what the node is given,
//   |uᵀ (δΦ f + δb)| ≤ ε (Ê(u) Ê(f))^½,  f with the loads, u without,
// likewise Ê of W and g. Forces make twice the energy of a stretch least or largest, so that to first order they may be
// held while the parts change: errors of parts pass nodes as total accelerations do (forms.hpp), and each node adds
// those of its own sums and products. With V = M⁻¹, M̂ the terms that M is added up from, along its diagonal, and
// β = tr V Φ2ᴬ, tr V Φ1ᴮ their shares,
//   a join       Ê = Êᴬ + Êᴮ + (1 + βᴬ) diag Φ1ᴬ + M̂(f) + (1 + βᴮ) diag Φ2ᴮ
//   a rake       Ê + M̂(f) + diag V(a), or + diag V(a) of the body by itself
//   a body       V̂ = ΣŴ + diag V, Ê = V̂(Φ f + b) + diag Φ(f).
// The force on a joint solves M f = r; as the root of the energy fᵀ M f it is off by
//   ε Σ (tr V Êᵖ · Êᵖ(f))^½,
// each part p by itself, so that a light body does not lose what the heavy one before it is uncertain of.
#include <algorithm>
#include <cmath>
#include <limits>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

constexpr double kLoss = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double kNoDigit = 1e60;     // the square of what is lost where nothing is left
constexpr double kFirstOrder = 1e-2;  // up to which losses of several joins only add up

double trace_of_product(const Matrix6& A, const Matrix6& B) {
    double sum = 0.0;
    for (int j = 0; j < 6; ++j) sum += dot(A.column(j), B.column(j));
    return sum;
}
double product_of(const double* a, const double* b) { return dot(six(a), six(b)); }
// += Σ_j A_ji² size_j
void add_squares(const Matrix6& A, const double* size, double* out) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) out[i] += A(j, i) * A(j, i) * size[j];
}
void diagonal_of(const Matrix6& A, double* out) {
    for (int k = 0; k < 6; ++k) out[k] = A(k, k);
}
void add_diagonal(Matrix6& A, double scale, const double* size) {
    for (int k = 0; k < 6; ++k) A.m[7 * k] += scale * size[k];
}

}  // namespace

// Σ_k v_k² size_k
double RootedAssembly::squares(const Six& v, const double* size) {
    double of[6], sum = 0.0;
    put(of, v);
    for (int k = 0; k < 6; ++k) sum += of[k] * of[k] * size[k];
    return sum;
}

void RootedAssembly::judge_digits() {
    if (tree().shape != TreeShape::balanced) return;
    rounding_ = linkage_->rounding(reach_);
    if (is_even() || !losses_.empty()) return;
    losses_.assign(tree().nodes.size(), {});
    errors_.resize(tree().joins, tree().laws, tree().branched);
    if (with_totals_) error_totals_.resize(tree().joins, tree().laws, tree().branched);
    for (size_t i = 0; i < losses_.size(); ++i) lose(static_cast<int>(i), true);
}

void RootedAssembly::lose(int number, bool matrices) {
    const AssemblyNode& node = tree().nodes[number];
    switch (node.kind) {
        case NodeKind::body:
            return lose_in_body(node, matrices, losses_[number]);
        case NodeKind::join:
            return lose_in_join(node, matrices, losses_[number]);
        case NodeKind::rake:
            return lose_in_rake(node, matrices, losses_[number]);
        case NodeKind::sum:
            for (Forms* forms : {&errors_, &error_totals_})
                if (!forms->laws.empty())
                    add_scaled(forms->laws[tree().nodes[node.left].slot], 1.0,
                               forms->laws[tree().nodes[node.right].slot], forms->laws[node.slot]);
    }
}

// By traces of V with errors of the parts and with its own terms, and the response of what is computed below.
void RootedAssembly::judge_joint(const AssemblyNode& node, double left, double right, double own, double below,
                                 Losses& out) const {
    const double lost = kLoss * (left + right + own), more = 1.0 + lost / kFirstOrder;
    const auto loss = [&](double trace) { return lost < 1.0 ? kLoss * kLoss * more * more * trace : kNoDigit; };
    out.left = loss(left), out.right = loss(right), out.own = loss(own);
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const double* D = d_.data() + squares_[node.link];
    const bool alone = node.kind == NodeKind::rake && tree().nodes[node.left].kind == NodeKind::body;
    out.admittance = 0.0;
    for (int s = 0; s < d; ++s)
        if (alone)
            for (int r = s; r < d; ++r) out.admittance += D[d * s + r] * D[d * s + r];
        else
            out.admittance += D[d * s + s];
    out.through = link.floats ? 0.0 : out.admittance;
    out.response = out.below = out.through + below;
}

// The energy of efforts, by its terms.
double RootedAssembly::effort_energy(const Link& link, double admittance) const {
    double energy = 0.0;
    for (int s = link.freedom; s < link.freedom + link.motion.freedoms(); ++s)
        energy += effort_[s] * effort_[s] * admittance;
    return energy;
}

void RootedAssembly::lose_in_body(const AssemblyNode& node, bool matrices, Losses& out) {
    const BodyState& body = bodies_[node.link];
    const Link& link = linkage_->links[node.link];
    const bool alone = tree().nodes[node.parent].kind == NodeKind::rake;
    const int law = node.left < 0 ? -1 : tree().nodes[node.left].slot;
    double applied[6];  // squares of what adds up to h
    for (int k = 0; k < 6; ++k) applied[k] = body.force[k] * body.force[k];
    if (law >= 0)
        for (int k = 0; k < 6; ++k) applied[k] += laws_[law].g[k] * laws_[law].g[k];
    if (matrices) {
        diagonal_of(link.inertia, out.impedance);
        if (law >= 0)
            for (int k = 0; k < 6; ++k) out.impedance[k] += laws_[law].w(k, k);
        if (alone)
            for (int k = 0; k < 6; ++k) out.terms[k] = 1.0 / out.impedance[k];
        else
            diagonal_of(body.phi, out.terms);
    }
    out.loads = 0.0;
    for (int k = 0; k < 6; ++k) out.loads += applied[k] * out.terms[k];
    if (law < 0) return;
    if (alone) {
        if (!matrices) return;
        Matrix6 phi = body.phi;
        invert(phi);
        out.response = respond_to(phi, node.left);
        return;
    }
    LawForm of = errors_.laws[law], &error = errors_.bodies[node.slot];
    add_diagonal(of.psi, 1.0, out.impedance);
    if (matrices) {
        const double lost = trace_of_product(body.phi, of.psi) + product_of(out.impedance, out.terms);
        out.own = lost;
        out.response = respond_to(body.phi, node.left);
        pass_body(of, body.phi, error);
        add_diagonal(error.psi, 1.0, out.terms);
        if (with_totals_) pass_body(error_totals_.laws[law], body.phi, error_totals_.bodies[node.slot]);
    }
    pass_body_loads(of, body.phi, six(body.b), error);
    error.eta += out.loads;
    if (with_totals_) pass_body_loads(error_totals_.laws[law], body.phi, six(body.b), error_totals_.bodies[node.slot]);
}

// The form of errors of a part of a join. Φ of a body alone is a sum of positive terms (Link::mobility).
EndForm RootedAssembly::error_form(int number, LawForm& of_body) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join || node.left >= 0) return end_form(errors_, number);
    of_body = {};
    add_diagonal(of_body.psi, 1.0, losses_[number].terms);
    of_body.eta = losses_[number].loads;
    return EndForm(of_body);
}

void RootedAssembly::lose_in_join(const AssemblyNode& node, bool matrices, Losses& out) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Link& link = linkage_->links[node.link];
    const JoinState& state = joins_[node.slot];
    const Place& place = frames_.place(node.link);
    LawForm bodies[2];
    const EndForm left = error_form(node.left, bodies[0]);
    EndForm right = error_form(node.right, bodies[1]);
    Matrix6 psi1 = *right.psi1;
    StretchForm& error = errors_.joins[node.slot];
    double first[6], second[6];
    diagonal_of(*A.phi1, first);
    diagonal_of(*B.phi2, second);
    if (matrices) {
        const Matrix6 X = motion_transform(place), XT = transpose(X);
        Matrix6 T, V, P;
        product(X, *A.phi2, T);
        sum_product(*B.phi1, T, XT, V);
        invert(V);
        diagonal_of(V, out.impedance);
        double before[6] = {}, behind[6], part[6];
        diagonal_of(*A.phi2, part);
        add_squares(XT, part, before);
        diagonal_of(*B.phi1, behind);
        for (int k = 0; k < 6; ++k) out.terms[k] = before[k] + behind[k];
        out.left_share = product_of(out.impedance, before);
        out.right_share = product_of(out.impedance, behind);
        product(X, *left.psi2, T);
        product(T, XT, P);
        const auto of_body = [&](int part) {
            const AssemblyNode& below = tree().nodes[part];
            return below.kind == NodeKind::body && below.left >= 0 ? losses_[part].own : 0.0;
        };
        judge_joint(node, trace_of_product(V, P) + of_body(node.left),
                    trace_of_product(V, *right.psi1) + of_body(node.right), out.left_share + out.right_share,
                    std::max(losses_[node.left].response, losses_[node.right].response), out);
        add_diagonal(psi1, 1.0, out.terms);
        right.psi1 = &psi1;
        pass_join(left, right, state, X, XT, node.ends, error);
        add_diagonal(error.psi1, 1.0 + out.left_share, first);
        if (!node.ends) add_diagonal(error.psi2, 1.0 + out.right_share, second);
    } else {
        add_diagonal(psi1, 1.0, out.terms);
        right.psi1 = &psi1;
    }
    out.loads = squares(motion_into(place, six(A.b2)), out.impedance) + squares(six(B.b1), out.impedance) +
                effort_energy(link, out.admittance);
    pass_join_loads(left, right, state, place, node.ends, error);
    error.eta += out.loads;
    for (int k = 0; k < 6; ++k) error.eta += A.b1[k] * A.b1[k] / first[k];
    for (int k = 0; k < 6 && !node.ends; ++k) error.eta += B.b2[k] * B.b2[k] / second[k];
    if (with_totals_) lose_totals_in_join(node, matrices, left, error_form(node.right, bodies[1]), out);
}

void RootedAssembly::lose_in_rake(const AssemblyNode& node, bool matrices, Losses& out) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const bool alone = branch.kind == NodeKind::body;
    const double* b = alone ? nullptr : joins_[branch.slot].b1;
    static const LawForm none{};
    const LawForm& law = alone && branch.left >= 0 ? errors_.laws[tree().nodes[branch.left].slot] : none;
    const StretchForm* stretch = alone ? nullptr : &errors_.joins[branch.slot];
    LawForm& error = errors_.laws[node.slot];
    Matrix6 psi = alone ? law.psi : stretch->psi1;
    if (matrices) {
        const Matrix6 X = motion_transform(frames_.place(node.link));
        if (alone) {
            std::copy_n(losses_[node.left].impedance, 6, out.impedance);
            std::copy_n(out.impedance, 6, out.terms);
            const int d = link.motion.freedoms();
            const double* N = d_.data() + squares_[node.link];
            double lost = 0.0, own = 0.0;
            for (int r = 0; r < d; ++r) {  // of Sᵀ Ψ S, in units of the joint's inertia
                Six along{};
                for (int s = 0; s <= r; ++s) along = along + N[d * s + r] * joint_column(node.link, s);
                lost += dot(along, psi * along);
                for (int s = 0; s <= r; ++s)
                    own += N[d * s + r] * N[d * s + r] * squares(joint_column(node.link, s), out.impedance);
            }
            judge_joint(node, lost, 0.0, own, losses_[node.left].response, out);
        } else {
            Matrix6 V = joins_[branch.slot].phi1;
            diagonal_of(V, out.terms);
            invert(V);
            diagonal_of(V, out.impedance);
            judge_joint(node, trace_of_product(V, psi), 0.0, product_of(out.impedance, out.terms),
                        losses_[node.left].response, out);
        }
        // Where the ground carries it; else the body that does says more.
        out.through = out.response = 0.0;
        add_diagonal(psi, 1.0, out.terms);
        pass_through(psi, alone ? carried_motion(node, X) : force_behind(node), error.psi);
        double own[6] = {};
        if (!link.floats) add_squares(X, out.impedance, own);
        add_diagonal(error.psi, 1.0, own);
    } else
        add_diagonal(psi, 1.0, out.terms);
    out.loads =
        (alone ? losses_[node.left].loads : squares(six(b), out.impedance)) + effort_energy(link, out.admittance);
    pass_rake_loads(node, psi, alone ? law.p : stretch->p1, alone ? law.eta : stretch->eta, error);
    error.eta += out.loads;
    if (with_totals_) lose_totals_in_rake(node, matrices, out);
}

// What laws and their joints do where the body that carries them has the inverse inertia Φ.
double RootedAssembly::respond_to(const Matrix6& phi, int law) {
    const AssemblyNode& node = tree().nodes[law];
    Losses& of = losses_[law];
    if (node.kind == NodeKind::sum)
        of.response = respond_to(phi, node.left) + respond_to(phi, node.right);
    else {
        const Link& link = linkage_->links[node.link];
        of.through = 0.0;
        for (int s = 0; s < link.motion.freedoms(); ++s) {
            const Six g = six(g1_.data() + 6 * (link.freedom + s));
            of.through += dot(g, phi * g);
        }
        of.response = with_totals_ ? trace_of_product(totals_.laws[node.slot].psi, phi) : of.through;
    }
    return of.response;
}

}  // namespace bellcrank
