// Down, how velocities and accelerations at given u̇ change, and with them what each link asks for (tree_tangent.cpp):
//   δf = I δa + δv ×* (I v) + v ×* (I δv).                                                                (1)
// Up, with F the force that a joint exerts,  δF_p += Xᵀ (δF + σ ×* F),  and M δu̇ = δτ − Sᵀ δF,               (2)
// solved on the same ways by what TreePass keeps of the elimination.
#include "formulations/recursive/pass_tangent.hpp"

#include <algorithm>
#include <cstring>

#include "formulations/recursive/pass_maps.hpp"

namespace bellcrank::recursive {

namespace {

template <class T>
ForceT<T> scaled(const Load& U, const T& s) {
    return {{U.n.x * s, U.n.y * s, U.n.z * s}, {U.f.x * s, U.f.y * s, U.f.z * s}};
}

void fill(std::vector<Four, AlignedAllocator<Four>>& out, const double* from) {
    if (from == nullptr)
        std::fill(out.begin(), out.end(), Four{});
    else
        std::memcpy(out.data(), from, out.size() * sizeof(Four));
}

}  // namespace

PassTangent::PassTangent(const Model& model, const LinkTree& tree, const TreePass& pass, EffortsTangent& laws,
                         const TreeTangent& markers)
    : model_(model), tree_(tree), pass_(pass), laws_(laws) {
    const size_t n = tree.links.size();
    here_.resize(n);
    frames_.resize(n);
    four_.resize(n);
    one_.resize(n);
    for (auto* v : {&dx_, &du_, &effort_, &out_}) v->resize(tree.speeds);
    given_.resize(tree.drives.size());
    y_.assign(tree.speeds, 0.0);
    none_.assign(tree.drives.size(), 0.0);
    for (auto* v : {&by_velocity_, &by_acceleration_}) v->resize(pass.branches_);
    const auto seen = [&](int link) { return link < 0 ? Place{} : inverse(pass.chosen(link)); };
    for (int b = 0; b < model.bodies(); ++b) {
        const BodyPlace& place = tree.bodies[b];
        const Place at = seen(place.link) * place.at;
        centres_.push_back(
            {place.link, at.shift, rotation_matrix(model.principal_rotation[b]) * transpose(at.rotation)});
    }
    marks_.assign(n, {-1, -1});
    has_link_.assign(tree.joints.size(), 0);
    const auto add_marker = [&](int joint, int side, const Place& at, double factor) {
        markers_.push_back(markers.marker_columns(joint, side, at, factor));
        return static_cast<int>(markers_.size()) - 1;
    };
    for (size_t i = 0; i < n; ++i) {
        const int number = tree.links[i].joint;
        const TreeJoint& joint = tree.joints[number].joint;
        const bool is_first = i == 0 || tree.links[i - 1].joint != number,
                   is_last = i + 1 == n || tree.links[i + 1].joint != number;
        has_link_[number] = 1;
        if (joint.pair < 0) continue;
        const BodyPlace &above = tree.bodies[joint.parent], &below = tree.bodies[joint.child];
        const int side = joint.reversed ? 1 : 0;
        if (is_first) marks_[i].before = add_marker(number, side, seen(above.link) * above.at * joint.before, 1.0);
        if (is_last) marks_[i].after = add_marker(number, 1 - side, seen(below.link) * below.at * joint.behind, -1.0);
    }
}

bool PassTangent::has_gradients() const {
    return std::all_of(has_link_.begin(), has_link_.end(), [](std::uint8_t has) { return has != 0; });
}

void PassTangent::stand(const Point& at) {
    if (stood_ == pass_.passes()) return;
    stood_ = pass_.passes();
    const Vec3& g = model_.gravity;
    const Twist still{{0, 0, 0}, {0, 0, 0}}, base{{0, 0, 0}, {-g.x, -g.y, -g.z}};
    Twist last = still;  // in registers from link to link where no other is between
    for (size_t n = 0; n < here_.size(); ++n) {
        const int i = static_cast<int>(n);
        const LinkConstants& k = pass_.links_[n];
        const Twist& a = pass_.one_.link[n].velocity;  // an acceleration by now
        Here& h = here_[n];
        if (k.parent != i - 1) last = k.parent < 0 ? still : here_[k.parent].velocity;
        if (k.motion == Motion::turn) {
            const double u = at.u[k.u];
            last = into(i, last);
            last.w.z += u;
            h.own.w.z = u;
            const Vec3 &w = last.w, &v = last.v;
            keep(h.parent, Twist{{a.w.x - w.y * u, a.w.y + w.x * u, a.w.z - at.udot[k.u]},
                                 {a.v.x - v.y * u, a.v.y + v.x * u, a.v.z}});
        } else {
            frames_[n].R = rotation_of(k, at.x), frames_[n].r = shift_of(k, at.x);
            if (k.motion == Motion::free) frames_[n].turn = rotation_matrix(load_quaternion(at.x + k.x + 3));
            h.own = columns(i, at.u);
            last = into(i, last) + h.own;
            h.parent = into(i, k.parent < 0 ? base : pass_.one_.link[k.parent].velocity);
        }
        keep(h.velocity, last);
        const Load momentum = inertial(i, last);
        keep(h.momentum, momentum);
        Load force = inertial(i, a);
        force += cross(last, momentum);
        keep(h.force, force);
    }
    Load carried = kUnloaded;
    for (size_t n = here_.size(); n-- > 0;) {
        const int i = static_cast<int>(n), parent = pass_.links_[n].parent;
        carried += here_[n].force;
        keep(here_[n].force, carried);
        if (parent >= 0) carried = out_of(i, carried);
        if (parent == i - 1) continue;
        if (parent >= 0) here_[parent].force += carried;
        carried = kUnloaded;
    }
}

void PassTangent::displace(const Point& at, const Four* dx, const Four* du) {
    const MotionT<Four> still{};
    MotionT<Four> dv = still, da = still;
    for (size_t n = 0; n < here_.size(); ++n) {
        const int i = static_cast<int>(n);
        const LinkConstants& k = pass_.links_[n];
        const Here& h = here_[n];
        Work<Four>& w = four_[n];
        if (k.parent != i - 1) {
            dv = k.parent < 0 ? still : four_[k.parent].velocity;
            da = k.parent < 0 ? still : four_[k.parent].acceleration;
        }
        dv = into(i, dv);
        da = into(i, da);
        if (k.motion == Motion::turn) {
            const Four q = dx[k.u], speed = du[k.u];
            const Twist &v = h.velocity, &a = h.parent;
            const double rate = h.own.w.z;
            dv.w.x += v.w.y * q, dv.w.y -= v.w.x * q, dv.w.z += speed;
            dv.v.x += v.v.y * q, dv.v.y -= v.v.x * q;
            da.w.x += a.w.y * q + dv.w.y * rate + v.w.y * speed, da.w.y -= a.w.x * q + dv.w.x * rate + v.w.x * speed;
            da.v.x += a.v.y * q + dv.v.y * rate + v.v.y * speed, da.v.y -= a.v.x * q + dv.v.x * rate + v.v.x * speed;
        } else {
            const MotionT<Four> sigma = columns(i, dx);
            MotionT<Four> own = columns(i, du);
            if (k.motion == Motion::free) {
                own.v += cross(h.own.v, sigma.w);
                da.v += cross(columns(i, at.udot).v, sigma.w) - cross(own.w, h.own.v) - cross(h.own.w, own.v);
            }
            const Twist before{h.velocity.w - h.own.w, h.velocity.v - h.own.v};
            dv += cross(before, sigma) + own;
            da += cross(h.parent, sigma) + cross(dv, h.own) + cross(h.velocity, own);
        }
        w.velocity = dv;
        w.acceleration = da;
        ForceT<Four> load = inertial(i, da);
        load += cross(dv, h.momentum);
        load += cross(h.velocity, inertial(i, dv));
        w.load = load;
    }
}

// Eliminates the joints as TreePass has; with dx, loads turn with the links that they act on.
template <class T>
void PassTangent::up(const T* efforts, const T* given, const Four* dx, Work<T>* work) {
    ForceT<T> p{};
    for (size_t n = here_.size(); n-- > 0;) {
        const int i = static_cast<int>(n);
        const LinkConstants& k = pass_.links_[n];
        const LinkWork<double>& link = pass_.one_.link[n];
        Work<T>& w = work[n];
        p += w.load;
        const double* extra = pass_.one_.extra.data() + kExtra * std::max(k.extra, 0);
        if (k.motion == Motion::turn || k.motion == Motion::slide) {
            const bool turns = k.motion == Motion::turn;
            const T left = efforts[k.u] - (turns ? p.n.z : p.f.z);
            const T z = k.given >= 0 ? given[k.given] : left * link.inverse;
            (turns ? w.free.w.z : w.free.v.z) = k.given >= 0 ? z : left;
            if (k.given >= 0) w.load = p;  // that it asks for
            p += scaled(link.U, z);
        } else if (k.motion == Motion::ball) {
            Mat3 G;
            std::copy_n(extra + 3, 9, G.m);
            const Vec3T<T> tau = load(efforts + k.u), left = tau - p.n;
            w.free.w = load_factors(extra + 12).solve(left);
            p = {tau, p.f + transpose_times(G, left)};
        } else {
            Mat3 G;
            std::copy_n(extra + 6, 9, G.m);
            const Vec3T<T> left = p.n - load(efforts + k.u + 3),
                           across = p.f - transpose_times(frames_[n].turn, load(efforts + k.u));
            const Vec3T<T> a = -load_factors(extra + 15 + kFactors).solve(across - transpose_times(G, left));
            w.free = {-load_factors(extra + 15).solve(left) - G * a, a};
        }
        if (k.parent < 0) {
            p = ForceT<T>{};
            continue;
        }
        if constexpr (std::is_same_v<T, Four>) {
            const Load& F = here_[n].force;
            if (k.motion == Motion::turn) {
                const Four q = dx[k.u];
                p.n.x -= q * F.n.y, p.n.y += q * F.n.x;
                p.f.x -= q * F.f.y, p.f.y += q * F.f.x;
            } else {
                p += cross(columns(i, dx), F);
            }
        }
        p = out_of(i, p);
        if (k.parent == i - 1) continue;
        work[k.parent].load += p;
        p = ForceT<T>{};
    }
}

template <class T>
void PassTangent::down(Work<T>* work, T* out) const {
    const MotionT<T> still{};
    MotionT<T> a = still;
    for (size_t n = 0; n < here_.size(); ++n) {
        const int i = static_cast<int>(n);
        const LinkConstants& k = pass_.links_[n];
        const LinkWork<double>& link = pass_.one_.link[n];
        Work<T>& w = work[n];
        if (k.parent != i - 1) a = k.parent < 0 ? still : work[k.parent].acceleration;
        a = into(i, a);
        if (k.motion == Motion::turn || k.motion == Motion::slide) {
            const bool turns = k.motion == Motion::turn;
            const T free = turns ? w.free.w.z : w.free.v.z;
            const T z = k.given >= 0 ? free : (free - along(a, link.U)) * link.inverse;
            out[k.u] = z;
            (turns ? a.w.z : a.v.z) += z;
        } else if (k.motion == Motion::ball) {
            Mat3 G;
            std::copy_n(pass_.one_.extra.data() + kExtra * k.extra + 3, 9, G.m);
            const Vec3T<T> total = w.free.w - G * a.v;
            store(out + k.u, total - a.w);
            a.w = total;
        } else {
            store(out + k.u, frames_[n].turn * (w.free.v - a.v));
            store(out + k.u + 3, w.free.w - a.w);
            a = w.free;
        }
        keep(w.acceleration, a);
    }
}

void PassTangent::efforts_along(const Point& at, const Directions& d, const ModelTangent& numbers) {
    Dual4 time = at.t;
    if (d.t != nullptr) std::memcpy(&time.d, d.t, sizeof time.d);
    std::fill(effort_.begin(), effort_.end(), Four{});
    laws_.along({at.t, at.x, at.u}, time.d, dx_.data(), du_.data(), numbers, effort_.data());
    for (size_t i = 0; i < given_.size(); ++i) {
        const Drive& drive = tree_.drives[i];
        given_[i] = Four{};
        if (drive.function < 0) continue;
        const FunctionValueT<Dual4> f =
            model_.functions[drive.function].tangent(numbers.function_params(drive.function), time);
        given_[i] = f.d2.d / drive.factor;
    }
}

void PassTangent::tangent(const Point& at, const Directions& d, const ModelTangent& numbers, double* out) {
    stand(at);
    fill(dx_, d.x);
    fill(du_, d.u);
    efforts_along(at, d, numbers);
    displace(at, dx_.data(), du_.data());
    up(effort_.data(), given_.data(), dx_.data(), four_.data());
    down(four_.data(), out_.data());
    std::memcpy(out, out_.data(), out_.size() * sizeof(Four));
}

template void PassTangent::up<double>(const double*, const double*, const Four*, Work<double>*);
template void PassTangent::down<double>(Work<double>*, double*) const;

}  // namespace bellcrank::recursive
