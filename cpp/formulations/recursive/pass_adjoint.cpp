// The transpose of the tree pass: y = M⁻¹ ū moves the links at Y. Gradients by δa and δv begin with −I Y and
// Y ×* (I v) + I (v × Y), go up like forces, and leave at each joint what (1) and (2) of pass_tangent.cpp make of σ, δu
// and numbers.
#include "formulations/recursive/pass_maps.hpp"

namespace bellcrank::recursive {

namespace {

// z × of a force, by a factor.
Load across_axis(double by, const Load& f) { return {{-by * f.n.y, by * f.n.x, 0.0}, {-by * f.f.y, by * f.f.x, 0.0}}; }

Load minus(const Load& a, const Load& b) { return {a.n - b.n, a.f - b.f}; }

}  // namespace

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
        by_numbers[NumberArray::block_compliance][model_.block_of(rotor.row)] += along * ratio * ratio;
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
