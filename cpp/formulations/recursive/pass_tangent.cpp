// Down, how velocities and accelerations at given u̇ change, and with them what each link asks for (tree_tangent.cpp):
//   δf = I δa + δv ×* (I v) + v ×* (I δv).                                                                (1)
// Up, with F the force that a joint exerts,  δF_p += Xᵀ (δF + σ ×* F),  and M δu̇ = δτ − Sᵀ δF,               (2)
// solved on the same ways by what TreePass keeps of the elimination.
//
// Backwards: y = M⁻¹ ū moves the links at Y. Gradients by δa and δv begin with −I Y and Y ×* (I v) + I (v × Y), go up
// like forces, and leave at each joint what (1) and (2) make of σ, δu and numbers.
#include "formulations/recursive/pass_tangent.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "formulations/recursive/joint_kernels.hpp"

namespace bellcrank::recursive {

namespace {

constexpr Load kUnloaded{{0, 0, 0}, {0, 0, 0}};

template <class T>
T spread(double s) {
    if constexpr (std::is_same_v<T, double>)
        return s;
    else
        return T{s, s, s, s};
}

template <class T>
ForceT<T> scaled(const Load& U, const T& s) {
    return {{U.n.x * s, U.n.y * s, U.n.z * s}, {U.f.x * s, U.f.y * s, U.f.z * s}};
}

template <class T>
T along(const MotionT<T>& a, const Load& U) {
    return a.w.x * U.n.x + a.w.y * U.n.y + a.w.z * U.n.z + (a.v.x * U.f.x + a.v.y * U.f.y + a.v.z * U.f.z);
}

// Number by number: where two have just been stored one by one, compilers would wait to load both at once.
template <class T>
void keep(Vec3T<T>& to, const Vec3T<T>& from) {
    to.x = from.x, to.y = from.y, to.z = from.z;
}
template <class T>
void keep(MotionT<T>& to, const MotionT<T>& from) {
    keep(to.w, from.w), keep(to.v, from.v);
}
template <class T>
void keep(ForceT<T>& to, const ForceT<T>& from) {
    keep(to.n, from.n), keep(to.f, from.f);
}

void fill(std::vector<Four, AlignedAllocator<Four>>& out, const double* from) {
    if (from == nullptr)
        std::fill(out.begin(), out.end(), Four{});
    else
        std::memcpy(out.data(), from, out.size() * sizeof(Four));
}

// z × of a force, by a factor.
Load across_axis(double by, const Load& f) { return {{-by * f.n.y, by * f.n.x, 0.0}, {-by * f.f.y, by * f.f.x, 0.0}}; }

Load minus(const Load& a, const Load& b) { return {a.n - b.n, a.f - b.f}; }

int block_of(const Model& model, int row) {
    int block = 0;
    while (model.blocks[block].row_end <= row) ++block;
    return block;
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

// What (1) and (2) make of a joint, from the gradients by δa and δv: those by its coordinate and speed, and by how its
// frame moves before it, which is given back, and behind it. A frame behind a joint that moves in its body moves all
// that the link carries the other way; beside σ that is a change of the joint's columns as the link sees them.
[[gnu::always_inline]] inline Load PassTangent::leave_turn(const Point& at, int i, const Load& by_a, Load& by_v,
                                                           double& x, double& u, ModelGradient& by_numbers) const {
    const LinkConstants& k = pass_.links_[i];
    const Here& h = here_[i];
    const Twist &Y = one_[i].acceleration, &v = h.velocity;
    const double rate = h.own.w.z, y = y_[k.u];
    by_v += across_axis(rate, by_a);
    const Load own = minus(by_v, cross(v, by_a));
    Load place = cross(Twist{{Y.w.x, Y.w.y, Y.w.z - y}, Y.v}, h.force);
    place += -1.0 * cross(h.parent, by_a);
    place += -1.0 * cross(Twist{{v.w.x, v.w.y, v.w.z - rate}, v.v}, by_v);
    x = place.n.z;
    u = own.n.z;
    if (const int after = marks_[i].after; after >= 0) {
        Load all = y * h.force;
        all += -rate * own;
        all += -at.udot[k.u] * by_a;
        Load carried = place;
        carried += across_axis(1.0, all);
        TreeTangent::take_marker(markers_[after], carried, by_numbers);
    }
    return place;
}

Load PassTangent::leave_other(const Point& at, int i, const Load& by_a, Load& by_v, double* x, double* u,
                              ModelGradient& by_numbers) const {
    const LinkConstants& k = pass_.links_[i];
    const Here& h = here_[i];
    const Twist &Y = one_[i].acceleration, joint = columns(i, y_.data()), rates = columns(i, at.udot);
    by_v += cross(h.own, by_a);
    Load own = minus(by_v, cross(h.velocity, by_a));
    Load place = cross(Twist{Y.w - joint.w, Y.v - joint.v}, h.force);
    place += -1.0 * cross(h.parent, by_a);
    place += -1.0 * cross(Twist{h.velocity.w - h.own.w, h.velocity.v - h.own.v}, by_v);
    Load turned = place;
    if (k.motion == Motion::free) {
        own.n += -cross(h.own.v, by_a.f);
        own.f += -cross(by_a.f, h.own.w);
        turned.n += cross(by_a.f, rates.v) + cross(own.f, h.own.v);
    }
    const auto project = [&](const Load& by, double* to) {
        if (k.motion == Motion::slide) to[0] = by.f.z;
        if (k.motion == Motion::ball) store(to, by.n);
        if (k.motion == Motion::free) store(to, frames_[i].turn * by.f), store(to + 3, by.n);
    };
    project(turned, x + k.u);
    project(own, u + k.u);
    if (const int after = marks_[i].after; after >= 0) {
        Load carried = place;
        carried += cross(joint, h.force);
        carried += -1.0 * cross(h.own, own);
        carried += -1.0 * cross(rates, by_a);
        TreeTangent::take_marker(markers_[after], carried, by_numbers);
    }
    return place;
}

void PassTangent::adjoint(const Point& at, const double* of_rates, double& by_t, double* x, double* u,
                          ModelGradient& by_numbers) {
    stand(at);
    for (Work<double>& w : one_) w.load = kUnloaded;
    up(of_rates, none_.data(), nullptr, one_.data());
    down(one_.data(), y_.data());
    std::fill(by_velocity_.begin(), by_velocity_.end(), kUnloaded);
    std::fill(by_acceleration_.begin(), by_acceleration_.end(), kUnloaded);
    Vec3 by_gravity{0, 0, 0};
    Load by_v = kUnloaded, by_a = kUnloaded;
    for (size_t n = here_.size(); n-- > 0;) {
        const int i = static_cast<int>(n);
        const LinkConstants& k = pass_.links_[n];
        const Here& h = here_[n];
        const Twist& Y = one_[n].acceleration;
        if (k.branch >= 0) by_v += by_velocity_[k.branch], by_a += by_acceleration_[k.branch];
        by_a += -1.0 * inertial(i, Y);
        by_v += cross(Y, h.momentum);
        by_v += inertial(i, cross(h.velocity, Y));
        const Load place = k.motion == Motion::turn ? leave_turn(at, i, by_a, by_v, x[k.u], u[k.u], by_numbers)
                                                    : leave_other(at, i, by_a, by_v, x, u, by_numbers);
        if (const Marks& marks = marks_[n]; marks.before >= 0)
            TreeTangent::take_marker(markers_[marks.before], out_of(i, place), by_numbers);
        by_v = out_of(i, by_v);
        by_a = out_of(i, by_a);
        if (k.parent < 0) by_gravity += -by_a.f;
        if (k.parent == i - 1) continue;
        if (k.parent >= 0) {
            const int branch = pass_.links_[k.parent].branch;
            by_velocity_[branch] += by_v, by_acceleration_[branch] += by_a;
        }
        by_v = by_a = kUnloaded;
    }
    add(by_numbers[NumberArray::gravity].data(), by_gravity);
    laws_.transposed({at.t, at.x, at.u}, y_.data(), {}, by_t, x, u, by_numbers);
    add_given(at, of_rates, by_t, by_numbers);
    add_bodies(by_numbers);
}

// What a drive has to exert is the gradient by its second derivative, with the opposite sign. A rotor is an inertia.
void PassTangent::add_given(const Point& at, const double* of_rates, double& by_t, ModelGradient& by_numbers) const {
    for (const Drive& drive : tree_.drives) {
        const LinkConstants& k = pass_.links_[drive.link];
        const Load& p = one_[drive.link].load;
        if (drive.function < 0) continue;
        const Twist still{{0, 0, 0}, {0, 0, 0}};
        const Twist a = into(drive.link, k.parent < 0 ? still : one_[k.parent].acceleration);
        const double exerted =
            along(a, pass_.one_.link[drive.link].U) + (k.motion == Motion::turn ? p.n.z : p.f.z) - of_rates[k.u];
        Dual4 time = at.t;
        time.d[0] = 1.0;
        const Dual4 second = model_.functions[drive.function].tangent(time).d2;
        by_t -= exerted * second.d[0] / drive.factor;
        by_numbers[NumberArray::term_coefficient][model_.rows[drive.row].term_begin] +=
            exerted * second.value / (drive.factor * drive.factor);
    }
    for (const Rotor& rotor : tree_.rotors) {
        const double along = y_[rotor.speed] * at.udot[rotor.speed], ratio = rotor.factor / rotor.compliance;
        by_numbers[NumberArray::term_coefficient][model_.rows[rotor.row].term_begin] -= 2.0 * along * ratio;
        by_numbers[NumberArray::block_compliance][block_of(model_, rotor.row)] += along * ratio * ratio;
    }
}

// Of −Y · (I a + v ×* (I v)), at the centre of mass c: with Y_c, A the motion and the acceleration there,
//   −m Y_c·A − Y_w·(J ω̇ + ω × J ω).
void PassTangent::add_bodies(ModelGradient& by_numbers) const {
    double *mass = by_numbers[NumberArray::body_mass].data(), *com = by_numbers[NumberArray::body_com].data(),
           *inertia = by_numbers[NumberArray::body_inertia].data();
    for (size_t b = 0; b < centres_.size(); ++b) {
        const Centre& c = centres_[b];
        if (c.link < 0) continue;
        const Twist &Y = one_[c.link].acceleration, &a = pass_.one_.link[c.link].velocity, &v = here_[c.link].velocity;
        const Vec3 moved = Y.v + cross(Y.w, c.at), rate = a.v + cross(a.w, c.at) + cross(v.w, v.v + cross(v.w, c.at)),
                   across = cross(moved, v.w);
        mass[b] -= dot(moved, rate);
        const Vec3 by_place = cross(rate, Y.w) + cross(moved, a.w) + cross(across, v.w);
        add(com + 3 * b, -model_.mass[b] * (c.axes * by_place));
        const Vec3 p = c.axes * Y.w, q = c.axes * a.w, r = c.axes * cross(Y.w, v.w), s = c.axes * v.w;
        const double xx = p.x * q.x + r.x * s.x, yy = p.y * q.y + r.y * s.y, zz = p.z * q.z + r.z * s.z,
                     xy = 0.5 * (p.x * q.y + p.y * q.x + r.x * s.y + r.y * s.x),
                     xz = 0.5 * (p.x * q.z + p.z * q.x + r.x * s.z + r.z * s.x),
                     yz = 0.5 * (p.y * q.z + p.z * q.y + r.y * s.z + r.z * s.y);
        double* J = inertia + 9 * b;
        J[0] -= xx, J[1] -= xy, J[2] -= xz;
        J[3] -= xy, J[4] -= yy, J[5] -= yz;
        J[6] -= xz, J[7] -= yz, J[8] -= zz;
    }
}

}  // namespace bellcrank::recursive
