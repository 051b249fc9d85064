// Rakes: a branch becomes the force that it asks of the body that carries it.
#include <cmath>

#include "adaptive/assembly.hpp"

namespace bellcrank {

namespace {

// Nᵀ N in the place of a lower triangular N.
void square(double* N, int d) {
    for (int j = 0; j < d; ++j)
        for (int i = j; i < d; ++i) {
            double sum = 0.0;
            for (int k = i; k < d; ++k) sum += N[d * i + k] * N[d * j + k];
            N[d * j + i] = sum;
        }
    for (int j = 1; j < d; ++j)
        for (int i = 0; i < j; ++i) N[d * j + i] = N[d * i + j];
}

// Nᵀ N q, and what it would be if nothing in it cancelled for q of these sizes.
void solve_twice(const double* N, int d, const double* q, const double* sizes, double* out, double* terms) {
    for (int i = 0; i < d; ++i) out[i] = terms[i] = 0.0;
    for (int r = 0; r < d; ++r) {
        double once = 0.0, size = 0.0;
        for (int s = 0; s <= r; ++s) {
            once += N[d * s + r] * q[s];
            size += std::abs(N[d * s + r]) * sizes[s];
        }
        for (int s = 0; s <= r; ++s) {
            out[s] += N[d * s + r] * once;
            terms[s] += std::abs(N[d * s + r]) * size;
        }
    }
}

void axes_of(unsigned bits, int* axis) {
    for (int i = 0; i < 6; ++i)
        if (bits >> i & 1u) *axis++ = i;
}
void clear_axes(const int* axis, int count, Matrix6& W) {
    for (int s = 0; s < count; ++s) {
        W.set_column(axis[s], Six{});
        for (int j = 0; j < 6; ++j) W.m[6 * j + axis[s]] = 0.0;
    }
}

}  // namespace

// Where S consists of axes s of the frame and l are the others, W = M_ll⁻¹, U = (1, −M_sl M_ll⁻¹) and D is what is left
// of M_ss: one sweep of l. Else U and W follow from V S.
void RootedAssembly::split(int number, Matrix6& M, Matrix6& W) {
    const Link& link = linkage_->links[number];
    const int d = link.motion.freedoms();
    const unsigned axes = link.motion.axes();
    double *U = u_.data() + 6 * link.freedom, *D = d_.data() + squares_[number];
    if (!link.motion.is_axial()) {
        invert(M);
        symmetrize(M);  // else V − Yᵀ Y keeps along S what V and its transpose differ by
        split_impedance(number, M, W);
        square(D, d);
        return;
    }
    int axis[6] = {};
    axes_of(axes, axis);
    sweep(M, ~axes & 63u);
    for (int s = 0; s < d; ++s) {
        put(U + 6 * s, -M.column(axis[s]));
        for (int r = 0; r < d; ++r) {
            D[d * s + r] = M(axis[r], axis[s]);
            U[6 * s + axis[r]] = r == s ? 1.0 : 0.0;
        }
    }
    for (int j = 0; j < 6; ++j) W.set_column(j, -M.column(j));
    clear_axes(axis, d, W);
}

// N being the inverse factor of Sᵀ V S and Y = N Sᵀ V,  U = Nᵀ Y and W = V − Yᵀ Y, which is zero along axes of S.
void RootedAssembly::split_impedance(int number, const Matrix6& V, Matrix6& W) {
    const Link& link = linkage_->links[number];
    const int d = link.motion.freedoms();
    const bool axial = link.motion.is_axial();
    const double* S = subspace(number);
    double *U = u_.data() + 6 * link.freedom, *N = d_.data() + squares_[number], VS[36];
    int axis[6] = {};
    axes_of(link.motion.axes(), axis);
    for (int s = 0; s < d; ++s) put(VS + 6 * s, axial ? V.column(axis[s]) : V * six(S + 6 * s));
    for (int s = 0; s < d; ++s)
        for (int r = 0; r < d; ++r) N[d * s + r] = axial ? VS[6 * s + axis[r]] : dot(six(S + 6 * r), six(VS + 6 * s));
    whiten(N, d);
    W = V;
    double Y[36];
    for (int r = 0; r < d; ++r) {
        Six y{};
        for (int s = 0; s <= r; ++s) y = y + N[d * s + r] * six(VS + 6 * s);
        put(Y + 6 * r, y);
        for (int j = 0; j < 6; ++j) W.set_column(j, W.column(j) - Y[6 * r + j] * y);
    }
    for (int s = 0; s < d; ++s) {
        Six u{};
        for (int r = s; r < d; ++r) u = u + N[d * s + r] * six(Y + 6 * r);
        put(U + 6 * s, u);
    }
    if (axial) clear_axes(axis, d, W);
}

// With a the acceleration of the carrier in the frame behind the joint, the force on the branch is W a + g and its
// joint accelerates by R − U a. For a body by itself (V, h)
//   R = D (Q + Sᵀ h),  g = Uᵀ (Q + Sᵀ h) − h,
// for a stretch (Φ1, b1), V = Φ1⁻¹,  R = D Q + U b1,  g = Uᵀ Q − W b1. The frame of the carrier takes the place of the
// one behind the joint by X: W X, Xᵀ W X, Xᵀ g.
void RootedAssembly::rake_matrices(const AssemblyNode& node) {
    const AssemblyNode& branch = tree().nodes[node.left];
    const Link& link = linkage_->links[node.link];
    const bool alone = branch.kind == NodeKind::body;
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    Matrix6 W, WX;
    if (alone)
        split_impedance(node.link, bodies_[branch.link].phi, W);
    else {
        Matrix6 M = joins_[branch.slot].phi1;
        split(node.link, M, W);
    }
    product(W, X, WX);
    product(XT, WX, laws_[node.slot].w);
    multiply<1, false>(nullptr, XT, u_.data() + 6 * link.freedom, g1_.data() + 6 * link.freedom,
                       link.motion.freedoms());
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
    subspace_components(link, own, along);
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
                 *D = d_.data() + squares_[node.link];
    double *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom, Q[6];
    std::copy_n(effort_.data() + link.freedom, d, Q);
    Six g;
    if (alone) {
        const double* h = bodies_[branch.link].b;
        double along[6], size[6];
        subspace_components(link, h, along);
        for (int i = 0; i < d; ++i) {
            size[i] = std::abs(Q[i]) + std::abs(along[i]);
            Q[i] += along[i];
        }
        g = -force_out_of(place, six(h));
        solve_twice(D, d, Q, size, R, terms);
    } else {
        const double* b = joins_[branch.slot].b1;
        g = -(out.w * motion_out_of(place, six(b)));
        for (int i = 0; i < d; ++i) {
            R[i] = dot(six(U + 6 * i), six(b));
            terms[i] = size_of_dot(six(U + 6 * i), six(b));
            for (int j = 0; j < d; ++j) {
                R[i] += D[d * j + i] * Q[j];
                terms[i] += std::abs(D[d * j + i] * Q[j]);
            }
        }
    }
    for (int i = 0; i < d; ++i) g = g + Q[i] * six(G + 6 * i);
    put(out.g, g);
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

Six RootedAssembly::joint_motion(int number, const double* rate) const {
    const Link& link = linkage_->links[number];
    Six motion{};
    if (!link.motion.is_axial()) {
        for (int i = 0; i < link.motion.freedoms(); ++i)
            motion = motion + rate[i] * six(subspace_.data() + 6 * (link.freedom + i));
        return motion;
    }
    double along[6] = {};
    for (int i = 0; i < 6; ++i)
        if (link.motion.axes() >> i & 1u) along[i] = *rate++;
    return six(along);
}

// Sᵀ f
void RootedAssembly::subspace_components(const Link& link, const double* force, double* along) const {
    if (!link.motion.is_axial())
        for (int i = 0; i < link.motion.freedoms(); ++i)
            along[i] = dot(six(subspace_.data() + 6 * (link.freedom + i)), six(force));
    else
        for (int i = 0; i < 6; ++i)
            if (link.motion.axes() >> i & 1u) *along++ = force[i];
}

}  // namespace bellcrank
