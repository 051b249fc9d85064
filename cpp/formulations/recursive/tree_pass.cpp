#include "formulations/recursive/tree_pass.hpp"

#include <algorithm>

#include "formulations/recursive/chosen_frames.hpp"
#include "formulations/recursive/link_motion.hpp"

namespace bellcrank::recursive {

namespace {

// Of a ball: D⁻¹ n (3), D⁻¹ B (9). Of a free body: its acceleration (6).
constexpr int kExtra = 12;

}  // namespace

bool TreePass::takes(const Model& model, const LinkTree& tree) {
    if (!tree.closing_rows.empty() || !model.wrenches.empty() || !model.formula_forces.empty()) return false;
    for (const Link& link : tree.links)
        if (link.motion != Motion::turn && link.motion != Motion::slide && link.motion != Motion::ball &&
            link.motion != Motion::free)
            return false;
    std::vector<bool> own(model.coordinates.size(), false);
    for (const Link& link : tree.links)
        if ((link.motion == Motion::turn || link.motion == Motion::slide) && tree.coordinate_of[link.x] >= 0)
            own[tree.coordinate_of[link.x]] = true;
    return std::all_of(model.laws.begin(), model.laws.end(), [&](const Law& law) { return own[law.coordinate]; });
}

TreePass::TreePass(const Model& model, const LinkTree& tree) : model_(model), drives_(tree.drives) {
    const std::vector<ChosenFrame> chosen = choose_frames(tree);
    std::vector<int> children(tree.links.size(), 0);
    for (const Link& link : tree.links)
        if (link.parent >= 0) ++children[link.parent];
    for (size_t i = 0; i < tree.links.size(); ++i) {
        const Link& link = tree.links[i];
        const bool large = link.motion == Motion::ball || link.motion == Motion::free;
        LinkConstants k{};
        k.parent = link.parent, k.x = link.x, k.u = link.u;
        k.branch = children[i] > 1 ? branches_++ : -1;
        k.extra = large ? extras_++ : -1;
        k.given = link.given;
        k.motion = link.motion;
        k.has_child = children[i] > 0;
        std::copy_n(chosen[i].at.rotation.m, 9, k.R);
        k.r[0] = chosen[i].at.shift.x, k.r[1] = chosen[i].at.shift.y, k.r[2] = chosen[i].at.shift.z;
        k.axial = chosen[i].axial;
        k.along = chosen[i].along;
        k.mass = link.mass;
        const Vec3& h = chosen[i].moment;
        k.moment[0] = h.x, k.moment[1] = h.y, k.moment[2] = h.z;
        std::copy(chosen[i].second.begin(), chosen[i].second.end(), k.second);
        k.offset = link.offset + chosen[i].offset, k.rotor = link.rotor;
        links_.push_back(k);
    }
    speeds_ = tree.speeds;
    given_.assign(drives_.size(), 0.0);
    std::vector<int> own(model.coordinates.size(), -1);
    for (int i = 0; i < tree.coordinates; ++i)
        if (tree.coordinate_of[i] >= 0) own[tree.coordinate_of[i]] = i;
    for (const Law& law : model.laws)
        if (own[law.coordinate] >= 0)
            efforts_.push_back({&law, own[law.coordinate], tree.speed_of[own[law.coordinate]]});
}

template <>
TreePass::Workspace<double>& TreePass::workspace<double>() {
    return one_;
}
#if BELLCRANK_LANES > 1
template <>
TreePass::Workspace<Lane>& TreePass::workspace<Lane>() {
    return lanes_;
}
#endif

template <class T>
void TreePass::efforts(double t, const T* x, const T* u, T* out) const {
    std::fill_n(out, speeds_, number<T>(0.0));
    for (const Effort& e : efforts_) {
        const Function* function = e.law->function < 0 ? nullptr : &model_.functions[e.law->function];
        if constexpr (sizeof(T) == sizeof(double)) {
            out[e.u] += e.law->kind->effort({x[e.x], u[e.u], t}, e.law->params, function);
        } else {
            for (int l = 0; l < kLanes; ++l)
                lane_set(out[e.u], l,
                         lane_get(out[e.u], l) + e.law->kind->effort({lane_get(x[e.x], l), lane_get(u[e.u], l), t},
                                                                     e.law->params, function));
        }
    }
}

template <class T>
void TreePass::velocities(Workspace<T>& w, const T* x, const T* u) {
    const MotionT<T> rest{zero<T>(), zero<T>()};
    for (size_t i = 0; i < links_.size(); ++i) {
        const LinkConstants& k = links_[i];
        LinkWork<T>& link = w.link[i];
        const MotionT<T>& parent = k.parent < 0 ? rest : w.link[k.parent].velocity;
        if (k.motion == Motion::turn) {
            sine_and_cosine(x[k.x] + k.offset, link.sine, link.cosine);
            link.velocity = k.axial ? before_axial_turn(k, link.sine, link.cosine, parent)
                                    : before_turn(k, link.sine, link.cosine, parent);
            link.velocity.w.z += u[k.u];
        } else {
            link.velocity = inward(rotation_of(k, x), shift_of(k, x), parent) + own_velocity(k, x, u);
        }
    }
}

// Eliminates a joint other than a free turn and carries the rest to the parent.
template <class T>
void TreePass::pass_other(Workspace<T>& w, int i, const T* x, const T* u, ArticulatedT<T>& I, ForceT<T>& p) {
    const LinkConstants& k = links_[i];
    LinkWork<T>& link = w.link[i];
    const T o = number<T>(0.0), one = number<T>(1.0);
    if (k.motion == Motion::free) return pass_free(w, i, I, p);
    const bool turns = k.motion == Motion::turn;
    const MotionT<T> axis = turns ? MotionT<T>{{o, o, one}, zero<T>()} : MotionT<T>{zero<T>(), {o, o, one}};
    const MotionT<T> own = turns ? u[k.u] * axis : own_velocity(k, x, u), c = bias_of(k, link.velocity, own);
    if (k.motion == Motion::ball) {
        ForceT<T> asked = I * c;
        asked += p;
        const SymmetricT<T> D = inverse_of(I.A);
        const Vec3T<T> z = -(D * asked.n);
        T* extra = w.extra.data() + kExtra * k.extra;
        store(extra, D * p.n);
        for (int j = 0; j < 3; ++j) {
            const Vec3T<T> column = D * Vec3T<T>{I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]};
            extra[3 + j] = column.x, extra[6 + j] = column.y, extra[9 + j] = column.z;
        }
        p.f = asked.f + transpose_times(I.B, z);
        p.n = zero<T>();
        // C − Bᵀ D⁻¹ B
        T* C = I.C.m;
        const T *B = I.B.m, *G = extra + 3;
        const auto product = [&](int a, int b) { return B[a] * G[b] + B[3 + a] * G[3 + b] + B[6 + a] * G[6 + b]; };
        C[0] -= product(0, 0), C[1] -= product(1, 1), C[2] -= product(2, 2);
        C[3] -= product(0, 1), C[4] -= product(0, 2), C[5] -= product(1, 2);
        for (T& a : I.A.m) a = o;
        for (T& b : I.B.m) b = o;
    } else {
        MotionT<T> a = c;
        if (k.given >= 0) {
            link.z = number<T>(given_[k.given]);
            a += link.z * axis;
        } else {
            const ForceT<T> U = I * axis;
            link.U = U;
            link.inverse = 1.0 / (dot(axis, U) + k.rotor);
            link.z = w.effort[k.u] - dot(axis, p);
            a += (link.inverse * (link.z - dot(c, U))) * axis;
        }
        p += I * a;
        if (k.given < 0) I.add_dyad(-link.inverse, link.U, link.U);
    }
    Mat3T<T> R = k.motion == Motion::turn ? matrix_of<T>(k) : rotation_of(k, x);
    if (turns) R = R * Mat3T<T>{{link.cosine, -link.sine, o, link.sine, link.cosine, o, o, o, one}};
    if (k.parent >= 0) to_parent(R, shift_of(k, x), I, p);
}

