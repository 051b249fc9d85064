// A scalar along a relative motion together with all that CoordinateValue asks for, so that a coordinate can be written
// as a formula of simpler ones: the chain rule to second order, done once.
#pragma once

#include "joints/coordinate.hpp"

namespace bellcrank {

struct Jet {
    double value;
    Vec3 dr, domega;
    double rate;       // φ̇ = dr·ṙ + domega·ω
    double quadratic;  // φ̈ − dr·r̈ − domega·ω̇
};

inline void assign(CoordinateValue& out, const Jet& a) { out = {a.value, a.dr, a.domega, a.quadratic}; }

// h(a) from h, h', h'' at a.
inline Jet chain(const Jet& a, double h, double h1, double h2) {
    return {h, h1 * a.dr, h1 * a.domega, h1 * a.rate, h1 * a.quadratic + h2 * a.rate * a.rate};
}
inline Jet operator*(double s, const Jet& a) {
    return {s * a.value, s * a.dr, s * a.domega, s * a.rate, s * a.quadratic};
}
inline Jet operator+(const Jet& a, const Jet& b) {
    return {a.value + b.value, a.dr + b.dr, a.domega + b.domega, a.rate + b.rate, a.quadratic + b.quadratic};
}
inline Jet operator+(const Jet& a, double b) { return {a.value + b, a.dr, a.domega, a.rate, a.quadratic}; }
inline Jet operator-(const Jet& a, const Jet& b) {
    return {a.value - b.value, a.dr - b.dr, a.domega - b.domega, a.rate - b.rate, a.quadratic - b.quadratic};
}
inline Jet operator*(const Jet& a, const Jet& b) {
    return {a.value * b.value, a.value * b.dr + b.value * a.dr, a.value * b.domega + b.value * a.domega,
            a.value * b.rate + b.value * a.rate, a.value * b.quadratic + b.value * a.quadratic + 2.0 * a.rate * b.rate};
}

// θ = atan2(s, c). With n = c² + s²:  θ̇ = (c ṡ − s ċ)/n,  θ̈ = (c s̈ − s c̈)/n − θ̇ ṅ/n.
// At n = 0 there is no angle: value and all derivatives are 0.
inline Jet angle(const Jet& s, const Jet& c) {
    const double n = s.value * s.value + c.value * c.value;
    if (n < 1e-300) return {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0, 0.0};
    const double a = c.value / n, b = s.value / n;
    const double rate = a * s.rate - b * c.rate;
    return {std::atan2(s.value, c.value), a * s.dr - b * c.dr, a * s.domega - b * c.domega, rate,
            a * s.quadratic - b * c.quadratic - 2.0 * rate * (b * s.rate + a * c.rate)};
}

// The relative pose of a motion in jets, under the names of SymbolicPose: a formula over a pose is one of both.
class JetPose {
  public:
    explicit JetPose(const RelativeMotion& motion) : m_(motion) {}

    Jet position(int axis) const {
        const Vec3 i = unit(axis);
        return {dot(i, m_.r), i, {0.0, 0.0, 0.0}, dot(i, m_.rdot), 0.0};
    }

    // Entry (i, j) of the rotation matrix Λ(q) (Tasora eq. 8): axis i of marker 1 on axis j of marker 2. The column
    // u = Λ i_j turns with marker 2:  u̇ = ω×u,  ü = ω̇×u + ω×(ω×u);  hence, with ω×(ω×u) = (ω·u) ω − |ω|² u,
    //   domega = u×i_i,   quadratic = (ω·u)(ω·i_i) − |ω|² (u·i_i).
    Jet cosine(int i, int j) const {
        const Mat3 rotation = rotation_matrix(m_.q);
        const Vec3 axis = unit(i), u{rotation.m[j], rotation.m[3 + j], rotation.m[6 + j]};
        const Vec3 gradient = cross(u, axis);
        const double value = dot(axis, u);
        return {value,
                {0.0, 0.0, 0.0},
                gradient,
                dot(gradient, m_.omega),
                dot(m_.omega, u) * dot(m_.omega, axis) - dot(m_.omega, m_.omega) * value};
    }

    // Component k of q = (e0, v). With ω in marker-1 axes, the fixed ones here (Tasora eq. 12 with ω in place of its
    // conjugate),
    //   q̇ = ½ ω q = ½ (−ω·v, e0 ω + ω×v),
    // so that ė0 = −½ v·ω and ė_k = ½ (e0 i_k + v×i_k)·ω, i_k the axis k. Differentiated once more (Tasora eq. 14):
    // q̈ = ½ ω̇ q + ½ ω q̇ = ½ ω̇ q + ¼ ω ω q, and ωω = −|ω|² for a pure quaternion:
    //   q̈ = ½ ω̇ q − ¼ |ω|² q.
    Jet quaternion(int k) const {
        const Vec3 v{m_.q.x, m_.q.y, m_.q.z}, i = unit(k - 1);
        const double value = k == 0 ? m_.q.w : dot(v, i);
        const Vec3 gradient = k == 0 ? -0.5 * v : 0.5 * (m_.q.w * i + cross(v, i));
        return {value, {0.0, 0.0, 0.0}, gradient, dot(gradient, m_.omega), -0.25 * dot(m_.omega, m_.omega) * value};
    }

  private:
    static Vec3 unit(int axis) { return {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0}; }

    const RelativeMotion& m_;
};

}  // namespace bellcrank
