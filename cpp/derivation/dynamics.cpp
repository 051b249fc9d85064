#include "derivation/dynamics.hpp"

#include <algorithm>

namespace bellcrank::symbolic {

namespace {

// Inverse dynamics in the links' own axes: a forward pass of angular velocity, angular acceleration and acceleration of
// the origin, a backward pass of moments and forces.
// U = skew(ω̇) + skew(ω)², by its products; r̈ of a point is a + U r. Diagonal entries are formed on demand.
struct AccelerationTensor {
    Vector angular;         // ω̇
    Expression xx, yy, zz;  // squares of ω
    Expression xy, xz, yz;  // products of ω

    AccelerationTensor(const Vector& w, const Vector& wdot)
        : angular(wdot), xx(w.x * w.x), yy(w.y * w.y), zz(w.z * w.z), xy(w.x * w.y), xz(w.x * w.z), yz(w.y * w.z) {}

    Vector times(const Vector& r) const {
        const Vector& d = angular;
        return {(xy - d.z) * r.y + (xz + d.y) * r.z - (yy + zz) * r.x,
                (xy + d.z) * r.x + (yz - d.x) * r.z - (xx + zz) * r.y,
                (xz - d.y) * r.x + (yz + d.x) * r.y - (xx + yy) * r.z};
    }
    // ∫ r × U r dm = vee(U J − J Uᵀ).
    Vector moment(const Symmetric& J) const {
        const Vector& d = angular;
        const Expression uxy = xy - d.z, uyx = xy + d.z, uxz = xz + d.y, uzx = xz - d.y, uyz = yz - d.x, uzy = yz + d.x;
        return {uzx * J.xy() - uyx * J.xz() + uzy * J.yy() - uyz * J.zz() + (zz - yy) * J.yz(),
                uxy * J.yz() - uzy * J.xy() + uxz * J.zz() - uzx * J.xx() + (xx - zz) * J.xz(),
                uyz * J.xz() - uxz * J.yz() + uyx * J.xx() - uxy * J.yy() + (yy - xx) * J.xy()};
    }
};

struct LinkMotion {
    Vector w, wdot, a;  // ω, ω̇, acceleration of the origin less gravity; the link's axes
};

class Recursion {
  public:
    Recursion(const LinkTree& tree, const AxisMotion& motion, bool lumped)
        : tree_(tree), motion_(motion), lumped_(lumped) {}

    std::vector<Expression> forces(const std::vector<Load>& applied) {
        for (size_t k = 0; k < tree_.links.size(); ++k) forward(k);
        for (size_t k = 0; k < tree_.links.size(); ++k) load(k, applied);
        std::vector<Expression> per_axis(tree_.axes.size());
        for (size_t k = tree_.links.size(); k-- > 0;) backward(k, per_axis);
        std::vector<Expression> Q(tree_.speeds(), tree_.number(0.0));
        for (size_t i = 0; i < tree_.axes.size(); ++i)
            for (const Share& share : tree_.axes[i].shares)
                Q[share.speed] = Q[share.speed] + share.factor * per_axis[i];
        return Q;
    }

  private:
    Vector zero() const { return zero_vector(*tree_.graph); }

    Vector parent_acceleration(const Link& link) const {
        if (link.parent < 0) return -tree_.gravity;
        return motions_[link.parent].a + tensors_[link.parent].times(link.offset);
    }

    void forward(size_t k) {
        const Link& link = tree_.links[k];
        const bool base = link.parent < 0;
        const Vector w = base ? zero() : to_joint(link, motions_[link.parent].w);
        const Vector wdot = base ? zero() : to_joint(link, motions_[link.parent].wdot);
        const Vector a = to_joint(link, parent_acceleration(link));
        switch (link.motion) {
            case Motion::turn:
                motions_.push_back(turned(link, w, wdot, a));
                break;
            case Motion::slide:
                motions_.push_back(slid(link, w, wdot, a));
                break;
            case Motion::ball:
                motions_.push_back(rolled(link, w, wdot, a));
                break;
            default:  // general
                motions_.push_back(moved(link, w, wdot, a));
                break;
        }
        tensors_.emplace_back(motions_.back().w, motions_.back().wdot);
    }

    LinkMotion turned(const Link& link, const Vector& w0, const Vector& wdot0, const Vector& a) const {
        const Expression s = motion_.rates[link.first_axis], sdot = motion_.accelerations[link.first_axis];
        const Vector w = rotated_back(link.turn, w0), wdot = rotated_back(link.turn, wdot0);
        return {{w.x, w.y, w.z + s}, {wdot.x + w.y * s, wdot.y - w.x * s, wdot.z + sdot}, rotated_back(link.turn, a)};
    }

    // The slide's own part: U z δ + 2 ω × z δ̇ + z δ̈.
    LinkMotion slid(const Link& link, const Vector& w, const Vector& wdot, const Vector& a) const {
        const Expression s = motion_.rates[link.first_axis], sdot = motion_.accelerations[link.first_axis];
        const Expression twice = 2.0 * s;
        const Vector far = AccelerationTensor(w, wdot).times(displacement(tree_, link));
        return {w, wdot, {a.x + far.x + twice * w.y, a.y + far.y - twice * w.x, a.z + far.z + sdot}};
    }

