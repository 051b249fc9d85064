#include "joints/pair_motion.hpp"

namespace bellcrank {

// A vector b of body 2 in axes of body 1, b' = R12 b, changes by θ' × b' − θ1 × b' + R12 δb, θ' = R12 θ2, and one of
// the world by −θ1 × b' + R1ᵀ δb.
PairChange change_of(const PairMotionT<double>& m, const MovingBody (&bodies)[2], const BodyChange (&changes)[2],
                     const MarkerChange (&markers)[2]) {
    const BodyChange &one = changes[0], &two = changes[1];
    const Vec3T<Four>&theta = one.turn, &w1 = one.omega, &w1dot = one.omega_dot;
    const Vec3 w2dot = m.R12 * bodies[1].omega_dot,
               accelerated = transpose_times(m.R1, bodies[1].acceleration - bodies[0].acceleration);
    PairChange out;
    out.between = m.R12 * two.turn - theta;
    const Vec3T<Four>& phi = out.between;
    const auto of_two = [&](const Vec3& b, const Vec3T<Four>& more) { return cross(phi, b) + m.R12 * more; };
    const auto of_world = [&](const Vec3& b, const Vec3T<Four>& more) {
        return transpose_times(m.R1, more) - cross(theta, b);
    };
    out.sigma = of_two(m.sigma, markers[1].offset);
    const Vec3T<Four> w2 = of_two(m.w2, two.omega), dw2dot = of_two(w2dot, two.omega_dot);
    const Vec3T<Four> apart = of_world(m.apart, two.position - one.position),
                      speed = of_world(m.speed, two.velocity - one.velocity),
                      acceleration = of_world(accelerated, two.acceleration - one.acceleration);
    out.d = apart + out.sigma;
    const Vec3T<Four> around = cross(w2, m.sigma) + cross(m.w2, out.sigma),
                      turned = cross(w1, m.d) + cross(m.w1, out.d);
    const Vec3T<Four> ddot = speed + around - turned;
    const Vec3T<Four> dddot = acceleration + cross(dw2dot, m.sigma) + cross(w2dot, out.sigma) +
                              cross(w2, cross(m.w2, m.sigma)) + cross(m.w2, around) - cross(w1dot, m.d) -
                              cross(bodies[0].omega_dot, out.d) - 2.0 * (cross(w1, m.ddot) + cross(m.w1, ddot)) -
                              cross(w1, cross(m.w1, m.d)) - cross(m.w1, turned);
    const Vec3T<Four> omega = w2 - w1, omega_dot = dw2dot - w1dot - cross(w1, m.w2) - cross(m.w1, w2);
    // A1 turns all that is seen in its axes the other way.
    out.marker = markers[0].turn;
    const RelativeRateT<double> second = m.acceleration(bodies[0], bodies[1]);
    const auto seen = [&](const Vec3& value, const Vec3T<Four>& change) {
        return transpose_times(m.A1, change - cross(out.marker, m.A1 * value));
    };
    out.r = seen(m.relative.r, out.d - markers[0].offset);
    out.rdot = seen(m.relative.rdot, ddot);
    out.omega = seen(m.relative.omega, omega);
    out.rddot = seen(second.r, dddot);
    out.omega_dot = seen(second.omega, omega_dot);
    out.turn = transpose_times(m.A1, phi - out.marker + m.R12 * markers[1].turn);
    return out;
}

void exert_change(const PairMotionT<double>& m, const BodyChange& one, const PairChange& change, const Vec3& force,
                  const Vec3& moment, const Vec3T<Four>& of_force, const Vec3T<Four>& of_moment,
                  ForceT<Four> (&on)[2]) {
    const Vec3 f = m.A1 * force, n = m.A1 * moment;
    const Vec3T<Four> df = cross(change.marker, f) + m.A1 * of_force, dn = cross(change.marker, n) + m.A1 * of_moment;
    const Vec3T<Four> world = m.R1 * (cross(one.turn, f) + df);
    const Vec3 on_two = cross(m.sigma, f) + n;
    const Vec3T<Four> of_two = cross(change.sigma, f) + cross(m.sigma, df) + dn;
    on[0] = {-(cross(change.d, f) + cross(m.d, df)) - dn, -world};
    on[1] = {transpose_times(m.R12, of_two - cross(change.between, on_two)), world};
}

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
