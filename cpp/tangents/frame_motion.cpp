// With o from the centre of mass to the origin, principal axes, and θ the turn of a direction,
//   r = x + R o,   v = u + R (ω × o),   a = u̇ + R (α × o + ω × (ω × o)),
// and a vector R b changes by R (θ × b + δb). Points stay where they are when a centre of mass moves in its body.
#include "tangents/frame_motion.hpp"

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// A body in numbers: its axes, what turns with it.
struct Frame {
    Frame(const Model& model, const double* x, const double* u, const double* udot, int b)
        : R(rotation_matrix(pose_rotation(x, b))),
          o(model.frame_origin(b)),
          w(twist_angular(u, b)),
          a(twist_angular(udot, b)),
          speed(cross(w, o)),
          acceleration(cross(a, o) + cross(w, speed)) {}

    Mat3 R;
    Vec3 o, w, a, speed, acceleration;
};

Vec3 lane(const double* records, int b, int first, int k) {
    if (records == nullptr) return {0.0, 0.0, 0.0};
    const double* at = records + kDirections * (kTwist * b + first) + k;
    return {at[0], at[kDirections], at[2 * kDirections]};
}

}  // namespace

void frame_tangent(const Model& model, const double* x, const double* u, const double* udot, const double* dx,
                   const double* du, const double* dudot, std::vector<double>& out) {
    out.resize(static_cast<size_t>(kDirections) * kFrameNumbers * model.bodies());
    for (int b = 0; b < model.bodies(); ++b) {
        const Frame f(model, x, u, udot, b);
        for (int k = 0; k < kDirections; ++k) {
            const Vec3 turn = lane(dx, b, 4, k), dw = lane(du, b, 4, k), da = lane(dudot, b, 4, k);
            const Vec3 found[5] = {
                lane(dx, b, 0, k) + f.R * cross(turn, f.o),
                lane(du, b, 0, k) + f.R * (cross(turn, f.speed) + cross(dw, f.o)),
                lane(dudot, b, 0, k) + f.R * (cross(turn, f.acceleration) + cross(da, f.o) + cross(dw, f.speed) +
                                              cross(f.w, cross(dw, f.o))),
                f.R * (cross(turn, f.w) + dw),
                f.R * (cross(turn, f.a) + da),
            };
            double* to = out.data() + static_cast<size_t>(kDirections) * kFrameNumbers * b + k;
            for (const Vec3& v : found)
                for (const double part : {v.x, v.y, v.z}) {
                    *to = part;
                    to += kDirections;
                }
        }
    }
}

void frame_adjoint(const Model& model, const double* x, const double* u, const double* udot,
                   std::span<const double> seeds, double* of_x, double* of_u, double* of_udot) {
    for (int b = 0; b < model.bodies(); ++b) {
        const double* of = seeds.data() + static_cast<size_t>(kFrameNumbers) * b;
        const Vec3 position = load(of), velocity = load(of + 3), acceleration = load(of + 6);
        const Frame f(model, x, u, udot, b);
        const Mat3 back = transpose(f.R);
        const Vec3 p = back * position, v = back * velocity, a = back * acceleration, w = back * load(of + 9),
                   alpha = back * load(of + 12);
        const auto add = [b](double* records, const Vec3& linear, const Vec3& angular) {
            double* to = records + kTwist * b;
            to[0] += linear.x, to[1] += linear.y, to[2] += linear.z;
            to[4] += angular.x, to[5] += angular.y, to[6] += angular.z;
        };
        add(of_x, position,
            cross(f.o, p) + cross(f.speed, v) + cross(f.acceleration, a) + cross(f.w, w) + cross(f.a, alpha));
        add(of_u, velocity, cross(f.o, v) + cross(f.speed, a) + cross(f.o, cross(a, f.w)) + w);
        add(of_udot, acceleration, cross(f.o, a) + alpha);
    }
}

}  // namespace bellcrank
