#include "formulations/recursive/impulse_response.hpp"

#include <algorithm>

namespace bellcrank::recursive {

namespace {

// A motion in the place that Mobility::of has for it.
Load as_load(const Twist& a) { return {a.v, a.w}; }

}  // namespace

ImpulseResponse::ImpulseResponse(const LinkTree& tree)
    : tree_(tree), recursion_(tree, 0, {}), has_light_(carries_heavier(tree)) {
    const size_t n = tree.links.size();
    last_.resize(n);
    for (size_t i = n; i-- > 0;) {
        last_[i] = std::max(last_[i], static_cast<int>(i));
        const int parent = tree.links[i].parent;
        if (parent >= 0) last_[parent] = std::max(last_[parent], last_[i]);
    }
    begin_.resize(n + 1);
    mobility_.resize(n);
    motion_.assign(n, kRest);
    S_.assign(tree.speeds, kRest);
    U_.assign(tree.speeds, kNothing);
    jump_.assign(tree.speeds, 0.0);
}

void ImpulseResponse::factor(const TreeState& k) { recursion_.factor(k, nullptr, nullptr, 0.0); }

void ImpulseResponse::accelerate(const TreeState& k, const Load* loads, const double* given, double* udot) {
    const Recursion::Input input{loads, nullptr, k.bias.data(), given, nullptr};
    recursion_.solve(k, input, udot, nullptr);
    if (has_light_ && recursion_.is_doubtful()) recursion_.refine(k, input, udot, nullptr);
}

void ImpulseResponse::add_jumps(const TreeState& k, const Load* impulses, double* u) {
    find_speeds(k, impulses, nullptr, nullptr, jump_.data());
    for (size_t i = 0; i < jump_.size(); ++i) u[i] += jump_[i];
}

void ImpulseResponse::find_speeds(const TreeState& k, const Load* momenta, const double* efforts, const double* given,
                                  double* u) {
    const Recursion::Input input{momenta, efforts, nullptr, given, nullptr};
    recursion_.solve(k, input, u, nullptr);
    if (has_light_ && recursion_.is_doubtful()) recursion_.refine(k, input, u, nullptr);
}

double ImpulseResponse::rates(const TreeState& k, std::span<const RowEnd> ends, const double* u,
                              std::span<double> out) {
    recursion_.accelerations(k, nullptr, u, motion_);
    std::fill(out.begin(), out.end(), 0.0);
    for (const RowEnd& end : ends)
        if (end.link >= 0) out[end.row] += dot(motion_[end.link], end.load);
    double energy = 0.0;
    for (size_t i = 0; i < motion_.size(); ++i) {
        const Link& link = tree_.links[i];
        const Vec3 &w = motion_[i].w, &v = motion_[i].v;
        const std::array<double, 6>& J = link.second;
        energy += link.mass * dot(v, v) + 2.0 * dot(v, cross(w, link.moment)) + J[0] * w.x * w.x + J[1] * w.y * w.y +
                  J[2] * w.z * w.z + 2.0 * (J[3] * w.x * w.y + J[4] * w.x * w.z + J[5] * w.y * w.z);
    }
    return std::max(energy, 0.0);
}

// Numbers of links are in preorder, so that the ends within a subtree lie one after another.
void ImpulseResponse::sort_ends(std::span<const RowEnd> ends) {
    std::fill(begin_.begin(), begin_.end(), 0);
    for (const RowEnd& end : ends)
        if (end.link >= 0) ++begin_[end.link + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    row_.resize(begin_.back());
    column_.resize(row_.size());
    moved_.resize(row_.size());
    filled_.assign(begin_.begin(), begin_.end() - 1);
    for (const RowEnd& end : ends) {
        if (end.link < 0) continue;
        const int at = filled_[end.link]++;
        row_[at] = end.row;
        column_[at] = end.load;
    }
}

// First how each link moves by an impulse on it, from the root on: Λ_i = Ŝ Ŝᵀ + Kᵀ (X Λ_p Xᵀ) K, K = 1 − Û Ŝᵀ, with
// Ŝ = S L⁻ᵀ, Û = I Ŝ and D = L Lᵀ. Then the impulses go up to the root; where two of them meet first, everything that
// one does to the other has passed: G_ab = F_aᵀ Λ F_b.
void ImpulseResponse::between(const TreeState& k, std::span<const RowEnd> ends, int rows, double* G) {
    std::fill_n(G, static_cast<size_t>(rows) * rows, 0.0);
    sort_ends(ends);
    const int n = static_cast<int>(tree_.links.size());
    const auto within = [&](int link) { return begin_[last_[link] + 1] - begin_[link]; };
    for (int i = 0; i < n; ++i) {
        if (within(i) == 0) {
            i = last_[i];
            continue;
        }
        whiten_joint(k, i);
        find_mobility(k, i);
    }
    for (int i = n - 1; i >= 0; --i) {
        if (within(i) == 0) continue;
        const int end = begin_[last_[i] + 1], parent = tree_.links[i].parent;
        if (begin_[i] < begin_[i + 1]) pair(mobility_[i], begin_[i], begin_[i + 1], end, rows, G);
        if (parent < 0) continue;
        pass(k, i);
        const int others = begin_[last_[parent] + 1];  // what later branches have brought
        if (end < others) {
            for (int a = begin_[i]; a < end; ++a) moved_[a] = mobility_[parent] * column_[a];
            for (int a = begin_[i]; a < end; ++a)
                for (int b = end; b < others; ++b) {
                    const double g = dot(moved_[a], column_[b]);
                    G[static_cast<size_t>(row_[a]) * rows + row_[b]] += g;
                    G[static_cast<size_t>(row_[b]) * rows + row_[a]] += g;
                }
        }
    }
}

// The ends from `first` to `middle`, which are a link's own, with each other and with those before `last`.
void ImpulseResponse::pair(const Mobility& at, int first, int middle, int last, int rows, double* G) {
    for (int a = first; a < middle; ++a) {
        const Twist moved = at * column_[a];
        G[static_cast<size_t>(row_[a]) * (rows + 1)] += dot(moved, column_[a]);
        for (int b = a + 1; b < last; ++b) {
            const double g = dot(moved, column_[b]);
            G[static_cast<size_t>(row_[a]) * rows + row_[b]] += g;
            G[static_cast<size_t>(row_[b]) * rows + row_[a]] += g;
        }
    }
}

void ImpulseResponse::whiten_joint(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const double* white = recursion_.whitening(i);
    for (int a = 0; a < link.speeds && link.given < 0; ++a) {
        Twist S = kRest;
        Load U = kNothing;
        for (int b = 0; b <= a; ++b) {
            S += white[link.speeds * b + a] * k.S[link.u + b];
            U += white[link.speeds * b + a] * recursion_.asked(link.u + b);
        }
        S_[link.u + a] = S;
        U_[link.u + a] = U;
    }
}

// X Λ Xᵀ of the parent: a mobility moves against an inertia.
ImpulseResponse::Mobility ImpulseResponse::inward(const TreeState& k, int i) const {
    Articulated of = mobility_[tree_.links[i].parent].of;
    shift(-k.shift[i], of);
    const Mat3 Rt = transpose(k.rotation[i]);
    return {{rotated(Rt, of.A), rotated(Rt, of.B), rotated(Rt, of.C)}};
}

void ImpulseResponse::find_mobility(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    Mobility& Lambda = mobility_[i];
    Lambda = link.parent < 0 || is_free(link) ? Mobility{} : inward(k, i);
    const int d = link.given < 0 ? link.speeds : 0;
    if (link.parent < 0 || is_free(link)) {
        for (int a = 0; a < d; ++a) Lambda.of.add_dyad(1.0, as_load(S_[link.u + a]), as_load(S_[link.u + a]));
        return;
    }
    // Λ − Ŝ Yᵀ − Y Ŝᵀ with Y = Λ Û − ½ Ŝ (Ûᵀ Λ Û + 1)
    Twist Y[6], moved[6];
    for (int a = 0; a < d; ++a) moved[a] = Lambda * U_[link.u + a];
    for (int a = 0; a < d; ++a) {
        Y[a] = moved[a];
        Y[a] += -0.5 * S_[link.u + a];
        for (int b = 0; b < d; ++b) Y[a] += -0.5 * dot(moved[a], U_[link.u + b]) * S_[link.u + b];
    }
    for (int a = 0; a < d; ++a) {
        const Load s = as_load(S_[link.u + a]), y = as_load(Y[a]);
        Lambda.of.add_dyad(-1.0, s, y);
        Lambda.of.add_dyad(-1.0, y, s);
    }
}

// Takes what the joint lets pass of the impulses within a link's subtree to its parent's frame.
void ImpulseResponse::pass(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const int d = link.given < 0 ? link.speeds : 0;
    for (int e = begin_[i]; e < begin_[last_[i] + 1]; ++e) {
        Load F = column_[e];
        double along[6];
        for (int a = 0; a < d; ++a) along[a] = dot(S_[link.u + a], F);
        for (int a = 0; a < d; ++a) F += -along[a] * U_[link.u + a];
        column_[e] = is_free(link) ? kNothing : outward(k.rotation[i], k.shift[i], F);
    }
}

}  // namespace bellcrank::recursive
