#include "model/beam_forces.hpp"

#include <algorithm>
#include <span>

#include "joints/beam_strain.hpp"
#include "joints/logarithm.hpp"
#include "joints/pair_motion.hpp"
#include "model/model.hpp"
#include "spatial/body_lanes.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

// The damping of a segment whose first law this is; negative: it is not one.
double damping_of_segment(const Model& model, size_t law) {
    static const LawKind& linear = law_kind("linear");
    if (law + kLawsOfSegment > model.laws.size()) return -1.0;
    const Law& first = model.laws[law];
    const Coordinate& along = model.coordinates[first.coordinate];
    for (int k = 0; k < kLawsOfSegment; ++k) {
        const Law& each = model.laws[law + k];
        const Coordinate& coordinate = model.coordinates[each.coordinate];
        if (beam_number(*coordinate.kind) != k || coordinate.pair != along.pair ||
            !std::ranges::equal(coordinate.params, along.params) || each.kind != &linear || each.function >= 0 ||
            each.params[0] != 1.0 || each.params[1] != first.params[1] || each.params[2] != 0.0 ||
            each.params[3] != 0.0)
            return -1.0;
    }
    return first.params[1];
}

// A number and its rate.
struct Rated {
    Lane value, rate;

    friend Rated operator+(const Rated& a, const Rated& b) { return {a.value + b.value, a.rate + b.rate}; }
    friend Rated operator-(const Rated& a, const Rated& b) { return {a.value - b.value, a.rate - b.rate}; }
    friend Rated operator+(const Rated& a, const Lane& b) { return {a.value + b, a.rate}; }
    template <class S>
    friend Rated operator*(const S& s, const Rated& a) {
        return {s * a.value, s * a.rate};
    }
    friend Rated operator*(const Rated& a, const Rated& b) {
        return {a.value * b.value, a.value * b.rate + a.rate * b.value};
    }
    friend Rated inverse_root(const Rated& a) {
        const Lane h = inverse_root(a.value);
        return {h, -0.5 * h * h * h * a.rate};
    }
};

using Matrix = SixOf<SixOf<Lane>>;
using LaneMotion = RelativeMotionT<Lane>;

// The rotation vector φ, and c(|φ|), d(|φ|) of log_coefficients().
struct Turn {
    explicit Turn(const QuatT<Lane>& q) {
        const Vec3T<Lane> v{q.x, q.y, q.z};
        const Lane C = dot(v, v);
        const double top = largest(C);
        if (top >= kSeriesOfLog) {
            one_by_one(q);
            return;
        }
        Lane f = broadcast(0.0);
        for (int n = top < kFewOfLog ? kFewTermsOfLog : kTermsOfLog; n-- > 0;) f = f * C + kSeriesF[n];
        phi = (2.0 * f * q.w) * v;
        log_series(dot(phi, phi), c, d);
    }

    Vec3T<Lane> phi;
    Lane c, d;

  private:
    static constexpr double kFewOfLog = 5e-3;  // C below which 8 terms do
    static constexpr int kFewTermsOfLog = 8;

    void one_by_one(const QuatT<Lane>& q) {
        for (int l = 0; l < kLanes; ++l) {
            const auto at = [l](const Lane& v) { return lane_get(v, l); };
            const Vec3 turn = quaternion_log({at(q.w), at(q.x), at(q.y), at(q.z)});
            double of_c, of_d;
            log_coefficients(dot(turn, turn), of_c, of_d);
            set_lane(phi, l, turn);
            lane_set(c, l, of_c);
            lane_set(d, l, of_d);
        }
    }
};

// With φ, q = exp φ:  φ̇ = ω − ½ φ×ω + c φ×(φ×ω),  u = r − ½ φ×r + c φ×(φ×r).
struct Strain {
    explicit Strain(const LaneMotion& m)
        : turn(m.q), r(m.r), across(cross(turn.phi, r)), twice(cross(turn.phi, across)) {
        u = r - 0.5 * across + turn.c * twice;
    }
    SixOf<Lane> value() const { return {u.x, u.y, u.z, turn.phi.x, turn.phi.y, turn.phi.z}; }
    SixOf<Rated> rated(const LaneMotion& m) const {
        const Vec3T<Lane>& phi = turn.phi;
        const Vec3T<Lane> turning = cross(phi, m.omega);
        const Vec3T<Lane> p = m.omega - 0.5 * turning + turn.c * cross(phi, turning);
        const Vec3T<Lane> across_rate = cross(p, r) + cross(phi, m.rdot);
        const Vec3T<Lane> w = m.rdot - 0.5 * across_rate + turn.c * (cross(p, across) + cross(phi, across_rate)) +
                              (turn.d * dot(phi, p)) * twice;
        return {{{u.x, w.x}, {u.y, w.y}, {u.z, w.z}, {phi.x, p.x}, {phi.y, p.y}, {phi.z, p.z}}};
    }
    // A gradient by u and φ as one by r and by the rotation, in marker-1 axes.
    void pull_back(const Vec3T<Lane>& by_u, Vec3T<Lane> by_phi, Vec3T<Lane>& force, Vec3T<Lane>& moment) const {
        const Vec3T<Lane>& phi = turn.phi;
        const auto transposed = [&](const Vec3T<Lane>& g) {
            const Vec3T<Lane> turned = cross(phi, g);
            return g + 0.5 * turned + turn.c * cross(phi, turned);
        };
        by_phi = by_phi - 0.5 * cross(r, by_u) + turn.c * (cross(across, by_u) + cross(r, cross(by_u, phi))) +
                 (turn.d * dot(by_u, twice)) * phi;
        force = transposed(by_u);
        moment = transposed(by_phi);
    }

