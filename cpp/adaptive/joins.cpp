// Joins: two stretches of a path become one by their joint (Redon and Lin, equations 2 and 9).
//
// Everything of the left stretch A at its last body goes into the frame behind the joint first, by the motion transform
// X. With V = (Φ2ᴬ + Φ1ᴮ)⁻¹, D = (Sᵀ V S)⁻¹, U = D Sᵀ V, W = V − V S U, β = b2ᴬ − b1ᴮ and efforts Q the force on B is
//   f = X1 f1 − X2 f2 + γ,  X1 = W Φ21ᴬ,  X2 = W Φ12ᴮ,  γ = W β + Uᵀ Q,
// and the joint accelerates by R − G1 f1 + G2 f2,  G1 = U Φ21ᴬ,  G2 = U Φ12ᴮ,  R = D Q − U β.
#include <cmath>

#include "adaptive/ends.hpp"

namespace bellcrank {

namespace {

// out += Σ g_i g_iᵀ over columns of six.
void add_squares(const double* left, const double* right, int count, double sign, Matrix6& out) {
    for (int i = 0; i < count; ++i, left += 6, right += 6) {
        const Six g = six(left);
        for (int j = 0; j < 6; ++j) out.set_column(j, out.column(j) + (sign * right[j]) * g);
    }
}

}  // namespace

template <bool kTotals>
void RootedAssembly::join_matrices(const AssemblyNode& node) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    JoinState& out = joins_[node.slot];
    const Matrix6 X = motion_transform(frames_.place(node.link)), XT = transpose(X);
    Matrix6 L, T, M, W;
    product(X, *A.phi21, L);
    if (A.phi21 == A.phi2)
        sum_product(*B.phi1, L, XT, M);
    else {
        product(X, *A.phi2, T);
        sum_product(*B.phi1, T, XT, M);
    }
    split(node.link, M, W);
    const double* U = u_.data() + 6 * link.freedom;
    const Matrix6 LT = transpose(L);
    product(W, L, out.x1);
    difference_product(*A.phi1, LT, out.x1, out.phi1);
    multiply<1, false>(nullptr, LT, U, g1_.data() + 6 * link.freedom, d);
    if (!node.ends) {
        const Matrix6 phi12 = transpose(*B.phi21);
        product(W, phi12, out.x2);
        difference_product(*B.phi2, *B.phi21, out.x2, out.phi2);
        product(*B.phi21, out.x1, out.phi21);
        multiply<1, false>(nullptr, *B.phi21, U, g2_.data() + 6 * link.freedom, d);
    }
    if constexpr (kTotals) {
        join_totals_[node.slot].w = W;
        join_totals(node, A, B, X, XT);
    } else {  // W is not kept
        Six gamma = W * (motion_into(frames_.place(node.link), six(A.b2)) - six(B.b1));
        for (int i = 0; i < d; ++i) gamma = gamma + effort_[link.freedom + i] * six(U + 6 * i);
        put(out.gamma, gamma);
    }
}
template void RootedAssembly::join_matrices<true>(const AssemblyNode&);
template void RootedAssembly::join_matrices<false>(const AssemblyNode&);

// Forces on A are (f1; −f), on B (f; f2). With P = Ψ2ᴬ + Ψ1ᴮ,
//   Ψ1  = Ψ1ᴬ + sym(X1ᵀ (P X1 − 2 Ψ21ᴬ)) + G1ᵀ G1
//   Ψ21 = Ψ21ᴮ X1 − X2ᵀ (P X1 − Ψ21ᴬ) − G2ᵀ G1
//   Ψ2  = Ψ2ᴮ + sym(X2ᵀ (P X2 − 2 Ψ12ᴮ)) + G2ᵀ G2.
void RootedAssembly::join_totals(const AssemblyNode& node, const Ends& A, const Ends& B, const Matrix6& X,
                                 const Matrix6& XT) {
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const JoinState& state = joins_[node.slot];
    JoinTotals& out = join_totals_[node.slot];
    const double *G1 = g1_.data() + 6 * link.freedom, *G2 = g2_.data() + 6 * link.freedom;
    static const Matrix6 zero{};
    const Matrix6& psi1 = A.psi1 ? *A.psi1 : zero;
    Matrix6 P = B.psi1 ? *B.psi1 : zero, psi21, T, Y, E;
    if (A.psi1) {
        product(X, *A.psi21, psi21);
        if (A.psi21 == A.psi2)
            sum_product(P, psi21, XT, P);
        else {
            product(X, *A.psi2, T);
            sum_product(P, T, XT, P);
        }
    }
    const bool quiet = !A.psi1 && !B.psi1;
    if (quiet)
        out.psi1 = zero;
    else {
        product(P, state.x1, Y);
        E = Y;
        if (A.psi1)
            for (int j = 0; j < 6; ++j) E.set_column(j, Y.column(j) - 2.0 * psi21.column(j));
        product(transpose(state.x1), E, T);
        add_symmetric(psi1, T, out.psi1);
    }
    add_squares(G1, G1, d, 1.0, out.psi1);
    if (node.ends) return;
    if (quiet)
        out.psi21 = out.psi2 = zero;
    else {
        const Matrix6 x2t = transpose(state.x2);
        if (A.psi1)
            for (int j = 0; j < 6; ++j) Y.set_column(j, Y.column(j) - psi21.column(j));
        if (B.psi1) {
            product(*B.psi21, state.x1, T);
            difference_product(T, x2t, Y, out.psi21);
        } else
            multiply<-1, false>(nullptr, x2t, Y.m, out.psi21.m);
        product(P, state.x2, E);
        if (B.psi1) {
            const Matrix6 psi12 = transpose(*B.psi21);
            for (int j = 0; j < 6; ++j) E.set_column(j, E.column(j) - 2.0 * psi12.column(j));
        }
        product(x2t, E, T);
        add_symmetric(B.psi2 ? *B.psi2 : zero, T, out.psi2);
    }
    add_squares(G2, G1, d, -1.0, out.psi21);
    add_squares(G2, G2, d, 1.0, out.psi2);
}

