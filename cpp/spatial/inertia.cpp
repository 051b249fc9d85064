#include "spatial/inertia.hpp"

#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

// One Jacobi rotation in the plane (p, q): zeroes a_pq, multiplies v by the rotation (Golub and Van Loan, Matrix
// Computations, section 8.5).
void jacobi_rotation(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0.0) return;
    const double tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double t = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::sqrt(1.0 + tau * tau));
    const double c = 1.0 / std::sqrt(1.0 + t * t), s = t * c;
    const double apq = a[p][q];
    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    a[p][q] = a[q][p] = 0.0;
    const int r = 3 - p - q;
    const double arp = a[r][p], arq = a[r][q];
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
    for (int i = 0; i < 3; ++i) {
        const double vip = v[i][p], viq = v[i][q];
        v[i][p] = c * vip - s * viq;
        v[i][q] = s * vip + c * viq;
    }
}

}  // namespace

PrincipalInertia principal_inertia(const Mat3& inertia) {
    double a[3][3], v[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) a[i][j] = 0.5 * (inertia.m[3 * i + j] + inertia.m[3 * j + i]);
    // Convergence is quadratic: a handful of sweeps reaches rounding.
    for (int sweep = 0; sweep < 30; ++sweep) {
        const double off = std::abs(a[0][1]) + std::abs(a[0][2]) + std::abs(a[1][2]);
        const double size = std::abs(a[0][0]) + std::abs(a[1][1]) + std::abs(a[2][2]);
        if (!(off > 1e-17 * size)) break;
        jacobi_rotation(a, v, 0, 1);
        jacobi_rotation(a, v, 0, 2);
        jacobi_rotation(a, v, 1, 2);
    }
    const Mat3 rotation{{v[0][0], v[0][1], v[0][2], v[1][0], v[1][1], v[1][2], v[2][0], v[2][1], v[2][2]}};
    return {{a[0][0], a[1][1], a[2][2]}, quaternion_from_matrix(rotation)};
}

Mat3 inertia_about_point(const Mat3& inertia_about_com, double mass, const Vec3& offset) {
    const double d[3] = {offset.x, offset.y, offset.z};
    const double square = dot(offset, offset);
    Mat3 j = inertia_about_com;
    for (int i = 0; i < 9; ++i) j.m[i] += mass * ((i / 3 == i % 3 ? square : 0.0) - d[i / 3] * d[i % 3]);
    return j;
}

Articulated rigid_inertia(double mass, const Vec3& moments, const Place& place) {
    const Mat3& R = place.rotation;
    const Mat3 principal{{moments.x, 0, 0, 0, moments.y, 0, 0, 0, moments.z}};
    const Mat3 J = inertia_about_point(R * principal * transpose(R), mass, place.shift);
    const Vec3 h = mass * place.shift;
    return {{{J.m[0], J.m[4], J.m[8], J.m[1], J.m[2], J.m[5]}},
            {{0, -h.z, h.y, h.z, 0, -h.x, -h.y, h.x, 0}},
            {{mass, mass, mass, 0, 0, 0}}};
}

}  // namespace bellcrank
