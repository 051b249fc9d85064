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
        w_[node.slot] = W;
        StretchForm& totals = totals_.joins[node.slot];
        pass_join(end_form(totals_, node.left), end_form(totals_, node.right), out, X, XT, node.ends, totals);
        add_rates(node, totals);
    } else {  // W is not kept
        Six gamma = W * (motion_into(frames_.place(node.link), six(A.b2)) - six(B.b1));
        for (int i = 0; i < d; ++i) gamma = gamma + effort_[link.freedom + i] * six(U + 6 * i);
        put(out.gamma, gamma);
    }
}
template void RootedAssembly::join_matrices<true>(const AssemblyNode&);
template void RootedAssembly::join_matrices<false>(const AssemblyNode&);

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

// b1 = b1ᴬ − X1ᵀ β − G1ᵀ Q, b2 = b2ᴮ + X2ᵀ β + G2ᵀ Q; of the joint's own part of the total −2 G1ᵀ R, 2 G2ᵀ R, Rᵀ R.
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
        Six gamma = w_[node.slot] * beta;
        for (int i = 0; i < d; ++i) gamma = gamma + Q[i] * six(U + 6 * i);
        put(out.gamma, gamma);
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
template void RootedAssembly::join_vectors<true>(const AssemblyNode&);
template void RootedAssembly::join_vectors<false>(const AssemblyNode&);

}  // namespace bellcrank