// I a + p = 0 gives the acceleration of a free body at once; nothing reaches what it is measured from.
template <class T>
void TreePass::pass_free(Workspace<T>& w, int i, ArticulatedT<T>& I, ForceT<T>& p) {
    const SymmetricT<T> D = inverse_of(I.A);
    SymmetricT<T> C = I.C;
    Mat3T<T> G;
    for (int j = 0; j < 3; ++j) {
        const Vec3T<T> column = D * Vec3T<T>{I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]};
        G.m[j] = column.x, G.m[3 + j] = column.y, G.m[6 + j] = column.z;
    }
    const Mat3T<T> less = transpose_times(I.B, G);
    C.m[0] -= less.m[0], C.m[1] -= less.m[4], C.m[2] -= less.m[8];
    C.m[3] -= less.m[1], C.m[4] -= less.m[2], C.m[5] -= less.m[5];
    const Vec3T<T> n = D * p.n, a = -(inverse_of(C) * (p.f - transpose_times(I.B, n)));
    T* extra = w.extra.data() + kExtra * links_[i].extra;
    store(extra, -n - G * a);
    store(extra + 3, a);
    I = ArticulatedT<T>{};
    p = {zero<T>(), zero<T>()};
}

template <class T>
void TreePass::inertias(Workspace<T>& w, const T* x, const T* u) {
    ArticulatedT<T> I{};
    ForceT<T> p{zero<T>(), zero<T>()};
    for (auto& gathered : w.inertia) gathered = ArticulatedT<T>{};
    for (auto& gathered : w.load) gathered = {zero<T>(), zero<T>()};
    for (int i = static_cast<int>(links_.size()) - 1; i >= 0; --i) {
        const LinkConstants& k = links_[i];
        LinkWork<T>& link = w.link[i];
        if (!k.has_child) {
            I = ArticulatedT<T>{};
            p = {zero<T>(), zero<T>()};
        } else if (k.branch >= 0) {
            I += w.inertia[k.branch];
            p += w.load[k.branch];
        }
        add_own(k, I);
        p += gyroscopic(k, link.velocity);
        if (k.motion == Motion::turn && k.given < 0 && k.rotor == 0.0) {
            reduce_turn(k, u[k.u], w.effort[k.u], link, I, p);
            if (k.axial)
                to_parent_after_axial_turn(k, I, p);
            else if (k.parent >= 0)
                to_parent_after_turn(k, I, p);
        } else {
            pass_other(w, i, x, u, I, p);
        }
        if (k.parent >= 0 && k.parent != i - 1) {
            w.inertia[links_[k.parent].branch] += I;
            w.load[links_[k.parent].branch] += p;
        }
    }
}

