#include "statics/coordinate_curvature.hpp"

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// What velocities of the relative motion add to φ̈: a quadratic form, as its symmetric matrix, by polarization.
void quadratic_form(const Model& model, const AngleBranches& branches, int coordinate, RelativeMotion m,
                    double Q[6][6]) {
    CoordinateValue value;
    const auto along = [&](int i, int j) {
        double s[6] = {};
        s[i] = s[j] = 1.0;
        m.rdot = {s[0], s[1], s[2]};
        m.omega = {s[3], s[4], s[5]};
        evaluate_along(model, branches, coordinate, m, value);
        return value.quadratic;
    };
    for (int i = 0; i < 6; ++i) Q[i][i] = along(i, i);
    for (int i = 0; i < 6; ++i)
        for (int j = i + 1; j < 6; ++j) Q[i][j] = Q[j][i] = 0.5 * (along(i, j) - Q[i][i] - Q[j][j]);
}

Mat3 skew(const Vec3& a) { return {{0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0}}; }

// ½ (a bᵀ + b aᵀ) − (a·b) 1
Mat3 centripetal(const Vec3& a, const Vec3& b) {
    Mat3 out;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out.m[3 * i + j] = 0.5 * (component(a, i) * component(b, j) + component(b, i) * component(a, j)) -
                               (i == j ? dot(a, b) : 0.0);
    return out;
}

// A 3×3 block and, off the diagonal, its transpose.
void add_block(PairMatrix& H, int row, int column, double factor, const Mat3& block) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double e = factor * block.m[3 * i + j];
            H[12 * (row + i) + column + j] += e;
            if (row != column) H[12 * (column + j) + row + i] += e;
        }
}

// The biases of r̈ and ω̇ (joints/marker_pair.cpp, 3 and 4) along α in axes of body 1, β = R12ᵀ α, and γ:
//   α·(R12 (ω2×(ω2×s)) − 2 ω1×ḋ − ω1×(ω1×d)) − γ·(ω1×R12 ω2),   ḋ = R1ᵀ(v2 − v1) + R12 (ω2×s) − ω1×d.
void add_biases(const Vec3& alpha, const Vec3& gamma, const Mat3& R1, const Mat3& R12, const Vec3& d, const Vec3& s,
                PairMatrix& H) {
    const Mat3 across = skew(alpha), to_body = across * transpose(R1);
    add_block(H, 9, 9, 1.0, centripetal(s, transpose_times(R12, alpha)));
    add_block(H, 3, 3, 1.0, centripetal(d, alpha));
    add_block(H, 3, 6, 1.0, to_body);
    add_block(H, 3, 0, -1.0, to_body);
    add_block(H, 3, 9, -1.0, across * R12 * skew(s));
    add_block(H, 3, 9, 0.5, skew(gamma) * R12);
}

}  // namespace

PairMatrix curvature(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                     const double* rest) {
    const MarkerPair& pair = model.pairs[model.coordinates[coordinate].pair];
    RelativeJacobian jacobian;
    const RelativeMotion m = relative_motion(pair, x, rest, &jacobian);
    CoordinateValue value;
    evaluate_along(model, branches, coordinate, m, value);
    PairMatrix H{};
    double Q[6][6], G[6][12], QG[6][12];
    quadratic_form(model, branches, coordinate, m, Q);
    for (int i = 0; i < 3; ++i)
        for (int s = 0; s < 2; ++s)
            for (int k = 0; k < 6; ++k) {
                G[i][6 * s + k] = jacobian.dr[s][i][k];
                G[3 + i][6 * s + k] = jacobian.domega[s][i][k];
            }
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 12; ++k) {
            QG[i][k] = 0.0;
            for (int j = 0; j < 6; ++j) QG[i][k] += Q[i][j] * G[j][k];
        }
    for (int i = 0; i < 12; ++i)
        for (int k = 0; k < 12; ++k)
            for (int j = 0; j < 6; ++j) H[12 * i + k] += G[j][i] * QG[j][k];

    const Quat q1 = pose_rotation(x, pair.body[0]), q2 = pose_rotation(x, pair.body[1]);
    const Mat3 R1 = rotation_matrix(q1), R12 = rotation_matrix(conjugate(q1) * q2);
    const Mat3 A1 = rotation_matrix(pair.rotation[0]);
    const Vec3 d =
        transpose_times(R1, pose_position(x, pair.body[1]) - pose_position(x, pair.body[0])) + R12 * pair.offset[1];
    add_biases(A1 * value.dr, A1 * value.domega, R1, R12, d, pair.offset[1], H);
    return H;
}

}  // namespace bellcrank
