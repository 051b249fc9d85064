// What a node of an assembly answers at its boundary, from what its parts answer (R. Featherstone 1999; S. Redon and
// M. Lin 2005, equations 2, 4, 5 and 9; docs/theory/adaptive.md). Matrices depend on where the joints are. Loads are
// columns: one where they are numbers, seven where a node moves as one rigid body and its accelerations are a
// polynomial of its angular velocity (adaptive/columns.hpp). Each load may come with a scalar, which makes of the
// present matrices and vectors Gauss' function at its minimum, times 2:
//   of a stretch at forces on its first and last body  fᵀ Φ f + 2 fᵀ b + c,  of a law at an acceleration  aᵀ W a + 2 aᵀ
//   g + k.
#pragma once

#include "adaptive/linkage.hpp"

namespace bellcrank {

// A joint in its node, and where what is found of it lies: rows of U, D, rows of U Φ21 and U Φ12 (of a rake: of U in
// the frame of the carrier), and R. A joint that is locked has no freedoms here. Along `directions` of a joint, each a
// vector of its freedoms, it does not accelerate, as where it rests on a stop: D, which is not factored then, and U
// have nothing along them, and `whole` is D as it would be.
struct JointNumbers {
    const JointMotion& motion;
    const double* S;  // columns, where it is not axial
    int freedoms;
    double *U, *D, *G1, *G2;
    int directions = 0;
    const double* along = nullptr;
    double* whole = nullptr;
};

// S u and Sᵀ f.
Six joint_motion(const JointMotion& motion, const double* S, const double* speeds);
void subspace_components(const JointMotion& motion, const double* S, const double* force, double* along);

// W, U and D = (Sᵀ V S)⁻¹ of a joint from M = V⁻¹, which is used up; or from V, and in the place of D the inverse N of
// the factor of Sᵀ V S, D = Nᵀ N.
void split(const JointNumbers& joint, Matrix6& M, Matrix6& W);
void split_impedance(const JointNumbers& joint, const Matrix6& V, Matrix6& W);
// Nᵀ N q, and what it would be if nothing in it cancelled for q of these sizes.
void solve_twice(const double* N, int d, const double* q, const double* sizes, double* out, double* terms);
// uᵀ D⁻¹ u, from D, or from N if it is factored.
double energy_along(const double* D, int d, bool factored, const double* u);

// What a join, or a rake of a join, takes from a part below it. A body has one handle where a join has two: all
// blocks of Φ are one. The second handle of a stretch that ends its path is nothing.
struct Mobility {
    const Matrix6 *phi1, *phi21, *phi2;
};
// A stretch of a path, forces f1, f2 on its first and last body:  a1 = Φ1 f1 + Φ21ᵀ f2 + b1,  a2 = Φ21 f1 + Φ2 f2 + b2;
// the force on its right part is X1 f1 − X2 f2 + γ.
struct JoinMatrices {
    Matrix6 phi1, phi21, phi2, x1, x2;
};
// X takes motions of the left part into the frame behind the joint.
void join_matrices(const JointNumbers& joint, const Matrix6& X, const Matrix6& XT, const Mobility& A, const Mobility& B,
                   bool ends, JoinMatrices& out, Matrix6& W);
// A law W in the frame of the carrier, of a branch that is a body by itself, V = Φ⁻¹, or a stretch. WX: W X.
void rake_matrices(const JointNumbers& joint, const Matrix6& X, const Matrix6& XT, const Matrix6& branch, bool alone,
                   Matrix6& law, Matrix6& WX);

// Columns of six, side by side, and of a scalar a symmetric matrix of columns. Their number N is known where these are
// compiled; 0: it is `count`.
struct StretchLoads {
    const double *b1, *b2, *c;
};
struct JoinLoads {
    double *b1, *b2, *gamma, *R, *c;  // no scalar is kept where c is null
};
struct LawLoads {
    double *g, *R, *k;
};
// ζ: per column the acceleration of the joint by velocities, in the frame behind it; null: none. Efforts Q are a part
// of the first column.
template <int N>
void join_loads(const JointNumbers& joint, const Place& place, const JoinMatrices& matrices, const Matrix6& W,
                const StretchLoads& A, const StretchLoads& B, const double* zeta, const double* effort, bool ends,
                const JoinLoads& out, int count = N);
// Of a stretch (b1, c), and of a body by itself (h, k).
template <int N>
void rake_loads(const JointNumbers& joint, const Place& place, const Matrix6& law, const double* b1, const double* c,
                const double* zeta, const double* effort, const LawLoads& out, int count = N);
template <int N>
void rake_alone_loads(const JointNumbers& joint, const Place& place, const Matrix6& law, const double* h,
                      const double* k, const double* zeta, const double* effort, const LawLoads& out, int count = N);
// b = Φ h and c = hᵀ Φ h − k.
template <int N>
void mobility_loads(const Matrix6& phi, const double* h, const double* k, double* b, double* c, int count = N);

}  // namespace bellcrank
