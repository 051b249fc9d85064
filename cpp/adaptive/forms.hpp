// Quadratic forms at the boundary of a node. What is a sum over the joints and bodies in a node, of squares of what
// happens there, is a form in what the node is given, since all that happens there is linear in it. All such sums pass
// from the parts of a node to the node in the same way: that of squares of joint accelerations (Redon and Lin, section
// 4.1), and those of errors (digits.cpp).
#pragma once

#include <vector>

#include "spatial/aligned.hpp"
#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

struct JoinState;

// The form of a stretch, at forces on its first and last body, is f1ᵀ Ψ1 f1 + 2 f2ᵀ Ψ21 f1 + f2ᵀ Ψ2 f2 + f1ᵀ p1 + f2ᵀ
// p2 + η.
struct StretchForm {
    Matrix6 psi1, psi21, psi2;
    double p1[6], p2[6], eta;
};
// The form of side branches at the acceleration of the body that carries them, or of a body at a force on it, is
// vᵀ Ψ v + vᵀ p + η.
struct LawForm {
    Matrix6 psi;
    double p[6], eta;
};
// The form of a part of a join. A body has one handle where a join has two: all blocks of its form are one. Without
// psi1 it is zero.
struct EndForm {
    const Matrix6 *psi1, *psi21, *psi2;
    const double *p1, *p2;
    double eta;

    EndForm() : psi1(nullptr), psi21(nullptr), psi2(nullptr), p1(nullptr), p2(nullptr), eta(0.0) {}
    explicit EndForm(const StretchForm& of)
        : psi1(&of.psi1), psi21(&of.psi21), psi2(&of.psi2), p1(of.p1), p2(of.p2), eta(of.eta) {}
    explicit EndForm(const LawForm& of)
        : psi1(&of.psi), psi21(&of.psi), psi2(&of.psi), p1(of.p), p2(of.p), eta(of.eta) {}
};

// One form for each join, each rake and sum, and each body with branches, by their slots.
struct Forms {
    template <class T>
    using Array = std::vector<T, AlignedAllocator<T>>;
    Array<StretchForm> joins;
    Array<LawForm> laws, bodies;

    void resize(int join_count, int law_count, int body_count) {
        joins.resize(join_count);
        laws.resize(law_count);
        bodies.resize(body_count);
    }
    std::size_t bytes() const {
        return joins.capacity() * sizeof(StretchForm) + (laws.capacity() + bodies.capacity()) * sizeof(LawForm);
    }
};

// Add up the forms of two parts: matrices, and what follows from loads. X takes motions of the left part into the frame
// behind the joint, at `place`.
void pass_join(const EndForm& A, const EndForm& B, const JoinState& state, const Matrix6& X, const Matrix6& XT,
               bool ends, StretchForm& out);
void pass_join_loads(const EndForm& A, const EndForm& B, const JoinState& state, const Place& place, bool ends,
                     StretchForm& out);
// Aᵀ Ψ A: the form where A a + g is the force on what lies behind, or the acceleration there.
void pass_through(const Matrix6& form, const Matrix6& A, Matrix6& out);
// Expresses the form of a body's branches in forces on the body, a = Φ f + b; its matrices pass through Φ.
void pass_body_loads(const LawForm& of, const Matrix6& phi, const Six& b, LawForm& out);

// a + scale · b
void add_scaled(const EndForm& a, double scale, const EndForm& b, bool ends, StretchForm& out);

}  // namespace bellcrank
