// The motion of one marker in world axes, over any scalar, and its transpose.
#pragma once

#include "joints/pair_motion.hpp"

namespace bellcrank {

// A marker with offset o from the com of its body (spatial/body_state.hpp):
//   position x + R o,  attitude q A,  velocity v + R(ω×o),  angular velocity R ω,                            (1)
//   acceleration v̇ + R(ω̇×o + ω×(ω×o)),  angular acceleration R ω̇.                                           (2)
template <class S>
struct MarkerMotionT {
    MarkerMotionT(const MovingBodyT<S>& body, const Vec3T<S>& offset, const QuatT<S>& attitude)
        : R(rotation_matrix(body.rotation)),
          position(body.position + R * offset),
          rotation(body.rotation * attitude),
          velocity(body.velocity + R * cross(body.omega, offset)),
          omega(R * body.omega),
          acceleration(body.acceleration +
                       R * (cross(body.omega_dot, offset) + cross(body.omega, cross(body.omega, offset)))),
          omega_dot(R * body.omega_dot) {}

    // What a force at the marker and a moment, world axes, exert on the body: force in world axes, moment about the com
    // in principal axes.
    ForceT<S> exerted(const Vec3T<S>& force, const Vec3T<S>& moment, const Vec3T<S>& offset) const {
        return {cross(offset, transpose_times(R, force)) + transpose_times(R, moment), force};
    }

    Mat3T<S> R;
    Vec3T<S> position;
    QuatT<S> rotation;
    Vec3T<S> velocity, omega, acceleration, omega_dot;
};

// A gradient by the motion of a marker, world axes, and by its rate at another velocity of the body.
struct MarkerGradient {
    Vec3 position{}, turn{}, velocity{}, omega{}, acceleration{}, omega_dot{};
    BodyRateT<double> rate{};
};
struct MarkerBodyGradient {
    PairGradient::OfBody body;
    Vec3 offset, turn;  // of the marker, principal axes
};
MarkerBodyGradient transposed(const MovingBody& body, const Vec3& offset, const BodyRateT<double>& other,
                              const MarkerGradient& by);

}  // namespace bellcrank
