#include "joints/pair_motion.hpp"

namespace bellcrank {

// A vector b of body 2 in axes of body 1, b' = R12 b, changes by θ' × b' − θ1 × b', θ' = R12 θ2, and one of the world
// by −θ1 × b'. What stands in (3) twice is taken in the order (3), (2), (1).
PairGradient transposed(const PairMotionT<double>& m, const MovingBody (&bodies)[2],
                        const BodyRateT<double> (&other)[2], const RelativeGradient& by) {
    const Vec3 r = m.A1 * by.r, turn = m.A1 * by.turn, rdot = m.A1 * by.rdot, omega = m.A1 * by.omega,
               rddot = m.A1 * by.rddot, omega_dot = m.A1 * by.omega_dot, rate_r = m.A1 * by.rate.r,
               rate_omega = m.A1 * by.rate.omega;
    const Vec3 &w1 = m.w1, &w2 = m.w2, &sigma = m.sigma, w1dot = bodies[0].omega_dot,
               w2dot = m.R12 * bodies[1].omega_dot, other1 = other[0].omega, other2 = m.R12 * other[1].omega;
    const Vec3 accelerated = transpose_times(m.R1, bodies[1].acceleration - bodies[0].acceleration),
               rated = transpose_times(m.R1, other[1].velocity - other[0].velocity);

    const Vec3 by_ddot = rdot + 2.0 * cross(w1, rddot);
    const Vec3 by_d =
        r + cross(w1dot, rddot) - cross(w1, cross(w1, rddot)) + cross(w1, by_ddot) + cross(other1, rate_r);
    const Vec3 by_sigma =
        by_d + cross(by_ddot, w2) + cross(rddot, w2dot) + cross(cross(rddot, w2), w2) + cross(rate_r, other2);
    const Vec3 by_w1 = -cross(m.d, by_ddot) - 2.0 * cross(m.ddot, rddot) - cross(cross(w1, m.d), rddot) -
                       cross(m.d, cross(rddot, w1)) - omega - cross(w2, omega_dot);
    const Vec3 by_w2 = cross(sigma, by_ddot) + omega + cross(cross(w2, sigma), rddot) + cross(sigma, cross(rddot, w2)) -
                       cross(omega_dot, w1);
    const Vec3 by_w2dot = cross(sigma, rddot) + omega_dot, by_other2 = cross(sigma, rate_r) + rate_omega;
    const Vec3 by_turn =
        turn + cross(sigma, by_sigma) + cross(w2, by_w2) + cross(w2dot, by_w2dot) + cross(other2, by_other2);

    PairGradient out;
    out.body[1].position = m.R1 * by_d;
    out.body[1].velocity = m.R1 * by_ddot;
    out.body[1].acceleration = m.R1 * rddot;
    out.body[1].turn = transpose_times(m.R12, by_turn);
    out.body[1].omega = transpose_times(m.R12, by_w2);
    out.body[1].omega_dot = transpose_times(m.R12, by_w2dot);
    out.body[0].position = -out.body[1].position;
    out.body[0].velocity = -out.body[1].velocity;
    out.body[0].acceleration = -out.body[1].acceleration;
    out.body[0].turn =
        -by_turn - cross(m.apart, by_d) - cross(m.speed, by_ddot) - cross(accelerated, rddot) - cross(rated, rate_r);
    out.body[0].omega = by_w1;
    out.body[0].omega_dot = -cross(m.d, rddot) - omega_dot;

    // A1 turns all that is seen in its axes the other way; the motion of marker 2 turns with its own.
    const RelativeRateT<double> acceleration = m.acceleration(bodies[0], bodies[1]), rate = m.rate(other[0], other[1]);
    const RelativeMotion& seen = m.relative;
    out.offset[0] = -r;
    out.offset[1] = transpose_times(m.R12, by_sigma);
    out.turn[0] = -turn - m.A1 * (cross(seen.r, by.r) + cross(seen.rdot, by.rdot) + cross(seen.omega, by.omega) +
                                  cross(acceleration.r, by.rddot) + cross(acceleration.omega, by.omega_dot) +
                                  cross(rate.r, by.rate.r) + cross(rate.omega, by.rate.omega));
    out.turn[1] = transpose_times(m.R12, turn);
    return out;
}

}  // namespace bellcrank
