// Accelerations by articulated inertias (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7), in
// classical accelerations of the links' origins: a wrench that a link feels is (n; f) = (G a + D α; M a + Gᵀ α) + bias.
#include "derivation/dynamics.hpp"

namespace bellcrank::symbolic {

namespace {

struct Articulated {
    Symmetric M;
    Matrix G;
    Symmetric D;
    Wrench bias;
};

Vector times(const Symmetric& s, const Vector& v) { return full(s) * v; }

// What each joint leaves for the way back: the inertia along its axis, 1/d, and the force that is left.
struct Pivot {
    Vector angular, linear;  // of the column U = inertia times axis: moment and force
    Expression inverse, force;
};

class ArticulatedBodies {
  public:
    ArticulatedBodies(const LinkTree& tree, const std::vector<Expression>& forces, const std::vector<Wrench>& applied)
        : tree_(tree),
          forces_(forces),
          velocity_(tree.links.size()),
          drift_(tree.links.size()),
          bodies_(tree.links.size()),
          pivots_(tree.links.size()) {
        for (size_t k = 0; k < tree.links.size(); ++k) start(k, applied);
    }

    std::vector<Expression> accelerations() {
        for (size_t k = tree_.links.size(); k-- > 0;) gather(k);
        std::vector<Wrench> motion(tree_.links.size());  // (α; a) of each link
        std::vector<Expression> out(tree_.speeds());
        for (size_t k = 0; k < tree_.links.size(); ++k) {
            Wrench a = led(k, motion);
            const Pivot& p = pivots_[k];
            Expression& s = out[axis(k).shares[0].speed];
            s = (p.force - dot(p.angular, a.moment) - dot(p.linear, a.force)) * p.inverse;
            Expression& along = is_turn(k) ? a.moment.z : a.force.z;
            along = along + s;
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
    void start(size_t k, const std::vector<Wrench>& applied) {
        const Link& link = tree_.links[k];
        const Expression s = axis(k).rate;
        const Vector zero = zero_vector(*tree_.graph);
        const Vector above = link.parent < 0 ? zero : velocity_[link.parent];
        Vector w = to_link(link, above);
        Wrench& c = drift_[k];
        c = {zero, to_link(link, turned_twice(above, link.offset))};
        if (is_turn(k)) {
            c.moment = {w.y * s, -(w.x * s), zero.x};
            w.z = w.z + s;
        } else {
            const Expression twice = 2.0 * s;
            const Vector far = turned_twice(w, displacement(tree_, link));
            c.force = c.force + far + Vector{twice * w.y, -(twice * w.x), zero.x};
        }
        velocity_[k] = w;
        own(k, w, applied);
    }

    void own(size_t k, const Vector& w, const std::vector<Wrench>& applied) {
        const Moments& m = tree_.links[k].lumped;
        const Symmetric& J = m.second;
        const Vector& h = m.first;
        Articulated& body = bodies_[k];
        const Expression o = tree_.number(0.0);
        body.M = {m.mass, m.mass, m.mass, o, o, o};
        body.G = {{o, -h.z, h.y, h.z, o, -h.x, -h.y, h.x, o}};
        body.D = {J.yy + J.zz, J.xx + J.zz, J.xx + J.yy, -J.xy, -J.xz, -J.yz};
        // ω × I ω with I = tr(J) − J is −ω × J ω.
        body.bias = {-cross(w, times(J, w)), turned_twice(w, h)};
        if (!applied.empty()) body.bias = {body.bias.moment - applied[k].moment, body.bias.force - applied[k].force};
    }

    void gather(size_t k) {
        const Link& link = tree_.links[k];
        Articulated body = bodies_[k];
        Pivot& p = pivots_[k];
        const Symmetric& D = body.D;
        const Symmetric& M = body.M;
        const Matrix& G = body.G;
        if (is_turn(k)) {
            p.angular = {D.xz, D.yz, D.zz};
            p.linear = row(G, 2);
        } else {
            p.angular = {G.m[2], G.m[5], G.m[8]};
            p.linear = {M.xz, M.yz, M.zz};
        }
        const Expression pivot = is_turn(k) ? D.zz : M.zz;
        p.inverse = {tree_.graph, tree_.graph->reciprocal(pivot.ref)};
        p.force = forces_[axis(k).shares[0].speed] - (is_turn(k) ? body.bias.moment.z : body.bias.force.z);
        if (link.parent < 0) return;
        project(body, p, is_turn(k));
        const Wrench& c = drift_[k];
        body.bias.moment = body.bias.moment + body.G * c.force + times(body.D, c.moment);
        body.bias.force = body.bias.force + times(body.M, c.force) + transpose_times(body.G, c.moment);
        const Expression pushed = p.inverse * p.force;
        body.bias.moment = body.bias.moment + scaled(pushed, p.angular);
        body.bias.force = body.bias.force + scaled(pushed, p.linear);
        // Along the axis the link feels just the joint's own force.
        (is_turn(k) ? body.bias.moment.z : body.bias.force.z) = forces_[axis(k).shares[0].speed];
        give(k, body);
    }

    // I − U Uᵀ/d; its row and column of the axis vanish.
    void project(Articulated& b, const Pivot& p, bool turn) const {
        const Vector u = scaled(p.inverse, p.angular), f = scaled(p.inverse, p.linear);
        const Vector& U = p.angular;
        const Vector& F = p.linear;
        b.D = b.D - Symmetric{u.x * U.x, u.y * U.y, u.z * U.z, u.x * U.y, u.x * U.z, u.y * U.z};
        b.M = b.M - Symmetric{f.x * F.x, f.y * F.y, f.z * F.z, f.x * F.y, f.x * F.z, f.y * F.z};
        const Expression Ux[3] = {u.x, u.y, u.z}, Fx[3] = {F.x, F.y, F.z};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) b.G.m[3 * i + j] = b.G.m[3 * i + j] - Ux[i] * Fx[j];
        const Expression o = tree_.number(0.0);
        if (turn) {
            b.D.xz = b.D.yz = b.D.zz = o;
            b.G.m[6] = b.G.m[7] = b.G.m[8] = o;
        } else {
            b.M.xz = b.M.yz = b.M.zz = o;
            b.G.m[2] = b.G.m[5] = b.G.m[8] = o;
        }
    }

    // To the parent: turned into its axes, then seen from its origin.
    void give(size_t k, const Articulated& own) {
        const Link& link = tree_.links[k];
        Articulated b = own;
        b.G = motion_turned(link, b.G);
        if (link.motion == Motion::turn) {
            b.M = rotated(link.turn, b.M);
            b.D = rotated(link.turn, b.D);
        }
        b.bias = {before_motion(link, b.bias.moment), before_motion(link, b.bias.force)};
        move(b, displacement(tree_, link));
        for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) {
            b.M = rotated(*turn, b.M);
            b.D = rotated(*turn, b.D);
            b.G = conjugated(*turn, b.G);
        }
        b.bias = {from_joint(link, b.bias.moment), from_joint(link, b.bias.force)};
        move(b, link.offset);
        Articulated& parent = bodies_[link.parent];
        parent.M = parent.M + b.M;
        parent.D = parent.D + b.D;
        for (int i = 0; i < 9; ++i) parent.G.m[i] = parent.G.m[i] + b.G.m[i];
        parent.bias = {parent.bias.moment + b.bias.moment, parent.bias.force + b.bias.force};
    }

