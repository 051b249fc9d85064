#include "constraints/lock_rows.hpp"

#include <algorithm>

#include "spatial/body_lanes.hpp"

namespace bellcrank {

namespace {

// Quantities of the lock formulation (docs/theory/lagrange.md) in marker-1 axes. With p = (q1 a1)* q2 the rotation
// principal 2 → marker 1 and A1 = Λ(a1):
//   E = Λ(q1 a1)ᵀ,  F = Λ(p),  d = E (x2 − x1) + F s2,  r = d − A1ᵀ s1,  q = p a2
// and, from marker_pair.cpp (2) to (4) rewritten in these axes,
//   ṙ = E (v2 − v1) + F (ω2 × s2) − A1ᵀω1 × d,   Ω = F ω2 − A1ᵀω1,   q̇ = ½ Ω q.
struct PairMotion {
    Mat3T<Lane> E, F;
    Vec3T<Lane> d;
    QuatT<Lane> q;
};

// Constants of kLanes joints.
struct Pack {
    int body[2][kLanes];
    int row[kLanes], jacobian[kLanes];
    Vec3T<Lane> marker1;      // A1ᵀ s1
    Vec3T<Lane> offset2;      // s2
    QuatT<Lane> rotation[2];  // marker → principal axes
    Vec3T<Lane> inverse_sqrt_inertia[2];
};

// Packs from the one at hand to the one whose Jacobian is fetched into the cache, and to the one that is itself.
constexpr int kAhead = 8 / kLanes, kPacksAhead = 16 / kLanes;

Vec3T<Lane> hadamard(const Vec3T<Lane>& a, const Vec3T<Lane>& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }

Vec3T<Lane> column(const Mat3T<Lane>& a, int j) { return {a.m[j], a.m[3 + j], a.m[6 + j]}; }

// Rows e1, e2, e3 of ė = ½ (e0 Ω − u × Ω), u = (e1, e2, e3): the 3×3 matrix ½ (e0 I − [u]×).
Mat3T<Lane> half_rate_matrix(const QuatT<Lane>& q) {
    const Lane s = 0.5 * q.w, x = 0.5 * q.x, y = 0.5 * q.y, z = 0.5 * q.z;
    return {{s, z, -y, -z, s, x, y, -x, s}};
}

}  // namespace

struct LockGroup::Packs {
    Packs(std::vector<int> locked, std::span<const LockJoint> joints);
    int size() const { return static_cast<int>(packs_.size()); }
    void evaluate(int begin, int end, const double* x, const double* u, const double* udot,
                  const RowResults& out) const;

  private:
    PairMotion pair_motion(const Pack& pack, const double* x) const;
    void store_values(const Pack& pack, const PairMotion& k, double* C) const;
    void store_jacobians(const Pack& pack, const PairMotion& k, double* J) const;
    void store_residuals(const Pack& pack, const PairMotion& k, const double* u, const double* udot,
                         double* residual) const;
    void store_locked(const Pack& pack, const Lane all[6], double* rows) const;
    void fetch_pack(int i) const;
    void fetch_jacobians(int i, double* J) const;

