// Accelerations by articulated inertias (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 7.1), in
// classical accelerations of the links' origins: the force that a link feels is (n; f) = I (α; a) + bias.
#include <algorithm>

#include "derivation/dynamics.hpp"

namespace bellcrank::symbolic {

namespace {

// What each joint leaves for the way back: the column U = inertia times axis, 1/d, and the force that is left.
struct Pivot {
    Load U;
    Expression inverse, force;
};

class ArticulatedBodies {
  public:
    ArticulatedBodies(const LinkTree& tree, const std::vector<Expression>& forces, const std::vector<Load>& applied)
        : tree_(tree),
          forces_(forces),
          velocity_(tree.links.size()),
          drift_(tree.links.size()),
          inertia_(tree.links.size()),
          bias_(tree.links.size()),
          pivots_(tree.links.size()) {
        for (size_t k = 0; k < tree.links.size(); ++k) start(k, applied);
    }

    std::vector<Expression> accelerations() {
        for (size_t k = tree_.links.size(); k-- > 0;) gather(k);
        std::vector<Twist> motion(tree_.links.size());
        std::vector<Expression> out(tree_.speeds());
        for (size_t k = 0; k < tree_.links.size(); ++k) {
            Twist a = led(k, motion);
            const Pivot& p = pivots_[k];
            Expression& s = out[axis(k).shares[0].speed];
            s = (p.force - dot(p.U.n, a.w) - dot(p.U.f, a.v)) * p.inverse;
            (is_turn(k) ? a.w.z : a.v.z) += s;
            motion[k] = a;
        }
        return out;
    }

  private:
    const Axis& axis(size_t k) const { return tree_.axes[tree_.links[k].first_axis]; }
    bool is_turn(size_t k) const { return tree_.links[k].motion == Motion::turn; }
    static Vector turned_twice(const Vector& w, const Vector& r) {
        const Expression xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
        const Expression xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
        return {xy * r.y + xz * r.z - (yy + zz) * r.x, xy * r.x + yz * r.z - (xx + zz) * r.y,
                xz * r.x + yz * r.y - (xx + yy) * r.z};
    }

    // Velocity, the accelerations that it causes, and the link's own inertia.
    void start(size_t k, const std::vector<Load>& applied) {
        const Link& link = tree_.links[k];
        const Expression s = axis(k).rate;
        const Vector zero = zero_vector(*tree_.graph);
        const Vector above = link.parent < 0 ? zero : velocity_[link.parent];
        Vector w = to_link(link, above);
        Twist& c = drift_[k];
        c = {zero, to_link(link, turned_twice(above, link.offset))};
        if (is_turn(k)) {
            c.w = {w.y * s, -(w.x * s), zero.x};
            w.z += s;
        } else {
            const Expression twice = 2.0 * s;
            c.v += turned_twice(w, displacement(tree_, link)) + Vector{twice * w.y, -(twice * w.x), zero.x};
        }
        velocity_[k] = w;
        const Moments& m = link.lumped;
        const Symmetric& J = m.second;
        const Vector& h = m.first;
        const Expression o = tree_.number(0.0);
        inertia_[k] = {{{J.yy() + J.zz(), J.xx() + J.zz(), J.xx() + J.yy(), -J.xy(), -J.xz(), -J.yz()}},
                       {{o, -h.z, h.y, h.z, o, -h.x, -h.y, h.x, o}},
                       {{m.mass, m.mass, m.mass, o, o, o}}};
        // ω × I ω with I = tr(J) − J is −ω × J ω.
        bias_[k] = {-cross(w, J * w), turned_twice(w, h)};
        if (!applied.empty()) bias_[k] = {bias_[k].n - applied[k].n, bias_[k].f - applied[k].f};
    }

    // Eliminates the joint, I − U Uᵀ/d (table 7.1), whose row and column of the axis vanish, and hands the rest to the
    // parent.
    void gather(size_t k) {
        const Link& link = tree_.links[k];
        const bool turns = is_turn(k);
        Inertia I = inertia_[k];
        Load bias = bias_[k];
        Expression& along = turns ? bias.n.z : bias.f.z;
        const Expression o = tree_.number(0.0), effort = forces_[axis(k).shares[0].speed];
        Pivot& p = pivots_[k];
        p.U = turns ? Load{{I.A.xz(), I.A.yz(), I.A.zz()}, row(I.B, 2)}
                    : Load{{I.B.m[2], I.B.m[5], I.B.m[8]}, {I.C.xz(), I.C.yz(), I.C.zz()}};
        p.inverse = {tree_.graph, tree_.graph->reciprocal((turns ? p.U.n.z : p.U.f.z).ref)};
        p.force = effort - along;
        if (link.parent < 0) return;
        I.add_dyad(-p.inverse, p.U, p.U);
        Symmetric& of_axis = turns ? I.A : I.C;
        of_axis.xz() = of_axis.yz() = of_axis.zz() = o;
        for (int i = 0; i < 3; ++i) I.B.m[turns ? 6 + i : 2 + 3 * i] = o;
        bias += I * drift_[k];
        bias += (p.inverse * p.force) * p.U;
        along = effort;  // the link feels just the joint's own force there
        give(link, I, bias);
    }

    // Adds to the parent: turned into its axes, then seen from its origin.
    void give(const Link& link, Inertia& I, Load& bias) {
        const auto turn = [&I](const Turn& by) { I = {rotated(by, I.A), conjugated(by, I.B), rotated(by, I.C)}; };
        const auto move = [&](const Vector& p) {
            if (is_zero(p)) return;
            shift(p, I);
            bias.n += cross(p, bias.f);
        };
        if (link.motion == Motion::turn) turn(link.turn);
        bias = {before_motion(link, bias.n), before_motion(link, bias.f)};
        move(displacement(tree_, link));
        std::for_each(link.setting.rbegin(), link.setting.rend(), turn);
        bias = {from_joint(link, bias.n), from_joint(link, bias.f)};
        move(link.offset);
        inertia_[link.parent] += I;
        bias_[link.parent] += bias;
    }

    // (α; a) of the link without its own acceleration along the axis.
    Twist led(size_t k, const std::vector<Twist>& motion) const {
        const Link& link = tree_.links[k];
        Vector a = -tree_.gravity, alpha = zero_vector(*tree_.graph);
        if (link.parent >= 0) {
            alpha = motion[link.parent].w;
            a = motion[link.parent].v + cross(alpha, link.offset);
        }
        alpha = to_link(link, alpha);
        a = to_link(link, a);
        if (!is_turn(k)) a += cross(alpha, displacement(tree_, link));
        return {alpha + drift_[k].w, a + drift_[k].v};
    }

    const LinkTree& tree_;
    const std::vector<Expression>& forces_;
    std::vector<Vector> velocity_;
    std::vector<Twist> drift_;  // accelerations caused by velocity
    std::vector<Inertia> inertia_;
    std::vector<Load> bias_;
    std::vector<Pivot> pivots_;
};

}  // namespace

std::vector<Expression> articulated_accelerations(const LinkTree& tree, const std::vector<Expression>& forces,
                                                  const std::vector<Load>& applied) {
    return ArticulatedBodies(tree, forces, applied).accelerations();
}

}  // namespace bellcrank::symbolic