    LinkMotion rolled(const Link& link, const Vector& w0, const Vector& wdot0, const Vector& a) const {
        const Vector s = axis_vector(link, motion_.rates), sdot = axis_vector(link, motion_.accelerations);
        const Vector w = across_motion(link, w0);
        return {w + s, across_motion(link, wdot0) + sdot + cross(w, s), across_motion(link, a)};
    }

    LinkMotion moved(const Link& link, const Vector& w0, const Vector& wdot0, const Vector& a) const {
        Vector turn = zero(), turn_rate = zero(), shift = zero(), shift_rate = zero();
        for (int i = link.first_axis; i < link.first_axis + link.axes; ++i) {
            const Axis& axis = tree_.axes[i];
            const Expression s = motion_.rates[i], sdot = motion_.accelerations[i];
            turn = turn + s * axis.angular;
            shift = shift + s * axis.linear;
            turn_rate = turn_rate + sdot * axis.angular + s * axis.angular_rate;
            shift_rate = shift_rate + sdot * axis.linear + s * axis.linear_rate;
        }
        const Vector w = across_motion(link, w0);
        const Vector far = AccelerationTensor(w0, wdot0).times(link.shift);
        const Vector coriolis = cross(w0, shift);
        return {w + turn, across_motion(link, wdot0) + turn_rate + cross(w, turn),
                across_motion(link, a + far + coriolis + coriolis + shift_rate)};
    }

    Vector axis_vector(const Link& link, const std::vector<Expression>& values) const {
        const int i = link.first_axis;
        return {values[i], values[i + 1], values[i + 2]};
    }

    void load(size_t k, const std::vector<Load>& applied) {
        const Moments& m = lumped_ ? tree_.links[k].lumped : tree_.links[k].moments;
        const Vector& a = motions_[k].a;
        Load w{tensors_[k].moment(m.second) + cross(m.first, a), tensors_[k].times(m.first) + m.mass * a};
        if (!applied.empty()) w = {w.n - applied[k].n, w.f - applied[k].f};
        wrenches_.push_back(w);
    }

    void backward(size_t k, std::vector<Expression>& per_axis) {
        const Link& link = tree_.links[k];
        const Load& w = wrenches_[k];
        const Vector force = before_motion(link, w.f);
        Vector moment = before_motion(link, w.n);
        const int i = link.first_axis;
        switch (link.motion) {
            case Motion::turn:
                per_axis[i] = w.n.z;
                break;
            case Motion::slide:
                per_axis[i] = w.f.z;
                break;
            case Motion::ball:
                per_axis[i] = w.n.x;
                per_axis[i + 1] = w.n.y;
                per_axis[i + 2] = w.n.z;
                break;
            default:  // general
                for (int c = i; c < i + link.axes; ++c)
                    per_axis[c] = dot(tree_.axes[c].angular, w.n) + dot(tree_.axes[c].linear, force);
                break;
        }
        if (link.parent < 0) return;
        moment = moment + cross(displacement(tree_, link), force);
        Load& parent = wrenches_[link.parent];
        const Vector f = from_joint(link, force);
        parent += Load{from_joint(link, moment) + cross(link.offset, f), f};
    }

    const LinkTree& tree_;
    const AxisMotion& motion_;
    bool lumped_;
    std::vector<LinkMotion> motions_;
    std::vector<AccelerationTensor> tensors_;
    std::vector<Load> wrenches_;
};

// The mass matrix by composite inertias: what a unit acceleration of an axis does to all that it carries, taken to the
// base; and its factorization.
class Composite {
  public:
    Composite(const LinkTree& tree, bool lumped) : tree_(tree), M_(tree.speeds()) {
        for (const Link& link : tree.links) carried_.push_back(lumped ? link.lumped : link.moments);
    }

    LowerTriangle matrix() {
        for (size_t k = tree_.links.size(); k-- > 0;) {
            const Link& link = tree_.links[k];
            for (int i = link.first_axis; i < link.first_axis + link.axes; ++i) column(i);
            if (link.parent >= 0) carry(k);
        }
        return M_;
    }

  private:
    // All that the link carries, in its joint frame's axes about the joint frame's origin, then in the parent's.
    void carry(size_t k) {
        const Link& link = tree_.links[k];
        Moments m = carried_[k];
        m.first = before_motion(link, m.first);
        if (link.motion == Motion::turn) m.second = rotated(link.turn, m.second);
        if (link.motion == Motion::ball || link.motion == Motion::general) m.second = rotated(link.rotation, m.second);
        m = shifted(m, displacement(tree_, link));
        for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) {
            m.first = rotated(*turn, m.first);
            m.second = rotated(*turn, m.second);
        }
        carried_[link.parent] += shifted(m, link.offset);
    }

