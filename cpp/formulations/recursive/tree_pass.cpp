#include "formulations/recursive/tree_pass.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "formulations/recursive/axial_rows.hpp"
#include "formulations/recursive/joint_kernels.hpp"

namespace bellcrank::recursive {

namespace {

// A link's frame turned about and moved along its axis.
struct ChosenFrame {
    Place at;            // joint frame in the parent's chosen frame
    Place own;           // of itself in the link's
    bool axial = false;  // at = shift along x, turn about x, shift along z
    double along = 0;    // axial: the last of these
    double offset = 0;   // added to the angle
    Vec3 moment{0, 0, 0};
    std::array<double, 6> second{};
};

constexpr double kParallel = 1e-15;    // sine of an angle that is rounding
constexpr double kFar = 20.0;          // feet of the normal, in distances of the origins
constexpr double kLeastLength = 1e-3;  // [m]

Mat3 about_z(double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {{c, -s, 0, s, c, 0, 0, 0, 1}};
}

// How a link's frame is moved: turned by `turn` about z and moved by `shift` along it.
struct Move {
    double turn = 0, shift = 0;
    Place place() const { return {about_z(turn), {0, 0, shift}}; }
};

// The move of the parent after which the child's axis is met along x, about x and along z; false: none.
bool common_normal(const Place& child, Move& out) {
    const Vec3 &o = child.shift, e{child.rotation.m[2], child.rotation.m[5], child.rotation.m[8]};
    const double sine = std::hypot(e.x, e.y);
    if (sine < kParallel) {
        out = {std::hypot(o.x, o.y) > 0.0 ? std::atan2(o.y, o.x) : 0.0, 0.0};
        return true;
    }
    const Vec3 n{-e.y / sine, e.x / sine, 0.0};
    const double s = (-n.y * o.x + n.x * o.y) / sine, t = o.z + s * e.z;
    const double far = kFar * (norm(o) + kLeastLength);
    if (std::abs(s) > far || std::abs(t) > far) return false;
    out = {std::atan2(n.y, n.x), t};
    return true;
}

// at = shift along x, turn about x, shift along z, turn about z: the last goes into the angle.
void take_apart(const Place& at, double shift, ChosenFrame& out) {
    const double* m = at.rotation.m;
    double sine = -m[5], cosine = m[8];
    const double size = std::hypot(sine, cosine);
    sine /= size, cosine /= size;
    out.offset = std::atan2(cosine * m[3] + sine * m[6], m[0]);
    out.along = shift - sine * at.shift.y + cosine * at.shift.z;
    out.at = {{{1, 0, 0, 0, cosine, -sine, 0, sine, cosine}}, {at.shift.x, -sine * out.along, cosine * out.along}};
    out.axial = true;
}

// Mass properties in the moved frame.
void move_mass(const Link& link, const Move& move, ChosenFrame& out) {
    const Vec3& h = link.moment;
    const double t = move.shift, m = link.mass;
    std::array<double, 6> J = link.second;
    J[0] += m * t * t - 2.0 * t * h.z;
    J[1] += m * t * t - 2.0 * t * h.z;
    J[4] += t * h.x;
    J[5] += t * h.y;
    const double c = std::cos(move.turn), s = std::sin(move.turn), z = h.z - m * t;
    out.moment = {c * h.x + s * h.y, c * h.y - s * h.x, z};
    out.second = {c * c * J[0] + s * s * J[1] + 2.0 * s * c * J[3],
                  s * s * J[0] + c * c * J[1] - 2.0 * s * c * J[3],
                  J[2],
                  s * c * (J[1] - J[0]) + (c * c - s * s) * J[3],
                  c * J[4] + s * J[5],
                  c * J[5] - s * J[4]};
}

// The x axis of a turn's frame is put on the common normal to the first turn that hangs on it (J. Denavit and R.
// Hartenberg), unless their axes are so nearly parallel that it is far away.
std::vector<ChosenFrame> choose_frames(const LinkTree& tree) {
    const size_t n = tree.links.size();
    std::vector<Move> moves(n);
    std::vector<bool> axial(n, false);
    for (size_t i = 0; i + 1 < n; ++i) {
        const Link& next = tree.links[i + 1];
        if (next.parent != static_cast<int>(i) || tree.links[i].motion != Motion::turn) continue;
        if (next.motion == Motion::turn) axial[i + 1] = common_normal(next.at, moves[i]);
    }
    std::vector<ChosenFrame> out(n);
    for (size_t i = 0; i < n; ++i) {
        const Link& link = tree.links[i];
        const Place at = link.parent < 0 ? link.at : inverse(moves[link.parent].place()) * link.at;
        if (axial[i]) {
            take_apart(at, moves[i].shift, out[i]);
            out[i].offset += moves[i].turn;
        } else {
            out[i].at = at * moves[i].place();
        }
        out[i].own = moves[i].place();
        move_mass(link, moves[i], out[i]);
    }
    return out;
}

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
    : model_(model), efforts_(model, tree), drives_(tree.drives) {
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
        chosen_.push_back(chosen[i].own);
    }
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

template <class T>
void TreePass::velocities(Workspace<T>& w, const T* x, const T* u) {
    const MotionT<T> rest{zero<T>(), zero<T>()};
    for (size_t i = 0; i < links_.size(); ++i) {
        const LinkConstants& k = links_[i];
        LinkWork<T>& link = w.link[i];
        const MotionT<T>& parent = k.parent < 0 ? rest : w.link[k.parent].velocity;
        if (k.motion == Motion::turn) {
            sine_and_cosine<T>(x[k.x] + k.offset, link.sine, link.cosine);
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
        const FactorsT<T> D(I.A);
        const Vec3T<T> z = -D.solve(asked.n);
        T* extra = w.extra.data() + kExtra * k.extra;
        store(extra, D.solve(p.n));
        store(extra + 12, D);
        Vec3T<T> columns[3];
        for (int j = 0; j < 3; ++j) {
            columns[j] = D.forward(Vec3T<T>{I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]});
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
        const ForceT<T> U = I * axis;
        link.U = U;
        if (k.given >= 0) {
            link.z = number<T>(given_[k.given]);
            a += link.z * axis;
        } else {
            link.inverse = 1.0 / (dot(axis, U) + k.rotor);
            link.z = w.effort[k.u] - dot(axis, p);
            a += (link.inverse * (link.z - dot(c, U))) * axis;
        }
        p += I * a;
        if (k.given < 0) I.add_dyad(-link.inverse, U, U);
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
        columns[j] = D.forward(Vec3T<T>{I.B.m[j], I.B.m[3 + j], I.B.m[6 + j]});
        const Vec3T<T> column = D.back(columns[j]);
        G.m[j] = column.x, G.m[3 + j] = column.y, G.m[6 + j] = column.z;
    }
    D.take_from(I.C, columns);
    const FactorsT<T> rest(I.C);
    const Vec3T<T> n = D.solve(p.n), a = -rest.solve(p.f - transpose_times(I.B, n));
    T* extra = w.extra.data() + kExtra * links_[i].extra;
    store(extra, -n - G * a);
    store(extra + 3, a);
    std::copy_n(G.m, 9, extra + 6);
    store(extra + 15, D);
    store(extra + 15 + kFactors, rest);
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
    const MotionT<T> total{load(extra), load(extra + 3)};
    store(udot + k.u, rotation_matrix(load_quaternion(x + k.x + 3)) * (total.v - a.v));
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
    if constexpr (std::is_same_v<T, double>) ++passes_;
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
