#include "statics/coordinate_curvature.hpp"

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

using Form = std::array<std::array<double, 6>, 6>;

// What velocities of the relative motion add to φ̈ of each coordinate: quadratic forms, as their symmetric matrices, by
// polarization. The coordinates of a beam are made together where they are asked for at one motion.
void quadratic_forms(const Model& model, const AngleBranches& branches, std::span<const int> coordinates,
                     RelativeMotion m, std::vector<Form>& forms) {
    CoordinateValue value;
    forms.resize(coordinates.size());
    for (int i = 0; i < 6; ++i)
        for (int j = -1; j < i; ++j) {
            double s[6] = {};
            s[i] = 1.0;
            if (j >= 0) s[j] = 1.0;
            m.rdot = {s[0], s[1], s[2]};
            m.omega = {s[3], s[4], s[5]};
            for (size_t c = 0; c < coordinates.size(); ++c) {
                evaluate_along(model, branches, coordinates[c], m, value);
                if (j < 0)
                    forms[c][i][i] = value.quadratic;
                else
                    forms[c][i][j] = forms[c][j][i] = 0.5 * (value.quadratic - forms[c][i][i] - forms[c][j][j]);
            }
        }
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

void CoordinateCurvature::evaluate(const Model& model, const AngleBranches& branches, std::span<const int> coordinates,
                                   const double* x, const double* rest) {
    const MarkerPair& pair = model.pairs[model.coordinates[coordinates[0]].pair];
    RelativeJacobian jacobian;
    const RelativeMotion m = relative_motion(pair, x, rest, &jacobian);
    quadratic_forms(model, branches, coordinates, m, forms_);
    double G[6][12];
    for (int i = 0; i < 3; ++i)
        for (int s = 0; s < 2; ++s)
            for (int k = 0; k < 6; ++k) {
                G[i][6 * s + k] = jacobian.dr[s][i][k];
                G[3 + i][6 * s + k] = jacobian.domega[s][i][k];
            }
    const Quat q1 = pose_rotation(x, pair.body[0]), q2 = pose_rotation(x, pair.body[1]);
    const Mat3 R1 = rotation_matrix(q1), R12 = rotation_matrix(conjugate(q1) * q2);
    const Mat3 A1 = rotation_matrix(pair.rotation[0]);
    const Vec3 d =
        transpose_times(R1, pose_position(x, pair.body[1]) - pose_position(x, pair.body[0])) + R12 * pair.offset[1];
    of.assign(coordinates.size(), {});
    for (size_t c = 0; c < coordinates.size(); ++c) {
        CoordinateValue value;
        evaluate_along(model, branches, coordinates[c], m, value);
        double QG[6][12];
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 12; ++k) {
                QG[i][k] = 0.0;
                for (int j = 0; j < 6; ++j) QG[i][k] += forms_[c][i][j] * G[j][k];
            }
        for (int i = 0; i < 12; ++i)
            for (int k = 0; k < 12; ++k)
                for (int j = 0; j < 6; ++j) of[c][12 * i + k] += G[j][i] * QG[j][k];
        add_biases(A1 * value.dr, A1 * value.domega, R1, R12, d, pair.offset[1], of[c]);
    }
}

}  // namespace bellcrank
