#include "adaptive/forms.hpp"

#include "adaptive/assembly.hpp"

namespace bellcrank {

// Forces on A are (f1; −f), on B (f; f2), with f = X1 f1 − X2 f2 + γ. With P = Ψ2ᴬ + Ψ1ᴮ,
//   Ψ1  = Ψ1ᴬ + sym(X1ᵀ (P X1 − 2 Ψ21ᴬ))
//   Ψ21 = Ψ21ᴮ X1 − X2ᵀ (P X1 − Ψ21ᴬ)
//   Ψ2  = Ψ2ᴮ + sym(X2ᵀ (P X2 − 2 Ψ12ᴮ)).
void pass_join(const EndForm& A, const EndForm& B, const JoinState& state, const Matrix6& X, const Matrix6& XT,
               bool ends, StretchForm& out) {
    static const Matrix6 zero{};
    if (!A.psi1 && !B.psi1) {
        out.psi1 = zero;
        if (!ends) out.psi21 = out.psi2 = zero;
        return;
    }
    const Matrix6& psi1 = A.psi1 ? *A.psi1 : zero;
    Matrix6 P = B.psi1 ? *B.psi1 : zero, psi21, T, Y, E;
    if (A.psi1) {
        product(X, *A.psi21, psi21);
        product(X, *A.psi2, T);
        sum_product(P, T, XT, P);
    }
    product(P, state.x1, Y);
    E = Y;
    if (A.psi1)
        for (int j = 0; j < 6; ++j) E.set_column(j, Y.column(j) - 2.0 * psi21.column(j));
    product(transpose(state.x1), E, T);
    add_symmetric(psi1, T, out.psi1);
    if (ends) return;
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

// With s = 2 P γ + p1ᴮ − p2ᴬ
//   p1 = p1ᴬ − 2 Ψ12ᴬ γ + X1ᵀ s,  p2 = p2ᴮ + 2 Ψ21ᴮ γ − X2ᵀ s,  η = ηᴬ + ηᴮ + γᵀ (P γ + p1ᴮ − p2ᴬ).
void pass_join_loads(const EndForm& A, const EndForm& B, const JoinState& state, const Place& place, bool ends,
                     StretchForm& out) {
    const Six gamma = six(state.gamma);
    Six t{}, z{}, p1{}, p2{};
    out.eta = A.eta + B.eta;
    if (A.psi1) {
        const Six on_a = force_out_of(place, gamma);
        t = motion_into(place, *A.psi2 * on_a);
        z = -motion_into(place, six(A.p2));
        p1 = six(A.p1) - 2.0 * transpose_times(*A.psi21, on_a);
    }
    if (B.psi1) {
        t = t + *B.psi1 * gamma;
        z = z + six(B.p1);
        if (!ends) p2 = six(B.p2) + 2.0 * (*B.psi21 * gamma);
    }
    out.eta += dot(gamma, t + z);
    if (A.psi1 || B.psi1) {
        const Six s = 2.0 * t + z;
        p1 = p1 + transpose_times(state.x1, s);
        if (!ends) p2 = p2 - transpose_times(state.x2, s);
    }
    put(out.p1, p1);
    if (!ends) put(out.p2, p2);
}

void pass_through(const Matrix6& form, const Matrix6& A, Matrix6& out) {
    Matrix6 T;
    product(form, A, T);
    product(transpose(A), T, out);
}

// Φ (2 Ψ b + p), bᵀ Ψ b + bᵀ p + η
void pass_body_loads(const LawForm& of, const Matrix6& phi, const Six& b, LawForm& out) {
    const Six t = of.psi * b, p = six(of.p);
    put(out.p, phi * (2.0 * t + p));
    out.eta = dot(b, t + p) + of.eta;
}

void add_scaled(const EndForm& a, double scale, const EndForm& b, bool ends, StretchForm& out) {
    const auto matrix = [&](const Matrix6* base, const Matrix6& added, Matrix6& sum) {
        for (int j = 0; j < 6; ++j) sum.set_column(j, (base ? base->column(j) : Six{}) + scale * added.column(j));
    };
    const auto vector = [&](const double* base, const double* added, double* sum) {
        put(sum, (base ? six(base) : Six{}) + scale * six(added));
    };
    matrix(a.psi1, *b.psi1, out.psi1);
    vector(a.p1, b.p1, out.p1);
    out.eta = a.eta + scale * b.eta;
    if (ends) return;
    matrix(a.psi21, *b.psi21, out.psi21);
    matrix(a.psi2, *b.psi2, out.psi2);
    vector(a.p2, b.p2, out.p2);
}

}  // namespace bellcrank
