// The way up the tree: inertias and forces of the links with all that hangs on them.
#include <type_traits>

#include "formulations/recursive/axial_rows.hpp"
#include "formulations/recursive/link_motion.hpp"
#include "formulations/recursive/tree_pass.hpp"

namespace bellcrank::recursive {

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
        const FactorsT<T> D(I.A);
        const Vec3T<T> z = -D.solve(asked.n);
        T* extra = w.extra.data() + kExtra * k.extra;
        store(extra, D.solve(p.n));
        Vec3T<T> columns[3];
        for (int j = 0; j < 3; ++j) {
            columns[j] = D.forward({I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]});
            const Vec3T<T> column = D.back(columns[j]);
            extra[3 + j] = column.x, extra[6 + j] = column.y, extra[9 + j] = column.z;
        }
        p.f = asked.f + transpose_times(I.B, z);
        p.n = zero<T>();
        D.take_from(I.C, columns);  // C − Bᵀ D⁻¹ B
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
    const FactorsT<T> D(I.A);
    Mat3T<T> G;
    Vec3T<T> columns[3];
    for (int j = 0; j < 3; ++j) {
        columns[j] = D.forward({I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]});
        const Vec3T<T> column = D.back(columns[j]);
        G.m[j] = column.x, G.m[3 + j] = column.y, G.m[6 + j] = column.z;
    }
    D.take_from(I.C, columns);
    const Vec3T<T> n = D.solve(p.n), a = -FactorsT<T>(I.C).solve(p.f - transpose_times(I.B, n));
    T* extra = w.extra.data() + kExtra * links_[i].extra;
    store(extra, -n - G * a);
    store(extra + 3, a);
    I = ArticulatedT<T>{};
    p = {zero<T>(), zero<T>()};
}

template <class T>
void TreePass::pass(Workspace<T>& w, int i, const T* x, const T* u, ArticulatedT<T>& I, ForceT<T>& p) {
    const LinkConstants& k = links_[i];
    LinkWork<T>& link = w.link[i];
    add_own(k, I);
    p += gyroscopic(k, link.velocity);
    if (k.motion != Motion::turn || k.given >= 0 || k.rotor != 0.0) return pass_other(w, i, x, u, I, p);
    reduce_turn(k, u[k.u], w.effort[k.u], link, I, p);
    if (k.axial)
        to_parent_after_axial_turn(k, I, p);
    else if (k.parent >= 0)
        to_parent_after_turn(k, I, p);
}

int TreePass::pass_axial([[maybe_unused]] Workspace<double>& w, int i, [[maybe_unused]] const double* u,
                         [[maybe_unused]] ArticulatedT<double>& I, [[maybe_unused]] ForceT<double>& p) {
#if BELLCRANK_LANES == 4
    AxialRows rows(I, p);
    for (;; --i) {
        const LinkConstants& k = links_[i];
        LinkWork<double>& link = w.link[i];
        rows.add_own(own_rows_[k.rows], link.velocity);
        rows.reduce(w.effort[k.u], u[k.u], link);
        if (k.parent < 0) break;  // nothing is passed to the ground
        rows.turn(link.sine, link.cosine);
        rows.to_parent(k);
        if (k.parent != i - 1 || links_[i - 1].rows < 0 || links_[i - 1].branch >= 0) break;
    }
    rows.get(I, p);
#endif
    return i;
}

template <class T>
void TreePass::inertias(Workspace<T>& w, const T* x, const T* u) {
    ArticulatedT<T> I{};
    ForceT<T> p{zero<T>(), zero<T>()};
    for (auto& gathered : w.inertia) gathered = ArticulatedT<T>{};
    for (auto& gathered : w.load) gathered = {zero<T>(), zero<T>()};
    for (int i = static_cast<int>(links_.size()) - 1; i >= 0; --i) {
        const LinkConstants& k = links_[i];
        if (!k.has_child) {
            I = ArticulatedT<T>{};
            p = {zero<T>(), zero<T>()};
        } else if (k.branch >= 0) {
            I += w.inertia[k.branch];
            p += w.load[k.branch];
        }
        if constexpr (std::is_same_v<T, double>) {
            if (k.rows >= 0)
                i = pass_axial(w, i, u, I, p);
            else
                pass(w, i, x, u, I, p);
        } else {
            pass(w, i, x, u, I, p);
        }
        const int parent = links_[i].parent;
        if (parent >= 0 && parent != i - 1) {
            w.inertia[links_[parent].branch] += I;
            w.load[links_[parent].branch] += p;
        }
    }
}

template void TreePass::inertias<double>(Workspace<double>&, const double*, const double*);
#if BELLCRANK_LANES > 1
template void TreePass::inertias<Lane>(Workspace<Lane>&, const Lane*, const Lane*);
#endif

}  // namespace bellcrank::recursive
