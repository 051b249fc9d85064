#include "model/state.hpp"

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

// The com lies at c in body axes: x_com = p + R c, v_com = v + ω × R c; principal axes follow from Q_p: q = q_body Q_p.
void put_body(const Model& model, int b, const double* position, const double* rotation, const double* velocity,
              const double* angular_velocity, double* x, double* u) {
    const Quat q_body = normalized(load_quaternion(rotation));
    const Vec3 arm = rotation_matrix(q_body) * model.com[b];
    const Vec3 w = load(angular_velocity);
    const Quat q = q_body * model.principal_rotation[b];
    double *xb = x + kPose * b, *ub = u + kTwist * b;
    store(xb, load(position) + arm);
    xb[3] = 0.0;
    store(xb + 4, q);
    store(ub, load(velocity) + cross(w, arm));
    ub[3] = 0.0;
    store(ub + 4, transpose_times(rotation_matrix(q), w));
    ub[7] = 0.0;
}

void to_principal(const Model& model, const NeutralState& state, double* x, double* u) {
    const int nb = model.bodies();
    for (int b = 0; b < nb; ++b)
        put_body(model, b, &state.position[3 * b], &state.rotation[4 * b], &state.velocity[3 * b],
                 &state.angular_velocity[3 * b], x, u);
    put_ground(model, x, u);
}

void put_ground(const Model& model, double* x, double* u) {
    double *xg = x + kPose * model.bodies(), *ug = u + kTwist * model.bodies();
    for (int k = 0; k < kPose; ++k) xg[k] = k == 4 ? 1.0 : 0.0;
    for (int k = 0; k < kTwist; ++k) ug[k] = 0.0;
}

void to_neutral(const Model& model, const double* x, const double* u, double* position, double* rotation,
                double* velocity, double* angular_velocity) {
    for (int b = 0; b < model.bodies(); ++b) {
        const Quat q = pose_rotation(x, b), q_body = q * conjugate(model.principal_rotation[b]);
        const Vec3 arm = rotation_matrix(q_body) * model.com[b];
        const Vec3 w = rotation_matrix(q) * twist_angular(u, b);
        store(position + 3 * b, pose_position(x, b) - arm);
        rotation[4 * b] = q_body.w, rotation[4 * b + 1] = q_body.x;
        rotation[4 * b + 2] = q_body.y, rotation[4 * b + 3] = q_body.z;
        store(velocity + 3 * b, twist_linear(u, b) - cross(w, arm));
        store(angular_velocity + 3 * b, w);
    }
}

void accelerations_to_principal(const Model& model, const double* x, const double* u, const double* linear,
                                const double* angular, double* udot) {
    for (int b = 0; b < model.bodies(); ++b) {
        const Quat q = pose_rotation(x, b);
        const Mat3 R = rotation_matrix(q);
        const Vec3 arm = rotation_matrix(q * conjugate(model.principal_rotation[b])) * model.com[b];
        const Vec3 w = R * twist_angular(u, b), alpha = load(angular + 3 * b);
        double* out = udot + kTwist * b;
        store(out, load(linear + 3 * b) + cross(alpha, arm) + cross(w, cross(w, arm)));
        store(out + 4, transpose_times(R, alpha));
        out[3] = out[7] = 0.0;
    }
    for (int k = 0; k < kTwist; ++k) udot[kTwist * model.bodies() + k] = 0.0;
}

void accelerations_to_neutral(const Model& model, const double* x, const double* u, const double* udot, double* linear,
                              double* angular) {
    for (int b = 0; b < model.bodies(); ++b) {
        const Quat q = pose_rotation(x, b);
        const Mat3 R = rotation_matrix(q);
        const Vec3 arm = rotation_matrix(q * conjugate(model.principal_rotation[b])) * model.com[b];
        const Vec3 w = R * twist_angular(u, b);
        const Vec3 alpha = R * twist_angular(udot, b);  // d/dt(Rω) = Rω̇, since Rω is its own axis
        store(linear + 3 * b, twist_linear(udot, b) - cross(alpha, arm) - cross(w, cross(w, arm)));
        store(angular + 3 * b, alpha);
    }
}

}  // namespace bellcrank
