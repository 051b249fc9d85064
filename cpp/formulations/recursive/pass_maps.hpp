// How motions and forces pass between links, and what a link's own inertia makes of motions, at a state that
// PassTangent stands at: of one direction or of four.
#pragma once

#include <type_traits>

#include "formulations/recursive/joint_kernels.hpp"
#include "formulations/recursive/pass_tangent.hpp"

namespace bellcrank::recursive {

inline constexpr Load kUnloaded{{0, 0, 0}, {0, 0, 0}};

template <class T>
inline T spread(double s) {
    if constexpr (std::is_same_v<T, double>)
        return s;
    else
        return T{s, s, s, s};
}

template <class T>
inline T along(const MotionT<T>& a, const Load& U) {
    return a.w.x * U.n.x + a.w.y * U.n.y + a.w.z * U.n.z + (a.v.x * U.f.x + a.v.y * U.f.y + a.v.z * U.f.z);
}

// Number by number: where two have just been stored one by one, compilers would wait to load both at once.
template <class T>
inline void keep(Vec3T<T>& to, const Vec3T<T>& from) {
    to.x = from.x, to.y = from.y, to.z = from.z;
}
template <class T>
inline void keep(MotionT<T>& to, const MotionT<T>& from) {
    keep(to.w, from.w), keep(to.v, from.v);
}
template <class T>
inline void keep(ForceT<T>& to, const ForceT<T>& from) {
    keep(to.n, from.n), keep(to.f, from.f);
}

template <class T>
[[gnu::always_inline]] inline MotionT<T> PassTangent::into(int i, const MotionT<T>& parent) const {
    const LinkConstants& k = pass_.links_[i];
    if (k.motion != Motion::turn) return inward(frames_[i].R, frames_[i].r, parent);
    const LinkWork<double>& link = pass_.one_.link[i];
    const T s = spread<T>(link.sine), c = spread<T>(link.cosine);
    return k.axial ? before_axial_turn(k, s, c, parent) : before_turn(k, s, c, parent);
}

template <class T>
[[gnu::always_inline]] inline ForceT<T> PassTangent::out_of(int i, const ForceT<T>& load) const {
    const LinkConstants& k = pass_.links_[i];
    if (k.motion != Motion::turn) return outward(frames_[i].R, frames_[i].r, load);
    const LinkWork<double>& link = pass_.one_.link[i];
    const T s = spread<T>(link.sine), c = spread<T>(link.cosine);
    ForceT<T> p = load;
    rotate_pair(s, c, p.n.x, p.n.y);
    rotate_pair(s, c, p.f.x, p.f.y);
    if (!k.axial) return outward(matrix_of<double>(k), shift_of<double>(k), p);
    const double cosine = k.R[4], sine = k.R[7], a = k.r[0], d = k.along;
    p.n.x -= d * p.f.y, p.n.y += d * p.f.x;
    const Vec3T<T> n{p.n.x, cosine * p.n.y - sine * p.n.z, sine * p.n.y + cosine * p.n.z};
    const Vec3T<T> f{p.f.x, cosine * p.f.y - sine * p.f.z, sine * p.f.y + cosine * p.f.z};
    return {{n.x, n.y - a * f.z, n.z + a * f.y}, f};
}

template <class T>
[[gnu::always_inline]] inline ForceT<T> PassTangent::inertial(int i, const MotionT<T>& a) const {
    const LinkConstants& k = pass_.links_[i];
    const double *J = k.second, *h = k.moment, m = k.mass;
    const Vec3T<T>&w = a.w, &v = a.v;
    return {{J[0] * w.x + J[3] * w.y + J[4] * w.z + (h[1] * v.z - h[2] * v.y),
             J[3] * w.x + J[1] * w.y + J[5] * w.z + (h[2] * v.x - h[0] * v.z),
             J[4] * w.x + J[5] * w.y + J[2] * w.z + (h[0] * v.y - h[1] * v.x)},
            {m * v.x - (h[1] * w.z - h[2] * w.y), m * v.y - (h[2] * w.x - h[0] * w.z),
             m * v.z - (h[0] * w.y - h[1] * w.x)}};
}

// S times numbers, one for each speed of the tree.
template <class T>
[[gnu::always_inline]] inline MotionT<T> PassTangent::columns(int i, const T* speeds) const {
    const LinkConstants& k = pass_.links_[i];
    const T* own = speeds + k.u;
    MotionT<T> out{};
    switch (k.motion) {
        case Motion::turn:
            out.w.z = own[0];
            break;
        case Motion::slide:
            out.v.z = own[0];
            break;
        case Motion::ball:
            out.w = load(own);
            break;
        default:
            out = {load(own + 3), transpose_times(frames_[i].turn, load(own))};
    }
    return out;
}

}  // namespace bellcrank::recursive