// b1 = b1ᴬ − X1ᵀ β − G1ᵀ Q, b2 = b2ᴮ + X2ᵀ β + G2ᵀ Q, and with s = 2 P γ + p1ᴮ − p2ᴬ
//   p1 = p1ᴬ − 2 Ψ12ᴬ γ + X1ᵀ s − 2 G1ᵀ R,  p2 = p2ᴮ + 2 Ψ21ᴮ γ − X2ᵀ s + 2 G2ᵀ R,
//   η = ηᴬ + ηᴮ + γᵀ (P γ + p1ᴮ − p2ᴬ) + Rᵀ R.
template <bool kTotals>
void RootedAssembly::join_vectors(const AssemblyNode& node) {
    const Ends A = ends(node.left), B = ends(node.right);
    const Link& link = linkage_->links[node.link];
    const int d = link.motion.freedoms();
    const Place& place = frames_.place(node.link);
    JoinState& out = joins_[node.slot];
    const double *U = u_.data() + 6 * link.freedom, *G1 = g1_.data() + 6 * link.freedom,
                 *G2 = g2_.data() + 6 * link.freedom;
    const double *Q = effort_.data() + link.freedom, *D = d_.data() + squares_[node.link];
    double *R = r_.data() + link.freedom, *terms = terms_.data() + link.freedom;
    const Six beta = motion_into(place, six(A.b2)) - six(B.b1);
    Six b1 = six(A.b1) - transpose_times(out.x1, beta);
    for (int i = 0; i < d; ++i) {
        R[i] = -dot(six(U + 6 * i), beta);
        terms[i] = size_of_dot(six(U + 6 * i), beta);
        for (int j = 0; j < d; ++j) {
            R[i] += D[d * j + i] * Q[j];
            terms[i] += std::abs(D[d * j + i] * Q[j]);
        }
        b1 = b1 - Q[i] * six(G1 + 6 * i);
    }
    put(out.b1, b1);
    if (!node.ends) {
        Six b2 = six(B.b2) + transpose_times(out.x2, beta);
        for (int i = 0; i < d; ++i) b2 = b2 + Q[i] * six(G2 + 6 * i);
        put(out.b2, b2);
    }
    if constexpr (kTotals) {
        JoinTotals& totals = join_totals_[node.slot];
        Six gamma = totals.w * beta;
        for (int i = 0; i < d; ++i) gamma = gamma + Q[i] * six(U + 6 * i);
        put(out.gamma, gamma);
        Six t{}, z{}, p1{}, p2{};
        double eta = A.eta + B.eta;
        if (A.psi1) {
            const Six on_a = force_out_of(place, gamma);
            t = motion_into(place, *A.psi2 * on_a);
            z = -motion_into(place, six(A.p2));
            p1 = six(A.p1) - 2.0 * transpose_times(*A.psi21, on_a);
        }
        if (B.psi1) {
            t = t + *B.psi1 * gamma;
            z = z + six(B.p1);
            if (!node.ends) p2 = six(B.p2) + 2.0 * (*B.psi21 * gamma);
        }
        eta += dot(gamma, t + z);
        const Six s = 2.0 * t + z;
        const bool quiet = !A.psi1 && !B.psi1;
        if (!quiet) p1 = p1 + transpose_times(out.x1, s);
        for (int i = 0; i < d; ++i) {
            p1 = p1 - (2.0 * R[i]) * six(G1 + 6 * i);
            eta += R[i] * R[i];
        }
        put(totals.p1, p1);
        totals.eta = eta;
        if (node.ends) return;
        if (!quiet) p2 = p2 - transpose_times(out.x2, s);
        for (int i = 0; i < d; ++i) p2 = p2 + (2.0 * R[i]) * six(G2 + 6 * i);
        put(totals.p2, p2);
    }
}
template void RootedAssembly::join_vectors<true>(const AssemblyNode&);
template void RootedAssembly::join_vectors<false>(const AssemblyNode&);

}  // namespace bellcrank
