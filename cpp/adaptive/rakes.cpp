// Rakes: a branch becomes the force that it asks of the body that carries it.
#include <cmath>

#include "adaptive/assembly.hpp"

namespace bellcrank {

void RootedAssembly::rake_matrices(const AssemblyNode& node) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const bool alone = branch.kind == NodeKind::body;
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    const Matrix6& of = alone ? bodies_[branch.link].phi : joins_[branch.slot].phi1;
    Matrix6 WX;
    bellcrank::rake_matrices(joint(node.link), X, XT, of, alone, laws_[node.slot].w, WX);
    if (with_totals_) rake_totals(node, X, WX);
}

// The total is |R − U a|² and that of the branch: of a stretch at f = W a + g, of a body's own branches at its
// acceleration E a + S R, E = 1 − S U. Freedoms of a body that hangs on nothing are no joint's and do not count.
void RootedAssembly::rake_totals(const AssemblyNode& node, const Matrix6& X, const Matrix6& WX) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    Matrix6& psi = totals_.laws[node.slot].psi;
    if (branch.kind == NodeKind::join)
        pass_through(totals_.joins[branch.slot].psi1, WX, psi);
    else if (branch.left >= 0)
        pass_through(totals_.laws[tree().nodes[branch.left].slot].psi, carried_motion(node, X), psi);
    else
        psi = Matrix6{};
    if (link.floats) return;
    const double* G = g1_.data() + 6 * link.freedom;
    for (int i = 0; i < link.motion.freedoms(); ++i)
        for (int j = 0; j < 6; ++j) psi.set_column(j, psi.column(j) + G[6 * i + j] * six(G + 6 * i));
}

// E X: the acceleration of a body that is a branch by itself, at one of the body that carries it.
Matrix6 RootedAssembly::carried_motion(const AssemblyNode& node, const Matrix6& X) const {
    const Link& link = linkage_->links[node.link];
    const double* G = g1_.data() + 6 * link.freedom;  // columns of Xᵀ Uᵀ
    Matrix6 EX;
    for (int j = 0; j < 6; ++j) {
        double rate[6];
        for (int i = 0; i < link.motion.freedoms(); ++i) rate[i] = -G[6 * i + j];
        EX.set_column(j, X.column(j) + joint_motion(node.link, rate));
    }
    return EX;
}

// What loads add to the form of a branch: at the force g in the frame behind the joint, or at the acceleration S R of a
// body by itself, where Eᵀ v = v − Uᵀ Sᵀ v.
void RootedAssembly::pass_rake_loads(const AssemblyNode& node, const Matrix6& psi, const double* p, double eta,
                                     LawForm& out) const {
    const Link& link = linkage_->links[node.link];
    const Place& place = frames_.place(node.link);
    if (tree().nodes[node.left].kind == NodeKind::join) {
        const Six f = force_into(place, six(laws_[node.slot].g)), t = psi * f;
        put(out.p, laws_[node.slot].w * motion_out_of(place, 2.0 * t + six(p)));
        out.eta = dot(f, t + six(p)) + eta;
        return;
    }
    const double* G = g1_.data() + 6 * link.freedom;
    const Six a = joint_motion(node.link, r_.data() + link.freedom), t = psi * a, v = 2.0 * t + six(p);
    double own[6], along[6];
    put(own, v);
    subspace_components(link.motion, subspace(node.link), own, along);
    Six of_carrier = force_out_of(place, v);
    for (int i = 0; i < link.motion.freedoms(); ++i) of_carrier = of_carrier - along[i] * six(G + 6 * i);
    put(out.p, of_carrier);
    out.eta = dot(a, t + six(p)) + eta;
}

void RootedAssembly::rake_vectors(const AssemblyNode& node) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const bool alone = branch.kind == NodeKind::body;
    const Place& place = frames_.place(node.link);
    LawState& out = laws_[node.slot];
    const double *U = u_.data() + 6 * link.freedom, *G = g1_.data() + 6 * link.freedom,
                 *D = d_.data() + squares_[node.link], *Q = effort_.data() + link.freedom;
    double *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom;
    const LawLoads loads{out.g, R, nullptr};
    if (alone) {
        const double* h = bodies_[branch.link].b;
        rake_alone_loads<1>(joint(node.link), place, out.w, h, nullptr, bias(node.link), Q, loads);
        double along[6], size[6], again[6];
        subspace_components(link.motion, subspace(node.link), h, along);
        for (int i = 0; i < d; ++i) size[i] = std::abs(Q[i]) + std::abs(along[i]);
        solve_twice(D, d, along, size, again, terms);
    } else {
        const double* b = joins_[branch.slot].b1;
        rake_loads<1>(joint(node.link), place, out.w, b, nullptr, bias(node.link), Q, loads);
        for (int i = 0; i < d; ++i) {
            terms[i] = size_of_dot(six(U + 6 * i), six(b));
            for (int j = 0; j < d; ++j) terms[i] += std::abs(D[d * j + i] * Q[j]);
        }
    }
    if (with_totals_) {
        LawForm& totals = totals_.laws[node.slot];
        if (!alone) {
            const StretchForm& of = totals_.joins[branch.slot];
            pass_rake_loads(node, of.psi1, of.p1, of.eta, totals);
        } else if (branch.left >= 0) {
            const LawForm& of = totals_.laws[tree().nodes[branch.left].slot];
            pass_rake_loads(node, of.psi, of.p, of.eta, totals);
        } else
            std::fill_n(totals.p, 6, totals.eta = 0.0);
        Six p = six(totals.p);
        for (int i = 0; i < d && !link.floats; ++i) {
            p = p - (2.0 * R[i]) * six(G + 6 * i);
            totals.eta += R[i] * R[i];
        }
        put(totals.p, p);
    }
}

Six RootedAssembly::joint_column(int number, int freedom) const {
    double rate[6] = {};
    rate[freedom] = 1.0;
    return joint_motion(number, rate);
}

}  // namespace bellcrank
