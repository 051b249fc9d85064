#include "joints/marker_pair.hpp"

#include "spatial/body_state.hpp"

namespace bellcrank {

// With R_b: principal axes of body b → world, A1: marker-1 axes → principal axes of body 1, s_b the marker offsets,
//   E = (R1 A1)ᵀ,  d = R1ᵀ(x2 + R2 s2 − x1),  r = A1ᵀ(d − s1)                                          (1)
//   ḋ = R1ᵀ(v2 − v1) + R12 (ω2 × s2) − ω1 × d,  ṙ = A1ᵀ ḋ,  R12 = R1ᵀR2                                (2)
//   d̈ = R1ᵀ(v̇2 − v̇1) + R12(ω̇2 × s2) − ω̇1 × d + R12(ω2 × (ω2 × s2)) − 2 ω1 × ḋ − ω1 × (ω1 × d)        (3)
//   Ω = A1ᵀ(R12 ω2 − ω1),  Ω̇ = A1ᵀ(R12 ω̇2 − ω̇1 − ω1 × R12 ω2)                                         (4)
RelativeMotion relative_motion(const MarkerPair& pair, const double* x, const double* u, RelativeJacobian* jacobian) {
    const int b1 = pair.body[0], b2 = pair.body[1];
    const Quat q1 = pose_rotation(x, b1), q2 = pose_rotation(x, b2);
    const Mat3 R1 = rotation_matrix(q1), R2 = rotation_matrix(q2), A1 = rotation_matrix(pair.rotation[0]);
    const Mat3 R12 = transpose_times(R1, R2);
    const Vec3 v1 = twist_linear(u, b1), v2 = twist_linear(u, b2), w1 = twist_angular(u, b1), w2 = twist_angular(u, b2);
    const Vec3 s2 = pair.offset[1];

    const Vec3 d = transpose_times(R1, pose_position(x, b2) - pose_position(x, b1)) + R12 * s2;
    const Vec3 R12w2 = R12 * w2;
    const Vec3 ddot = transpose_times(R1, v2 - v1) + R12 * cross(w2, s2) - cross(w1, d);

    RelativeMotion m;
    m.r = transpose_times(A1, d - pair.offset[0]);
    m.q = conjugate(q1 * pair.rotation[0]) * (q2 * pair.rotation[1]);
    m.rdot = transpose_times(A1, ddot);
    m.omega = transpose_times(A1, R12w2 - w1);
    if (jacobian == nullptr) return m;

    const Mat3 E = transpose_times(A1, transpose(R1));
    const Mat3 ER2 = E * R2;
    for (int i = 0; i < 3; ++i) {
        const Vec3 e = row(E, i), a{A1.m[i], A1.m[3 + i], A1.m[6 + i]}, f = row(ER2, i);
        // a·(d × ω1) = (a × d)·ω1 and f·(ω2 × s2) = (s2 × f)·ω2
        const Vec3 ad = cross(a, d), sf = cross(s2, f);
        const double dr1[6] = {-e.x, -e.y, -e.z, ad.x, ad.y, ad.z}, dr2[6] = {e.x, e.y, e.z, sf.x, sf.y, sf.z};
        const double dw1[6] = {0, 0, 0, -a.x, -a.y, -a.z}, dw2[6] = {0, 0, 0, f.x, f.y, f.z};
        for (int k = 0; k < 6; ++k) {
            jacobian->dr[0][i][k] = dr1[k];
            jacobian->dr[1][i][k] = dr2[k];
            jacobian->domega[0][i][k] = dw1[k];
            jacobian->domega[1][i][k] = dw2[k];
        }
    }
    const Vec3 centripetal = R12 * cross(w2, cross(w2, s2));
    jacobian->r_bias = transpose_times(A1, centripetal - 2.0 * cross(w1, ddot) - cross(w1, cross(w1, d)));
    jacobian->omega_bias = -transpose_times(A1, cross(w1, R12w2));
    return m;
}

RelativeMotion relative_pose(const MarkerPair& pair, const double* x) {
    const int b1 = pair.body[0], b2 = pair.body[1];
    const Quat q1 = pose_rotation(x, b1), q2 = pose_rotation(x, b2), marker1 = q1 * pair.rotation[0];
    const Vec3 from = pose_position(x, b1) + rotation_matrix(q1) * pair.offset[0];
    const Vec3 to = pose_position(x, b2) + rotation_matrix(q2) * pair.offset[1];
    return {transpose_times(rotation_matrix(marker1), to - from), conjugate(marker1) * (q2 * pair.rotation[1]), {}, {}};
}

void contract(const CoordinateValue& c, const RelativeMotion& m, const RelativeJacobian& jac, BodyCoordinate& out) {
    out.value = c.value;
    out.rate = dot(c.dr, m.rdot) + dot(c.domega, m.omega);
    out.bias = dot(c.dr, jac.r_bias) + dot(c.domega, jac.omega_bias) + c.quadratic;
    const double g[3] = {c.dr.x, c.dr.y, c.dr.z}, h[3] = {c.domega.x, c.domega.y, c.domega.z};
    for (int b = 0; b < 2; ++b)
        for (int k = 0; k < 6; ++k) {
            double s = 0.0;
            for (int i = 0; i < 3; ++i) s += g[i] * jac.dr[b][i][k] + h[i] * jac.domega[b][i][k];
            out.J[b][k] = s;
        }
}

}  // namespace bellcrank