    std::vector<int> locked_;
    std::vector<Pack> packs_;
};

LockGroup::Packs::Packs(std::vector<int> locked, std::span<const LockJoint> joints) : locked_(std::move(locked)) {
    for (size_t first = 0; first < joints.size(); first += kLanes) {
        Pack pack{};
        for (int l = 0; l < kLanes; ++l) {
            const LockJoint& j = joints[std::min(first + l, joints.size() - 1)];  // spare lanes repeat the last joint
            set_lane(pack.marker1, l, transpose_times(rotation_matrix(j.pair.rotation[0]), j.pair.offset[0]));
            set_lane(pack.offset2, l, j.pair.offset[1]);
            for (int s = 0; s < 2; ++s) {
                pack.body[s][l] = j.pair.body[s];
                set_lane(pack.rotation[s], l, j.pair.rotation[s]);
                set_lane(pack.inverse_sqrt_inertia[s], l, j.inverse_sqrt_inertia[s]);
            }
            pack.row[l] = j.row;
            pack.jacobian[l] = j.jacobian;
        }
        packs_.push_back(pack);
    }
}

PairMotion LockGroup::Packs::pair_motion(const Pack& pack, const double* x) const {
    const QuatT<Lane> marker1 = gather_quaternion(x, pack.body[0]) * pack.rotation[0];
    const QuatT<Lane> p = conjugate(marker1) * gather_quaternion(x, pack.body[1]);
    const Vec3T<Lane> span = gather_vector(x, pack.body[1], kPose, 0) - gather_vector(x, pack.body[0], kPose, 0);
    PairMotion k;
    k.E = rotation_matrix(conjugate(marker1));
    k.F = rotation_matrix(p);
    k.d = k.E * span + k.F * pack.offset2;
    k.q = p * pack.rotation[1];
    return k;
}

// The locked ones of six numbers per joint to where the joints' rows are.
void LockGroup::Packs::store_locked(const Pack& pack, const Lane all[6], double* rows) const {
    double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) place[l] = rows + pack.row[l];
    size_t i = 0;
    if (locked_.size() >= 4) {
        const Lane first[4] = {all[locked_[0]], all[locked_[1]], all[locked_[2]], all[locked_[3]]};
        scatter4(first, place);
        i = 4;
    }
    for (; i < locked_.size(); ++i)
        for (int l = 0; l < kLanes; ++l) place[l][i] = lane_get(all[locked_[i]], l);
}

void LockGroup::Packs::store_values(const Pack& pack, const PairMotion& k, double* C) const {
    const Vec3T<Lane> r = k.d - pack.marker1;
    const Lane all[6] = {r.x, r.y, r.z, k.q.x, k.q.y, k.q.z};
    store_locked(pack, all, C);
}

// Rows of Ĵ. With e_i the marker-1 axes (rows of E), a_i the columns of A1, f_i the rows of F:
//   row r_i:  side 1 (−e_i; A1 (ê_i × d)),  side 2 (e_i; s2 × f_i)       since ê_i·(d × A1ᵀω1) = A1(ê_i × d)·ω1
//   row e_i:  side 1 (0; −Σ_j B_ij a_j),    side 2 (0; Σ_j B_ij f_j),    B = ½ (e0 I − [u]×)
void LockGroup::Packs::store_jacobians(const Pack& pack, const PairMotion& k, double* J) const {
    const int K = static_cast<int>(locked_.size());
    const Mat3T<Lane> A = rotation_matrix(pack.rotation[0]), B = half_rate_matrix(k.q);
    const Vec3T<Lane>&scale1 = pack.inverse_sqrt_inertia[0], &scale2 = pack.inverse_sqrt_inertia[1];
    const Vec3T<Lane> a[3] = {hadamard(scale1, column(A, 0)), hadamard(scale1, column(A, 1)),
                              hadamard(scale1, column(A, 2))};
    const Vec3T<Lane> f[3] = {row(k.F, 0), row(k.F, 1), row(k.F, 2)};
    const Vec3T<Lane> e_cross_d[3] = {k.d.y * a[2] - k.d.z * a[1], k.d.z * a[0] - k.d.x * a[2],
                                      k.d.x * a[1] - k.d.y * a[0]};
    const Lane zero = broadcast(0.0);
    double* place[kLanes];
    for (int l = 0; l < kLanes; ++l) place[l] = J + pack.jacobian[l];
    const auto store = [&](int at, const Vec3T<Lane>& v) {
        double* to[kLanes];
        for (int l = 0; l < kLanes; ++l) to[l] = place[l] + at;
        const Lane quad[4] = {v.x, v.y, v.z, zero};
        scatter4(quad, to);
    };
    int linear = 0;
    while (linear < K && locked_[linear] < 3) ++linear;
    for (int i = 0; i < K; ++i) {
        const int n = locked_[i], side1 = kRow * (linear + i), side2 = side1 + kRow * K;
        if (n < 3) {
            store(kRow * i, row(k.E, n));
            store(side1, e_cross_d[n]);
            store(side2, hadamard(scale2, cross(pack.offset2, f[n])));
        } else {
            const Vec3T<Lane> b = row(B, n - 3);
            store(side1, -(b.x * a[0] + b.y * a[1] + b.z * a[2]));
            store(side2, hadamard(scale2, b.x * f[0] + b.y * f[1] + b.z * f[2]));
        }
    }
}

