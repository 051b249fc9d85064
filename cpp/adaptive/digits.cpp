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
constexpr double kKinds = 3.0;        // (x + y + z)² ≤ 3 (x² + y² + z²)
constexpr int kUpdates = 20;          // of all nodes, on the average, between one measurement and the next

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

void RootedAssembly::judge_digits() {
    if (tree().shape != TreeShape::balanced) return;
    rounding_ = linkage_->rounding(reach_);
    if (is_even()) return;
    since_measured_ += updated_;
    if (since_measured_ > kUpdates * static_cast<long>(tree().nodes.size())) measure_losses();
}

void RootedAssembly::measure_losses() {
    since_measured_ = 0;
    if (losses_.empty()) {
        losses_.resize(tree().nodes.size());
        errors_.resize(tree().joins, tree().laws, tree().branched);
        if (with_totals_) error_totals_.resize(tree().joins, tree().laws, tree().branched);
    }
    for (size_t i = 0; i < losses_.size(); ++i) {
        const AssemblyNode& node = tree().nodes[i];
        switch (node.kind) {
            case NodeKind::body:
                lose_in_body(node, losses_[i]);
                break;
            case NodeKind::join:
                lose_in_join(node, losses_[i]);
                break;
            case NodeKind::rake:
                lose_in_rake(node, losses_[i]);
                break;
            case NodeKind::sum:
                for (Forms* forms : {&errors_, &error_totals_}) {
                    if (forms->laws.empty()) continue;
                    Matrix6& psi = forms->laws[node.slot].psi;
                    psi = forms->laws[tree().nodes[node.left].slot].psi;
                    add(psi, forms->laws[tree().nodes[node.right].slot].psi);
                }
        }
        measure_loads(static_cast<int>(i));
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
    out.response = out.through + below;
    out.source = out.response > 0.0 ? kKinds * out.response : 0.0;
}

void RootedAssembly::lose_in_body(const AssemblyNode& node, Losses& out) {
    const BodyState& body = bodies_[node.link];
    const int law = node.left < 0 ? -1 : tree().nodes[node.left].slot;
    diagonal_of(linkage_->links[node.link].inertia, out.impedance);
    if (law >= 0)
        for (int k = 0; k < 6; ++k) out.impedance[k] += laws_[law].w(k, k);
    Matrix6 phi = body.phi;
    if (tree().nodes[node.parent].kind == NodeKind::rake) {
        for (int k = 0; k < 6; ++k) out.terms[k] = 1.0 / out.impedance[k];
        if (law >= 0) invert(phi);
    } else {
        diagonal_of(phi, out.terms);
        if (law >= 0) {
            Matrix6 psi = errors_.laws[law].psi;
            add_diagonal(psi, 1.0, out.impedance);
            out.own = trace_of_product(phi, psi) + product_of(out.impedance, out.terms);
            pass_through(psi, phi, errors_.bodies[node.slot].psi);
            add_diagonal(errors_.bodies[node.slot].psi, 1.0, out.terms);
            if (with_totals_) pass_through(error_totals_.laws[law].psi, phi, error_totals_.bodies[node.slot].psi);
        }
    }
    if (law >= 0) out.response = respond_to(phi, node.left);
}

// The form of errors of a part of a join. Φ of a body alone is a sum of positive terms (Link::mobility).
EndForm RootedAssembly::error_form(int number, LawForm& of_body) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join || node.left >= 0) return end_form(errors_, number);
    of_body = {};
    add_diagonal(of_body.psi, 1.0, losses_[number].terms);
    return EndForm(of_body);
}

void RootedAssembly::lose_in_join(const AssemblyNode& node, Losses& out) {
    const Ends A = ends(node.left), B = ends(node.right);
    const JoinState& state = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    LawForm bodies[2];
    const EndForm left = error_form(node.left, bodies[0]);
    EndForm right = error_form(node.right, bodies[1]);
    Matrix6 T, V, P;
    product(X, *A.phi2, T);
    sum_product(*B.phi1, T, XT, V);
    invert(V);
    diagonal_of(V, out.impedance);
    double before[6] = {}, behind[6], first[6], second[6];
    diagonal_of(*A.phi2, first);
    add_squares(XT, first, before);
    diagonal_of(*B.phi1, behind);
    put(out.terms, six(before) + six(behind));
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
    if (with_totals_) lose_totals_in_join(node, left, right, out);
    Matrix6 psi1 = *right.psi1;
    add_diagonal(psi1, 1.0, out.terms);
    right.psi1 = &psi1;
    StretchForm& error = errors_.joins[node.slot];
    pass_join(left, right, state, X, XT, node.ends, error);
    diagonal_of(*A.phi1, first);
    add_diagonal(error.psi1, 1.0 + out.left_share, first);
    if (node.ends) return;
    diagonal_of(*B.phi2, second);
    add_diagonal(error.psi2, 1.0 + out.right_share, second);
}

void RootedAssembly::lose_in_rake(const AssemblyNode& node, Losses& out) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const Matrix6 X = motion_transform(frames_.place(node.link));
    const bool alone = branch.kind == NodeKind::body;
    Matrix6 psi{}, passed;  // of what lies behind the joint, in the force on it or its acceleration
    double lost = 0.0, own = 0.0;
    if (alone) {
        if (branch.left >= 0) psi = errors_.laws[tree().nodes[branch.left].slot].psi;
        std::copy_n(losses_[node.left].impedance, 6, out.impedance);
        std::copy_n(out.impedance, 6, out.terms);
        const int d = link.motion.freedoms();
        const double* N = d_.data() + squares_[node.link];
        for (int r = 0; r < d; ++r) {  // of Sᵀ Ψ S, in units of the joint's inertia
            Six along{};
            for (int s = 0; s <= r; ++s) {
                along = along + N[d * s + r] * joint_column(node.link, s);
                own += N[d * s + r] * N[d * s + r] * squares(joint_column(node.link, s), out.impedance);
            }
            lost += dot(along, psi * along);
        }
        passed = carried_motion(node, X);
    } else {
        psi = errors_.joins[branch.slot].psi1;
        Matrix6 V = joins_[branch.slot].phi1;
        diagonal_of(V, out.terms);
        invert(V);
        diagonal_of(V, out.impedance);
        lost = trace_of_product(V, psi);
        own = product_of(out.impedance, out.terms);
        // W X: forces behind the joint at an acceleration of the carrier.
        for (int j = 0; j < 6; ++j)
            passed.set_column(j, force_into(frames_.place(node.link), laws_[node.slot].w.column(j)));
    }
    judge_joint(node, lost, 0.0, own, losses_[node.left].response, out);
    if (with_totals_) lose_totals_in_rake(node, X, psi, passed, out);
    // Where the ground carries it; else the body that does says more.
    out.through = out.response = 0.0;
    add_diagonal(psi, 1.0, out.terms);
    double of_carrier[6] = {};
    if (!link.floats) add_squares(X, out.impedance, of_carrier);
    pass_through(psi, passed, errors_.laws[node.slot].psi);
    add_diagonal(errors_.laws[node.slot].psi, 1.0, of_carrier);
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