    Turn turn;
    Vec3T<Lane> r, across, twice, u;
};

// X ← L⁻ᵀ X, where the diagonal of L is inverted.
void solve_upper(const Matrix& L, Matrix& X) {
    for (int i = 5; i >= 0; --i) {
        for (int k = i + 1; k < 6; ++k)
            for (int j = 0; j < 6; ++j) X[i][j] -= L[k][i] * X[k][j];
        for (int j = 0; j < 6; ++j) X[i][j] *= L[i][i];
    }
}
SixOf<Lane> solved_upper(const Matrix& L, SixOf<Lane> z) {
    for (int i = 5; i >= 0; --i) {
        for (int k = i + 1; k < 6; ++k) z[i] -= L[k][i] * z[k];
        z[i] *= L[i][i];
    }
    return z;
}

// Of a matrix X, Σ w^_ij X_ij = w · axial(X).
template <class At>
Vec3T<Lane> axial(const At& at) {
    return {at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)};
}

// With f = L Lᵀ and y = L⁻¹ d, a change of f is one of L by L Φ(M), M = L⁻¹ δf L⁻ᵀ, Φ its lower half (I. Murray,
// Differentiation of the Cholesky decomposition, 2016):
//   δy = L⁻¹ δd − Φ(M) y,   v·δy = z·δd − ⟨δf, Q⟩,   z = L⁻ᵀ v,   Q = L⁻ᵀ P L⁻¹,
// P the symmetric matrix of ½ v_i y_j, i ≥ j. With B = −h A, δf = (h/12) (δBᵀ (C B − h C₁) + (C B − h C₁)ᵀ δB), so that
//   ⟨δf, Q⟩ = ⟨δB, R⟩,   R = (h/6) (C B − h C₁) Q.
// Of v = y it is P = ½ y yᵀ, Q = ½ z zᵀ.
template <bool diagonal, bool damped>
void effort(const LaneMotion& m, std::span<const Lane> params, const Lane& damping, Vec3T<Lane>& force,
            Vec3T<Lane>& moment) {
    const Strain strain(m);
    SixOf<Lane> y, z;
    Matrix L, Q;
    if constexpr (damped) {
        SixOf<Rated> rated = strain.rated(m);
        SixOf<SixOf<Rated>> f;
        beam_strains<diagonal>(rated, params, 6, f);
        SixOf<Lane> v;
        for (int i = 0; i < 6; ++i) {
            y[i] = rated[i].value;
            v[i] = -y[i] - damping * rated[i].rate;
            for (int j = 0; j <= i; ++j) L[i][j] = f[i][j].value;
        }
        Matrix half;
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j <= i; ++j) half[i][j] = half[j][i] = 0.5 * v[i] * y[j];
        solve_upper(L, half);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) Q[i][j] = half[j][i];
        solve_upper(L, Q);
        z = solved_upper(L, v);
    } else {
        y = strain.value();
        beam_strains<diagonal>(y, params, 6, L);
        z = solved_upper(L, y);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j <= i; ++j) Q[i][j] = Q[j][i] = -0.5 * z[i] * z[j];
        for (Lane& each : z) each = -each;
    }

    const Vec3T<Lane>&phi = strain.turn.phi, &u = strain.u;
    Matrix BQ, image;
    for (int j = 0; j < 6; ++j) {
        const Vec3T<Lane> top{Q[0][j], Q[1][j], Q[2][j]}, bottom{Q[3][j], Q[4][j], Q[5][j]};
        const Vec3T<Lane> one = cross(phi, top), two = cross(u, top) + cross(phi, bottom);
        BQ[0][j] = one.x, BQ[1][j] = one.y, BQ[2][j] = one.z;
        BQ[3][j] = two.x, BQ[4][j] = two.y, BQ[5][j] = two.z;
    }
    const auto C = [&](int i, int j) { return params[place_of_flexibility(i, j)]; };
    if constexpr (!diagonal) {
        const bool varied = is_varied(params);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) {
                image[i][j] = C(i, 0) * BQ[0][j];
                for (int k = 1; k < 6; ++k) image[i][j] += C(i, k) * BQ[k][j];
                for (int k = 0; varied && k < 6; ++k) image[i][j] -= params[0] * params[place_of_slope(i, k)] * Q[k][j];
            }
    }
    const auto R = [&](int row, int column) {
        return [&, row, column](int i, int j) {
            if constexpr (diagonal)
                return C(row + i, row + i) * BQ[row + i][column + j];
            else
                return image[row + i][column + j];
        };
    };
    const Lane sixth = params[0] / 6.0;
    const Vec3T<Lane> by_u = Vec3T<Lane>{z[0], z[1], z[2]} - sixth * axial(R(3, 0));
    const Vec3T<Lane> by_phi = Vec3T<Lane>{z[3], z[4], z[5]} - sixth * (axial(R(0, 0)) + axial(R(3, 3)));
    strain.pull_back(by_u, by_phi, force, moment);
}

