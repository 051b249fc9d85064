#include "tangents/marker_motion.hpp"

namespace bellcrank {

// A vector R b changes by R(θ × b).
MarkerBodyGradient transposed(const MovingBody& body, const Vec3& o, const BodyRateT<double>& other,
                              const MarkerGradient& by) {
    const Mat3 R = rotation_matrix(body.rotation);
    const Vec3 &w = body.omega, &w_dot = body.omega_dot;
    const Vec3 p = transpose_times(R, by.position), v = transpose_times(R, by.velocity),
               a = transpose_times(R, by.acceleration), spin = transpose_times(R, by.omega),
               spin_dot = transpose_times(R, by.omega_dot), rate = transpose_times(R, by.rate.velocity),
               turning = transpose_times(R, by.rate.omega), turn = transpose_times(R, by.turn);
    MarkerBodyGradient out;
    out.body.position = by.position;
    out.body.velocity = by.velocity;
    out.body.acceleration = by.acceleration;
    out.body.omega = cross(o, v) + spin + cross(cross(w, o), a) + cross(o, cross(a, w));
    out.body.omega_dot = cross(o, a) + spin_dot;
    out.body.turn = cross(o, p) + turn + cross(cross(w, o), v) + cross(w, spin) +
                    cross(cross(w_dot, o) + cross(w, cross(w, o)), a) + cross(w_dot, spin_dot) +
                    cross(cross(other.omega, o), rate) + cross(other.omega, turning);
    out.offset = p + cross(v, w) + cross(a, w_dot) + cross(cross(a, w), w) + cross(rate, other.omega);
    out.turn = turn;
    return out;
}

}  // namespace bellcrank
