// What velocities make of accelerations. Accelerations here are ordinary ones, a = (ω̇; r̈ of the frame's origin) in axes
// of the body. Where bodies move as one, all such terms are linear in the six products of their angular velocity,
//   s = (ωx², ωy², ωz², ωxωy, ωxωz, ωyωz),
// the entries of E = ω ωᵀ − |ω|² 1; E r is the acceleration of a point at r against the origin.
#pragma once

#include "adaptive/linkage.hpp"

namespace bellcrank {

constexpr int kProducts = 6, kColumns = 1 + kProducts;  // 1 and s

void products_of(const Vec3& w, double* s);
inline Vec3 centripetal(const Vec3& w, const Vec3& r) { return cross(w, cross(w, r)); }  // E r

// s of the same velocity in the axes that `rotation` turns into the present ones, ω' = Rᵀ ω:  s' = T s.
struct ProductsTurned {
    explicit ProductsTurned(const Mat3& rotation);
    double m[36];  // columns
    // Columns of six in s' and a symmetric matrix of columns, both with one for 1 before them, in s.
    void columns(const double* in, double* out) const;
    void scalar(const double* in, double* out) const;
};

// ζ of a joint, in the frame behind it at `place` in its carrier's: of one that stands still, in columns (the first is
// zero); of one with speeds u along S, ω the angular velocity of the carrier in its own axes.
void still_bias(const Place& place, double* columns);
Six moving_bias(const JointMotion& motion, const Place& place, const double* q, const double* u, const Six& twist,
                const Vec3& w);

// Of a body, or bodies that move as one: −(ω × J ω; E m c) added to loads on them, and ∫ |E r|² dm = |ω|² ωᵀ J ω, J and
// m c about the origin of the frame.
Six gyroscopic(const Matrix6& inertia, const Vec3& w);
double spread(const Matrix6& inertia, const Vec3& w);
void gyroscopic_columns(const Matrix6& inertia, const double* force, double* columns);
void spread_columns(const Matrix6& inertia, double* scalar);

// Values of columns and scalars at an angular velocity.
void collapse(const double* columns, const double* s, double* out);
double collapse_scalar(const double* scalar, const double* s);

// Bodies that move as one, in 22 numbers about the origin of a frame, which simply add up: mass, first and second
// moments; force, moment, and the virial ½ Σ (r fᵀ + f rᵀ), by which forces act along E r.
struct Composite {
    double mass = 0.0;
    Vec3 first{0, 0, 0};
    SymmetricT<double> second{}, virial{};
    Vec3 force{0, 0, 0}, moment{0, 0, 0};

    static Composite of_body(const Link& link, const double* load);
    // Seen from the frame in which the present one lies at `place`.
    Composite seen_from(const Place& place) const;
    Composite& operator+=(const Composite& other);

    Matrix6 inertia() const;
    Six load(const Vec3& w) const;       // h: applied, and what velocities add
    double scalar(const Vec3& w) const;  // k
};

}  // namespace bellcrank
