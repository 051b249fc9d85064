#include "formulations/recursive/tree_pass.hpp"

#include <algorithm>

#include "formulations/recursive/chosen_frames.hpp"
#include "formulations/recursive/link_motion.hpp"

namespace bellcrank::recursive {

namespace {

// Turns whose sines and cosines are found together.
template <class T>
constexpr size_t kTurns = sizeof(T) == sizeof(double) ? kLanes : 1;

#if BELLCRANK_LANES == 4
OwnRows own_rows(const LinkConstants& k) {
    const double *J = k.second, *h = k.moment;
    return {{Lane{J[0], J[3], J[4], 0}, Lane{J[3], J[1], J[5], 0}, Lane{J[4], J[5], J[2], 0}},
            {Lane{0, -h[2], h[1], 0}, Lane{h[2], 0, -h[0], 0}, Lane{-h[1], h[0], 0, 0}},
            Lane{k.mass, k.mass, k.mass, 0}};
}
#endif

}  // namespace

bool TreePass::takes(const Model& model, const LinkTree& tree) {
    if (tree.closing_rows.size() > tree.stops || !model.wrenches.empty() || !model.formula_forces.empty() ||
        !model.contacts.empty())
        return false;
    for (const Link& link : tree.links)
        if (link.motion != Motion::turn && link.motion != Motion::slide && link.motion != Motion::ball &&
            link.motion != Motion::free)
            return false;
    return JointEfforts(model, tree).takes_all();
}

TreePass::TreePass(const Model& model, const LinkTree& tree)
    : model_(model), drives_(tree.drives), efforts_(model, tree) {
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
        k.offset = link.offset + chosen[i].offset, k.rotor = link.rotor[0];
        k.rows = -1;
#if BELLCRANK_LANES == 4
        if (k.motion == Motion::turn && (k.axial || k.parent < 0) && k.given < 0 && k.rotor == 0.0) {
            k.rows = static_cast<int>(own_rows_.size());
            own_rows_.push_back(own_rows(k));
        }
#endif
        links_.push_back(k);
        if (k.motion == Motion::turn) turns_.push_back(static_cast<int>(i));
    }
    while (turns_.size() % kLanes != 0) turns_.push_back(turns_.back());
    coordinates_ = tree.coordinates, speeds_ = tree.speeds;
    given_.assign(drives_.size(), 0.0);
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
    for (const JointEffort& e : efforts_.list()) {
        if constexpr (sizeof(T) == sizeof(double)) {
            out[e.u] += e.at(model_, t, x[e.x], u[e.u]);
        } else {
            for (int l = 0; l < kLanes; ++l)
                lane_set(out[e.u], l,
                         lane_get(out[e.u], l) + e.at(model_, t, lane_get(x[e.x], l), lane_get(u[e.u], l)));
        }
    }
}

// Sines and cosines of as many turns as fill a vector, from turn number `first` on: those of one state, or of one turn.
template <class T>
void TreePass::turn(Workspace<T>& w, size_t first, const T* x) const {
    if constexpr (kTurns<T> == 1) {
        LinkWork<T>& link = w.link[turns_[first]];
        sine_and_cosine(x[links_[turns_[first]].x] + links_[turns_[first]].offset, link.sine, link.cosine);
    } else {
        Lane angle, sine, cosine;
        for (int l = 0; l < kLanes; ++l) {
            const LinkConstants& k = links_[turns_[first + l]];
            lane_set(angle, l, x[k.x] + k.offset);
        }
        sine_and_cosine(angle, sine, cosine);
        for (int l = 0; l < kLanes; ++l) {
            LinkWork<T>& link = w.link[turns_[first + l]];
            link.sine = lane_get(sine, l), link.cosine = lane_get(cosine, l);
        }
    }
}

template <class T>
void TreePass::velocities(Workspace<T>& w, const T* x, const T* u) {
    const MotionT<T> rest{zero<T>(), zero<T>()};
    size_t turned = 0;
    for (size_t i = 0; i < links_.size(); ++i) {
        const LinkConstants& k = links_[i];
        LinkWork<T>& link = w.link[i];
        const MotionT<T>& parent = k.parent < 0 ? rest : w.link[k.parent].velocity;
        if (k.motion == Motion::turn) {
            if (turned % kTurns<T> == 0) turn(w, turned, x);
            ++turned;
            link.velocity = k.axial ? before_axial_turn(k, link.sine, link.cosine, parent)
                                    : before_turn(k, link.sine, link.cosine, parent);
            link.velocity.w.z += u[k.u];
        } else {
            link.velocity = inward(rotation_of(k, x), shift_of(k, x), parent) + own_velocity(k, x, u);
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

void TreePass::accelerate_batch(double t, int states, const double* x, const double* u, double* udot) {
    const int nx = coordinates_, nu = speeds_;
    batch_.resize(nx + 2 * nu);
    Lane *lx = batch_.data(), *lu = lx + nx, *la = lu + nu;
    for (int s = 0; s < states; s += kLanes) {
        const auto at = [&](int l) {
            return static_cast<size_t>(std::min(s + l, states - 1));
        };  // the last one fills up
        for (int l = 0; l < kLanes; ++l) {
            for (int i = 0; i < nx; ++i) lane_set(lx[i], l, x[nx * at(l) + i]);
            for (int i = 0; i < nu; ++i) lane_set(lu[i], l, u[nu * at(l) + i]);
        }
        accelerate(t, lx, lu, la);
        for (int l = 0; l < kLanes && s + l < states; ++l)
            for (int i = 0; i < nu; ++i) udot[nu * at(l) + i] = lane_get(la[i], l);
    }
}

}  // namespace bellcrank::recursive
