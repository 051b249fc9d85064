#include "derivation/algebra.hpp"

#include <utility>

namespace bellcrank::symbolic {

namespace {

// The two axes that a turn about `axis` mixes, in the order in which they turn: i towards j.
std::pair<int, int> plane(int axis) { return {(axis + 1) % 3, (axis + 2) % 3}; }

Expression Vector::* component(int i) {
    constexpr Expression Vector::* kMember[3] = {&Vector::x, &Vector::y, &Vector::z};
    return kMember[i];
}

// Where an entry of a symmetric matrix stands.
constexpr int kEntry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

}  // namespace

Vector rotated(const Turn& turn, const Vector& v) {
    const auto [i, j] = plane(turn.axis);
    const Expression a = v.*component(i), b = v.*component(j);
    Vector out = v;
    out.*component(i) = turn.cosine * a - turn.sine * b;
    out.*component(j) = turn.sine * a + turn.cosine * b;
    return out;
}

Vector rotated_back(const Turn& turn, const Vector& v) { return rotated(Turn{turn.axis, turn.cosine, -turn.sine}, v); }

// In the plane, with w = c (s_ii − s_jj) − 2 s s_ij:  s_ii' = s_jj + c w,  s_jj' = s_ii − c w,  s_ij' = s_ij + s w.
Symmetric rotated(const Turn& turn, const Symmetric& s) {
    const auto [i, j] = plane(turn.axis);
    const int k = turn.axis;
    const Expression ii = s.m[kEntry[i][i]], jj = s.m[kEntry[j][j]], ij = s.m[kEntry[i][j]];
    const Expression w = turn.cosine * (ii - jj) - turn.sine * (ij + ij);
    const Expression cw = turn.cosine * w;
    const Expression ik = s.m[kEntry[i][k]], jk = s.m[kEntry[j][k]];
    Symmetric out = s;
    out.m[kEntry[i][i]] = jj + cw;
    out.m[kEntry[j][j]] = ii - cw;
    out.m[kEntry[i][j]] = ij + turn.sine * w;
    out.m[kEntry[i][k]] = turn.cosine * ik - turn.sine * jk;
    out.m[kEntry[j][k]] = turn.sine * ik + turn.cosine * jk;
    return out;
}

Matrix rotated_columns(const Turn& turn, const Matrix& a) {
    Matrix out = a;
    const auto [i, j] = plane(turn.axis);
    for (int k = 0; k < 3; ++k) {
        out.m[3 * i + k] = turn.cosine * a.m[3 * i + k] - turn.sine * a.m[3 * j + k];
        out.m[3 * j + k] = turn.sine * a.m[3 * i + k] + turn.cosine * a.m[3 * j + k];
    }
    return out;
}

// R a Rᵀ: in the plane, with d = a_ii − a_jj and σ = a_ij + a_ji, the symmetric part turns as above; the antisymmetric
// part and the trace stay.
Matrix conjugated(const Turn& turn, const Matrix& a) {
    const auto [i, j] = plane(turn.axis);
    const int k = turn.axis;
    const auto at = [&](int r, int c) { return a.m[3 * r + c]; };
    const Expression w = turn.cosine * (at(i, i) - at(j, j)) - turn.sine * (at(i, j) + at(j, i));
    const Expression cw = turn.cosine * w, sw = turn.sine * w;
    Matrix out = a;
    out.m[3 * i + i] = at(j, j) + cw;
    out.m[3 * j + j] = at(i, i) - cw;
    out.m[3 * i + j] = at(i, j) + sw;
    out.m[3 * j + i] = at(j, i) + sw;
    out.m[3 * i + k] = turn.cosine * at(i, k) - turn.sine * at(j, k);
    out.m[3 * j + k] = turn.sine * at(i, k) + turn.cosine * at(j, k);
    out.m[3 * k + i] = turn.cosine * at(k, i) - turn.sine * at(k, j);
    out.m[3 * k + j] = turn.sine * at(k, i) + turn.cosine * at(k, j);
    return out;
}

Matrix identity_matrix(Graph& graph) { return matrix(graph, {{1, 0, 0, 0, 1, 0, 0, 0, 1}}); }

Matrix rotation_matrix_of(Graph& graph, const Turn& turn) { return rotated_columns(turn, identity_matrix(graph)); }

}  // namespace bellcrank::symbolic
