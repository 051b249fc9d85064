// The motion of a marker pair over any scalar: of numbers, and of numbers with their derivatives.
#pragma once

#include "joints/marker_pair.hpp"
#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

// A body: its centre of mass in world axes, rotations in principal axes.
template <class S>
struct MovingBodyT {
    Vec3T<S> position, velocity, acceleration;
    QuatT<S> rotation;  // principal axes → world
    Vec3T<S> omega, omega_dot;
};
using MovingBody = MovingBodyT<double>;

// A velocity of a body; of a relative motion, or its acceleration, in marker-1 axes.
template <class S>
struct BodyRateT {
    Vec3T<S> velocity, omega;
};
template <class S>
struct RelativeRateT {
    Vec3T<S> r, omega;
};

// Changes of a body: displacement, with its rotation in principal axes, and how it moves.
struct BodyChange {
    Vec3T<Four> position{}, turn{}, velocity{}, omega{}, acceleration{}, omega_dot{};
};
// Of a marker in its body, principal axes.
struct MarkerChange {
    Vec3T<Four> offset{}, turn{};
};

// A gradient by all that a pair's motion is made of. turn: by rotations of a body, or of a marker, in principal axes.
struct PairGradient {
    struct OfBody {
        Vec3 position{}, turn{}, velocity{}, omega{}, acceleration{}, omega_dot{};
    } body[2];
    Vec3 offset[2]{}, turn[2]{};
};
// The same by the relative motion, its acceleration, and by its rates at other velocities of the bodies, in marker-1
// axes.
struct RelativeGradient {
    Vec3 r{}, turn{}, rdot{}, omega{}, rddot{}, omega_dot{};
    RelativeRateT<double> rate{};
};

// With R_b: principal axes of body b → world, A1: marker-1 axes → principal axes of body 1, s_b the marker offsets, and
// what belongs to body 2 in principal axes of body 1, σ = R12 s2, w2 = R12 ω2, R12 = R1ᵀR2:
//   d = R1ᵀ(x2 − x1) + σ,   r = A1ᵀ(d − s1)                                                             (1)
//   ḋ = R1ᵀ(v2 − v1) + w2 × σ − ω1 × d,   Ω = w2 − ω1                                                   (2)
//   d̈ = R1ᵀ(v̇2 − v̇1) + R12 ω̇2 × σ + w2 × (w2 × σ) − ω̇1 × d − 2 ω1 × ḋ − ω1 × (ω1 × d)                  (3)
//   Ω̇ = R12 ω̇2 − ω̇1 − ω1 × w2                                                                          (4)
template <class S>
struct PairMotionT {
    PairMotionT(const MarkerPairT<S>& pair, const MovingBodyT<S>& one, const MovingBodyT<S>& two)
        : A1(rotation_matrix(pair.rotation[0])),
          R1(rotation_matrix(one.rotation)),
          R12(transpose_times(R1, rotation_matrix(two.rotation))),
          sigma(R12 * pair.offset[1]),
          w1(one.omega),
          w2(R12 * two.omega),
          apart(transpose_times(R1, two.position - one.position)),
          d(apart + sigma),
          speed(transpose_times(R1, two.velocity - one.velocity)),
          ddot(speed + cross(w2, sigma) - cross(w1, d)) {
        relative.r = transpose_times(A1, d - pair.offset[0]);
        relative.q = conjugate(one.rotation * pair.rotation[0]) * (two.rotation * pair.rotation[1]);
        relative.rdot = transpose_times(A1, ddot);
        relative.omega = transpose_times(A1, w2 - w1);
    }

    // (3) and (4).
    RelativeRateT<S> acceleration(const MovingBodyT<S>& one, const MovingBodyT<S>& two) const {
        const Vec3T<S> w2dot = R12 * two.omega_dot;
        const Vec3T<S> dddot = transpose_times(R1, two.acceleration - one.acceleration) + cross(w2dot, sigma) +
                               cross(w2, cross(w2, sigma)) - cross(one.omega_dot, d) -
                               (cross(w1, ddot) + cross(w1, ddot)) - cross(w1, cross(w1, d));
        return {transpose_times(A1, dddot), transpose_times(A1, w2dot - one.omega_dot - cross(w1, w2))};
    }

    // The rate of the relative motion at other velocities of the bodies: (2).
    RelativeRateT<S> rate(const BodyRateT<S>& one, const BodyRateT<S>& two) const {
        const Vec3T<S> turning = R12 * two.omega;
        return {transpose_times(
                    A1, transpose_times(R1, two.velocity - one.velocity) + cross(turning, sigma) - cross(one.omega, d)),
                transpose_times(A1, turning - one.omega)};
    }

    // What a force at marker 2 and a moment, both on body 2 in marker-1 axes, exert on the bodies: force in world axes,
    // moment about the com in principal axes. The transpose of (2).
    void exert(const Vec3T<S>& force, const Vec3T<S>& moment, ForceT<S> (&on)[2]) const {
        const Vec3T<S> f = A1 * force, n = A1 * moment, world = R1 * f;
        on[0] = {-cross(d, f) - n, -world};
        on[1] = {transpose_times(R12, cross(sigma, f) + n), world};
    }

    Mat3T<S> A1, R1, R12;
    Vec3T<S> sigma, w1, w2, apart, d, speed, ddot;
    RelativeMotionT<S> relative;
};

// The change of (1) to (4), of the relative motion in marker-1 axes.
struct PairChange {
    Vec3T<Four> between{}, sigma{}, d{};  // θ' − θ1, and of σ and d: body-1 axes
    Vec3T<Four> marker{};                 // rotation of marker 1, body-1 axes
    Vec3T<Four> r{}, turn{}, rdot{}, omega{}, rddot{}, omega_dot{};
};
PairChange change_of(const PairMotionT<double>& motion, const MovingBody (&bodies)[2], const BodyChange (&changes)[2],
                     const MarkerChange (&markers)[2]);

// The change of exert() where force and moment change.
void exert_change(const PairMotionT<double>& motion, const BodyChange& one, const PairChange& change, const Vec3& force,
                  const Vec3& moment, const Vec3T<Four>& of_force, const Vec3T<Four>& of_moment, ForceT<Four> (&on)[2]);

// The transpose of (1) to (4), and of rate() at `other`.
PairGradient transposed(const PairMotionT<double>& motion, const MovingBody (&bodies)[2],
                        const BodyRateT<double> (&other)[2], const RelativeGradient& by);

}  // namespace bellcrank
