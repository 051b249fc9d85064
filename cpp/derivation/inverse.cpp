// Inverse dynamics in the links' own axes: a forward pass of angular velocity, angular acceleration and acceleration of
// the origin, a backward pass of moments and forces.
#include "derivation/dynamics.hpp"
#include "expression/derivative.hpp"

namespace bellcrank::symbolic {

namespace {

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
        return {uzx * J.xy - uyx * J.xz + uzy * J.yy - uyz * J.zz + (zz - yy) * J.yz,
                uxy * J.yz - uzy * J.xy + uxz * J.zz - uzx * J.xx + (xx - zz) * J.xz,
                uyz * J.xz - uxz * J.yz + uyx * J.xx - uxy * J.yy + (yy - xx) * J.xy};
    }
};

struct LinkMotion {
    Vector w, wdot, a;  // ω, ω̇, acceleration of the origin less gravity; the link's axes
};

class Recursion {
  public:
    Recursion(const LinkTree& tree, const AxisMotion& motion, bool lumped)
        : tree_(tree), motion_(motion), lumped_(lumped) {}

    std::vector<Expression> forces(const std::vector<Wrench>& applied) {
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
            turn = turn + scaled(s, axis.angular);
            shift = shift + scaled(s, axis.linear);
            turn_rate = turn_rate + scaled(sdot, axis.angular) + scaled(s, axis.angular_rate);
            shift_rate = shift_rate + scaled(sdot, axis.linear) + scaled(s, axis.linear_rate);
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

    void load(size_t k, const std::vector<Wrench>& applied) {
        const Moments& m = lumped_ ? tree_.links[k].lumped : tree_.links[k].moments;
        const Vector& a = motions_[k].a;
        Wrench w{tensors_[k].moment(m.second) + cross(m.first, a), tensors_[k].times(m.first) + scaled(m.mass, a)};
        if (!applied.empty()) w = {w.moment - applied[k].moment, w.force - applied[k].force};
        wrenches_.push_back(w);
    }

    void backward(size_t k, std::vector<Expression>& per_axis) {
        const Link& link = tree_.links[k];
        const Wrench& w = wrenches_[k];
        const Vector force = before_motion(link, w.force);
        Vector moment = before_motion(link, w.moment);
        const int i = link.first_axis;
        switch (link.motion) {
            case Motion::turn:
                per_axis[i] = w.moment.z;
                break;
            case Motion::slide:
                per_axis[i] = w.force.z;
                break;
            case Motion::ball:
                per_axis[i] = w.moment.x;
                per_axis[i + 1] = w.moment.y;
                per_axis[i + 2] = w.moment.z;
                break;
            default:  // general
                for (int c = i; c < i + link.axes; ++c)
                    per_axis[c] = dot(tree_.axes[c].angular, w.moment) + dot(tree_.axes[c].linear, force);
                break;
        }
        if (link.parent < 0) return;
        moment = moment + cross(displacement(tree_, link), force);
        Wrench& parent = wrenches_[link.parent];
        const Vector f = from_joint(link, force);
        parent.force = parent.force + f;
        parent.moment = parent.moment + from_joint(link, moment) + cross(link.offset, f);
    }

    const LinkTree& tree_;
    const AxisMotion& motion_;
    bool lumped_;
    std::vector<LinkMotion> motions_;
    std::vector<AccelerationTensor> tensors_;
    std::vector<Wrench> wrenches_;
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
                                         const std::vector<Wrench>& applied) {
    return Recursion(tree, motion, lumped).forces(applied);
}

}  // namespace bellcrank::symbolic