// −C̈ from  r̈ = E (v̇2 − v̇1) + F (ω̇2 × s2) − ẇ1 × d + F(ω2 × (ω2 × s2)) − 2 w1 × ṙ − w1 × (w1 × d)
//          Ω̇ = F ω̇2 − ẇ1 − w1 × F ω2,   ë = B Ω̇ − ¼|Ω|² e,   w1 = A1ᵀω1.
void LockGroup::Packs::store_residuals(const Pack& pack, const PairMotion& k, const double* u, const double* udot,
                                       double* residual) const {
    const auto linear = [&](const double* v, int s) { return gather_vector(v, pack.body[s], kTwist, 0); };
    const auto angular = [&](const double* v, int s) { return gather_vector(v, pack.body[s], kTwist, 4); };
    const Mat3T<Lane> A = rotation_matrix(pack.rotation[0]);
    const Vec3T<Lane> w1 = transpose_times(A, angular(u, 0)), w1dot = transpose_times(A, angular(udot, 0));
    const Vec3T<Lane> w2 = angular(u, 1), w2dot = angular(udot, 1), Fw2 = k.F * w2;
    const Vec3T<Lane> spin = cross(w2, pack.offset2), turn = cross(w1, k.d);
    const Vec3T<Lane> rdot = k.E * (linear(u, 1) - linear(u, 0)) + k.F * spin - turn;
    const Vec3T<Lane> r = k.E * (linear(udot, 0) - linear(udot, 1)) -
                          k.F * (cross(w2dot, pack.offset2) + cross(w2, spin)) + cross(w1dot, k.d) +
                          cross(w1, rdot + rdot + turn);
    const Vec3T<Lane> omega = Fw2 - w1, omega_dot = k.F * w2dot - w1dot - cross(w1, Fw2);
    const Lane quarter = 0.25 * dot(omega, omega);
    const Vec3T<Lane> e = quarter * Vec3T<Lane>{k.q.x, k.q.y, k.q.z} - half_rate_matrix(k.q) * omega_dot;
    const Lane all[6] = {r.x, r.y, r.z, e.x, e.y, e.z};
    store_locked(pack, all, residual);
}

void LockGroup::Packs::fetch_pack(int i) const {
    prefetch(reinterpret_cast<const double*>(&packs_[i]), sizeof(Pack) / sizeof(double));
}

void LockGroup::Packs::fetch_jacobians(int i, double* J) const {
    for (int l = 0; l < kLanes; ++l) prefetch(J + packs_[i].jacobian[l], 2 * kRow * static_cast<int>(locked_.size()));
}

void LockGroup::Packs::evaluate(int begin, int end, const double* x, const double* u, const double* udot,
                                const RowResults& out) const {
    for (int i = begin; i < end; ++i) {
        const Pack& pack = packs_[i];
        if (i + kPacksAhead < size()) fetch_pack(i + kPacksAhead);
        if (out.J != nullptr) fetch_jacobians(std::min(i + kAhead, size() - 1), out.J);
        const PairMotion k = pair_motion(pack, x);
        if (out.C != nullptr) store_values(pack, k, out.C);
        if (out.J != nullptr) store_jacobians(pack, k, out.J);
        if (out.residual != nullptr) store_residuals(pack, k, u, udot, out.residual);
    }
}

LockGroup::LockGroup(std::vector<int> locked, std::span<const LockJoint> joints)
    : packs_(std::make_shared<Packs>(std::move(locked), joints)) {}

int LockGroup::packs() const { return packs_->size(); }

void LockGroup::evaluate(int begin, int end, const double* x, const double* u, const double* udot,
                         const RowResults& out) const {
    packs_->evaluate(begin, end, x, u, udot, out);
}

}  // namespace bellcrank