template <class T>
void TreePass::accelerations(Workspace<T>& w, const T* x, const T* u, T* udot) {
    const Vec3& g = model_.gravity;
    const MotionT<T> base{zero<T>(), {number<T>(-g.x), number<T>(-g.y), number<T>(-g.z)}};
    for (size_t i = 0; i < links_.size(); ++i) {
        const LinkConstants& k = links_[i];
        LinkWork<T>& link = w.link[i];
        const MotionT<T>& parent = k.parent < 0 ? base : w.link[k.parent].velocity;  // an acceleration by now
        if (k.motion == Motion::turn) {
            MotionT<T> a = k.axial ? before_axial_turn(k, link.sine, link.cosine, parent)
                                   : before_turn(k, link.sine, link.cosine, parent);
            const T rate = u[k.u];
            a.w.x += link.velocity.w.y * rate, a.w.y -= link.velocity.w.x * rate;
            a.v.x += link.velocity.v.y * rate, a.v.y -= link.velocity.v.x * rate;
            const T z = k.given >= 0 ? link.z : (link.z - dot(a, link.U)) * link.inverse;
            a.w.z += z;
            udot[k.u] = z;
            link.velocity = a;
        } else {
            accelerate_other(w, static_cast<int>(i), x, u, parent, udot);
        }
    }
}

template <class T>
void TreePass::accelerate_other(Workspace<T>& w, int i, const T* x, const T* u, const MotionT<T>& parent, T* udot) {
    const LinkConstants& k = links_[i];
    LinkWork<T>& link = w.link[i];
    const MotionT<T> own = own_velocity(k, x, u);
    MotionT<T> a = inward(rotation_of(k, x), shift_of(k, x), parent) + bias_of(k, link.velocity, own);
    if (k.motion == Motion::slide) {
        const T z = k.given >= 0 ? link.z : (link.z - dot(a, link.U)) * link.inverse;
        a.v.z += z;
        udot[k.u] = z;
        link.velocity = a;
        return;
    }
    const T* extra = w.extra.data() + kExtra * k.extra;
    if (k.motion == Motion::ball) {
        const T* G = extra + 3;
        const Vec3T<T> w_total{-extra[0] - (G[0] * a.v.x + G[1] * a.v.y + G[2] * a.v.z),
                               -extra[1] - (G[3] * a.v.x + G[4] * a.v.y + G[5] * a.v.z),
                               -extra[2] - (G[6] * a.v.x + G[7] * a.v.y + G[8] * a.v.z)};
        store(udot + k.u, w_total - a.w);
        link.velocity = {w_total, a.v};
        return;
    }
    const MotionT<T> total{vector(extra), vector(extra + 3)};
    store(udot + k.u, rotation_matrix(quaternion(x + k.x + 3)) * (total.v - a.v));
    store(udot + k.u + 3, total.w - a.w);
    link.velocity = total;
}

template <class T>
void TreePass::accelerate(double t, const T* x, const T* u, T* udot) {
    Workspace<T>& w = workspace<T>();
    if (w.link.size() != links_.size()) {
        w.link.resize(links_.size());
        w.inertia.resize(branches_);
        w.load.resize(branches_);
        w.extra.resize(static_cast<size_t>(kExtra * extras_));
        w.effort.resize(speeds_);
    }
    for (size_t i = 0; i < given_.size(); ++i) {
        const Drive& drive = drives_[i];
        given_[i] = drive.function < 0 ? 0.0 : model_.functions[drive.function](t).d2 / drive.factor;
    }
    efforts(t, x, u, w.effort.data());
    velocities(w, x, u);
    inertias(w, x, u);
    accelerations(w, x, u, udot);
}

template void TreePass::accelerate<double>(double, const double*, const double*, double*);
#if BELLCRANK_LANES > 1
template void TreePass::accelerate<Lane>(double, const Lane*, const Lane*, Lane*);
#endif

}  // namespace bellcrank::recursive