    static Matrix motion_turned(const Link& link, const Matrix& a) {
        return link.motion == Motion::turn ? conjugated(link.turn, a) : a;
    }

    // From the point at p to the origin: G' = G + p̃ M,  D' = D − G' p̃ + p̃ Gᵀ.
    void move(Articulated& b, const Vector& p) const {
        if (is_zero(p)) return;
        const Matrix M = full(b.M);
        const auto columns = [&p](const Matrix& a) {  // p̃ a
            Matrix out;
            for (int j = 0; j < 3; ++j) {
                const Vector c = cross(p, Vector{a.m[j], a.m[3 + j], a.m[6 + j]});
                out.m[j] = c.x;
                out.m[3 + j] = c.y;
                out.m[6 + j] = c.z;
            }
            return out;
        };
        const Matrix pGt = columns(transpose(b.G)), pM = columns(M);
        Matrix moved = b.G;
        for (int i = 0; i < 9; ++i) moved.m[i] = moved.m[i] + pM.m[i];
        const Matrix Gpt = columns(transpose(moved));  // (−G' p̃)ᵀ = p̃ G'ᵀ
        const auto sum = [&](int i, int j) { return pGt.m[3 * i + j] + Gpt.m[3 * j + i]; };
        b.D = b.D + Symmetric{sum(0, 0), sum(1, 1), sum(2, 2), sum(0, 1), sum(0, 2), sum(1, 2)};
        b.G = moved;
        b.bias.moment = b.bias.moment + cross(p, b.bias.force);
    }

    // (α; a) of the link without its own acceleration along the axis.
    Wrench led(size_t k, const std::vector<Wrench>& motion) const {
        const Link& link = tree_.links[k];
        Vector a = -tree_.gravity, alpha = zero_vector(*tree_.graph);
        if (link.parent >= 0) {
            alpha = motion[link.parent].moment;
            a = motion[link.parent].force + cross(alpha, link.offset);
        }
        alpha = to_link(link, alpha);
        a = to_link(link, a);
        if (!is_turn(k)) a = a + cross(alpha, displacement(tree_, link));
        return {alpha + drift_[k].moment, a + drift_[k].force};
    }

    const LinkTree& tree_;
    const std::vector<Expression>& forces_;
    std::vector<Vector> velocity_;
    std::vector<Wrench> drift_;  // accelerations caused by velocity: angular, linear
    std::vector<Articulated> bodies_;
    std::vector<Pivot> pivots_;
};

}  // namespace

std::vector<Expression> articulated_accelerations(const LinkTree& tree, const std::vector<Expression>& forces,
                                                  const std::vector<Wrench>& applied) {
    return ArticulatedBodies(tree, forces, applied).accelerations();
}

}  // namespace bellcrank::symbolic
