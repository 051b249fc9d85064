// The mass matrix by composite inertias: what a unit acceleration of an axis does to all that it carries, taken to the
// base; and its factorization.
#include <algorithm>

#include "derivation/dynamics.hpp"

namespace bellcrank::symbolic {

namespace {

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
        Moments& parent = carried_[link.parent];
        parent = parent + shifted(m, link.offset);
    }

    // The wrench in the link's axes about its origin that accelerates what it carries by the twist (angular, linear).
    Wrench inertial(const Moments& m, const Vector& angular, const Vector& linear) const {
        const Symmetric& J = m.second;
        const Vector& a = angular;
        const Vector spin{(J.yy + J.zz) * a.x - J.xy * a.y - J.xz * a.z, (J.xx + J.zz) * a.y - J.xy * a.x - J.yz * a.z,
                          (J.xx + J.yy) * a.z - J.xz * a.x - J.yz * a.y};
        return {spin + cross(m.first, linear), cross(a, m.first) + scaled(m.mass, linear)};
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
        Wrench w = inertial(carried_[axis.link], angular, linear);
        for (int k = axis.link; k >= 0; k = tree_.links[k].parent) {
            const Link& at = tree_.links[k];
            const Vector force = before_motion(at, w.force);
            for (int j = at.first_axis; j < at.first_axis + at.axes && j <= i; ++j) add(i, j, entry(j, w, force));
            if (at.parent < 0) break;
            const Vector moment = before_motion(at, w.moment) + cross(displacement(tree_, at), force);
            const Vector f = from_joint(at, force);
            w = {from_joint(at, moment) + cross(at.offset, f), f};
        }
    }

    // The force along axis j of the wrench on its link.
    Expression entry(int j, const Wrench& w, const Vector& joint_force) const {
        const Axis& axis = tree_.axes[j];
        switch (tree_.links[axis.link].motion) {
            case Motion::turn:
                return w.moment.z;
            case Motion::slide:
                return w.force.z;
            case Motion::ball:
                return axis.number == 0 ? w.moment.x : axis.number == 1 ? w.moment.y : w.moment.z;
            default:  // general
                break;
        }
        return dot(axis.angular, w.moment) + dot(axis.linear, joint_force);
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

LowerTriangle composite_mass_matrix(const LinkTree& tree, bool lumped) { return Composite(tree, lumped).matrix(); }

// Taken row by row from the accelerations of the later speeds, whose forces are the shorter expressions.
LowerTriangle unit_mass_matrix(const LinkTree& tree, bool lumped) {
    LinkTree still = tree;
    still.gravity = zero_vector(*tree.graph);
    LowerTriangle M(tree.speeds());
    for (int speed = 0; speed < tree.speeds(); ++speed) {
        AxisMotion motion;
        for (const Axis& axis : tree.axes) {
            motion.rates.push_back(tree.number(0.0));
            Expression acceleration = tree.number(0.0);
            for (const Share& share : axis.shares)
                if (share.speed == speed) acceleration = share.factor;
            motion.accelerations.push_back(acceleration);
        }
        const std::vector<Expression> column = inverse_dynamics(still, motion, lumped);
        for (int j = 0; j <= speed; ++j) M.at(speed, j) = column[j];
    }
    return M;
}

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