// As many segments as there are lanes; spare lanes repeat the last one.
struct Pack {
    int count = 0;
    size_t law[kLanes];
    int body[2][kLanes];
    MarkerPairT<Lane> pair;  // without its bodies
    Lane params[kVariedBeamParams], damping;
    bool diagonal = true, damped = false, varied = false;
};

MovingBodyT<Lane> gather_body(const Pack& pack, int side, const double* x, const double* u) {
    const int* body = pack.body[side];
    MovingBodyT<Lane> found;
    found.position = gather_vector(x, body, kPose, 0);
    found.rotation = gather_quaternion(x, body);
    found.velocity = gather_vector(u, body, kTwist, 0);
    found.omega = gather_vector(u, body, kTwist, 4);
    return found;
}

}  // namespace

struct BeamForces::Packs {
    int ground;
    std::vector<Pack> all;
};

BeamForces::BeamForces(const Model& model) : begins_(model.laws.size(), 0) {
    Packs packs{model.ground(), {}};
    for (size_t law = 0; law < model.laws.size(); ++law) {
        const double damping = damping_of_segment(model, law);
        if (damping < 0.0) continue;
        begins_[law] = 1;
        if (packs.all.empty() || packs.all.back().count == kLanes) packs.all.emplace_back();
        Pack& pack = packs.all.back();
        const Coordinate& along = model.coordinates[model.laws[law].coordinate];
        const MarkerPair& pair = model.pairs[along.pair];
        pack.diagonal = pack.diagonal && is_diagonal(along.params);
        pack.damped = pack.damped || damping > 0.0;
        pack.varied = pack.varied || is_varied(along.params);
        for (int l = pack.count++; l < kLanes; ++l) {
            pack.law[l] = law;
            lane_set(pack.damping, l, damping);
            for (int s = 0; s < 2; ++s) {
                pack.body[s][l] = pair.body[s];
                set_lane(pack.pair.offset[s], l, pair.offset[s]);
                set_lane(pack.pair.rotation[s], l, pair.rotation[s]);
            }
            for (int k = 0; k < kVariedBeamParams; ++k)
                lane_set(pack.params[k], l, k < static_cast<int>(along.params.size()) ? along.params[k] : 0.0);
        }
        law += kLawsOfSegment - 1;
    }
    packs_ = std::make_shared<const Packs>(std::move(packs));
}

bool BeamForces::begins(size_t law, const std::uint8_t* left_out) const {
    return begins_[law] != 0 &&
           (left_out == nullptr || std::count(left_out + law, left_out + law + kLawsOfSegment, 0) == kLawsOfSegment);
}

void BeamForces::add(const double* x, const double* u, const std::uint8_t* left_out, double* force) const {
    for (const Pack& pack : packs_->all) {
        const auto is_in = [&](int l) { return l < pack.count && begins(pack.law[l], left_out); };
        bool any = false;
        for (int l = 0; l < kLanes; ++l) any = any || is_in(l);
        if (!any) continue;
        const PairMotionT<Lane> motion(pack.pair, gather_body(pack, 0, x, u), gather_body(pack, 1, x, u));
        Vec3T<Lane> along, about;
        const std::span<const Lane> params(pack.params, pack.varied ? kVariedBeamParams : kBeamParams);
        const auto call = [&](auto exert) { exert(motion.relative, params, pack.damping, along, about); };
        if (pack.diagonal)
            pack.damped ? call(effort<true, true>) : call(effort<true, false>);
        else
            pack.damped ? call(effort<false, true>) : call(effort<false, false>);
        ForceT<Lane> on[2];
        motion.exert(along, about, on);
        for (int s = 0; s < 2; ++s) {
            double record[kLanes][kTwist];
            double *linear[kLanes], *angular[kLanes];
            for (int l = 0; l < kLanes; ++l) linear[l] = record[l], angular[l] = record[l] + 4;
            const Lane zero = broadcast(0.0);
            const Lane f[4] = {on[s].f.x, on[s].f.y, on[s].f.z, zero}, n[4] = {on[s].n.x, on[s].n.y, on[s].n.z, zero};
            scatter4(f, linear);
            scatter4(n, angular);
            for (int l = 0; l < kLanes; ++l)
                if (is_in(l) && pack.body[s][l] != packs_->ground)
                    for (int k = 0; k < kTwist; ++k) force[kTwist * pack.body[s][l] + k] += record[l][k];
        }
    }
}

}  // namespace bellcrank