    // The wrench in the link's axes about its origin that accelerates what it carries by the twist (angular, linear).
    Load inertial(const Moments& m, const Vector& angular, const Vector& linear) const {
        const Symmetric& J = m.second;
        const Vector& a = angular;
        const Vector spin{(J.yy() + J.zz()) * a.x - J.xy() * a.y - J.xz() * a.z,
                          (J.xx() + J.zz()) * a.y - J.xy() * a.x - J.yz() * a.z,
                          (J.xx() + J.yy()) * a.z - J.xz() * a.x - J.yz() * a.y};
        return {spin + cross(m.first, linear), cross(a, m.first) + m.mass * linear};
    }

    void column(int i) {
        const Axis& axis = tree_.axes[i];
        const Link& link = tree_.links[axis.link];
        Vector angular = zero_vector(*tree_.graph), linear = angular;
        const Expression one = tree_.number(1.0);
        if (link.motion == Motion::turn) angular.z = one;
        if (link.motion == Motion::slide) linear.z = one;
        if (link.motion == Motion::ball)
            (axis.number == 0 ? angular.x : axis.number == 1 ? angular.y : angular.z) = one;
        if (link.motion == Motion::general) {
            angular = axis.angular;
            linear = across_motion(link, axis.linear);
        }
        Load w = inertial(carried_[axis.link], angular, linear);
        for (int k = axis.link; k >= 0; k = tree_.links[k].parent) {
            const Link& at = tree_.links[k];
            const Vector force = before_motion(at, w.f);
            for (int j = at.first_axis; j < at.first_axis + at.axes && j <= i; ++j) add(i, j, entry(j, w, force));
            if (at.parent < 0) break;
            const Vector moment = before_motion(at, w.n) + cross(displacement(tree_, at), force);
            const Vector f = from_joint(at, force);
            w = {from_joint(at, moment) + cross(at.offset, f), f};
        }
    }

    // The force along axis j of the wrench on its link.
    Expression entry(int j, const Load& w, const Vector& joint_force) const {
        const Axis& axis = tree_.axes[j];
        switch (tree_.links[axis.link].motion) {
            case Motion::turn:
                return w.n.z;
            case Motion::slide:
                return w.f.z;
            case Motion::ball:
                return axis.number == 0 ? w.n.x : axis.number == 1 ? w.n.y : w.n.z;
            default:  // general
                break;
        }
        return dot(axis.angular, w.n) + dot(axis.linear, joint_force);
    }

    // What the axes i and j have in common counts for every pair of speeds that move them.
    void add(int i, int j, Expression value) {
        for (const Share& a : tree_.axes[i].shares)
            for (const Share& b : tree_.axes[j].shares) {
                Expression part = a.factor * b.factor * value;
                if (i != j && a.speed == b.speed) part = part + part;
                Expression& entry = M_.at(std::max(a.speed, b.speed), std::min(a.speed, b.speed));
                if (i == j && a.speed < b.speed) continue;
                entry = entry.graph == nullptr ? part : entry + part;
            }
    }

    const LinkTree& tree_;
    LowerTriangle M_;
    std::vector<Moments> carried_;
};

}  // namespace

AxisMotion full_motion(const LinkTree& tree) {
    AxisMotion motion;
    for (const Axis& axis : tree.axes) {
        motion.rates.push_back(axis.rate);
        motion.accelerations.push_back(axis.acceleration);
    }
    return motion;
}

AxisMotion motion_at_rest(const LinkTree& tree) {
    AxisMotion motion;
    for (const Axis& axis : tree.axes) {
        motion.rates.push_back(axis.rate);
        motion.accelerations.push_back(axis.bias);
    }
    return motion;
}

std::vector<Expression> inverse_dynamics(const LinkTree& tree, const AxisMotion& motion, bool lumped,
                                         const std::vector<Load>& applied) {
    return Recursion(tree, motion, lumped).forces(applied);
}

LowerTriangle composite_mass_matrix(const LinkTree& tree, bool lumped) { return Composite(tree, lumped).matrix(); }

std::vector<Expression> solve_tip_first(const LowerTriangle& M, const std::vector<Expression>& b) {
    const int n = M.size();
    if (n == 0) return {};
    Graph& graph = *b[0].graph;
    LowerTriangle H = M;
    std::vector<Expression> x = b, inverse(n);
    for (int k = n - 1; k >= 0; --k) {
        inverse[k] = {&graph, graph.reciprocal(H.at(k, k).ref)};
        for (int i = k - 1; i >= 0; --i) {
            if (!H.has(k, i)) continue;
            const Expression factor = H.at(k, i) * inverse[k];
            for (int j = i; j >= 0; --j) {
                if (!H.has(k, j)) continue;
                const Expression update = factor * H.at(k, j);
                H.at(i, j) = H.has(i, j) ? H.at(i, j) - update : -update;
            }
            x[i] = x[i] - factor * x[k];
            H.at(k, i) = factor;
        }
    }
    for (int k = 0; k < n; ++k) {
        x[k] = x[k] * inverse[k];
        for (int i = 0; i < k; ++i)
            if (H.has(k, i)) x[k] = x[k] - H.at(k, i) * x[i];
    }
    return x;
}

}  // namespace bellcrank::symbolic
