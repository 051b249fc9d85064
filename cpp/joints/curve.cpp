// A point on a spline curve: origin 2 against a curve fixed in marker 1. Parameters: joints/spline_curve.hpp.
//   curve_parameter   parameter u of the closest point
//   curve_angle       2π (u − start)/(end − start): the same as an angle whose branch is followed, for closed curves,
//                     where u itself jumps back by a period at the seam
//   curve_normal_1/2  offsets n1·s, n2·s of the origin from the closest point, s = r − p(u); both locked: point on
//   curve
//
// The closest point is defined by s·p' = 0. Differentiated once and twice along the motion, ṡ = ṙ − p' u̇:
//   m u̇ = p'·ṙ,   m ü = p'·r̈ + 2 u̇ p''·ṙ − 3 u̇² p'·p'' + u̇² s·p''',   m = p'·p' − s·p''.
// With w = b×p' the normals are n1 = w/|w|, n2 = p'×w/(|p'||w|), and p'×w = b |p'|² − p' (p'·b); since s·p' = 0,
//   n1·s = w·s/|w|,   n2·s = b·s |p'|/|w|.
// The chain rule (joints/jet.hpp) does the rest. All this holds off the curve too, up to its centres of curvature,
// where m = 0 and the closest point is not unique; m is kept from vanishing there. The quadratic part is exact on the
// curve, and off it inside the pieces; across a knot p''' jumps and with it, in proportion to |s|, the quadratic part.
#include "joints/jet.hpp"
#include "joints/spline_curve.hpp"

namespace bellcrank {

namespace {

template <class S>
JetT<S> parameter_jet(const RelativeMotionT<S>& m, const CurvePointT<S>& c) {
    using std::max;
    const S speed = dot(c.d1, c.d1);
    const Vec3T<S> s = m.r - c.p;
    const S mass = max(speed - dot(s, c.d2), 1e-9 * speed);
    const S rate = dot(c.d1, m.rdot) / mass;
    const S quadratic = (2.0 * dot(m.rdot, c.d2) + rate * (dot(s, c.d3) - 3.0 * dot(c.d1, c.d2))) * rate / mass;
    return {c.u, (1.0 / mass) * c.d1, {0.0, 0.0, 0.0}, rate, quadratic};
}

// One component of s = r − p(u).
template <class S>
JetT<S> offset_jet(const RelativeMotionT<S>& m, const JetT<S>& u, int axis, const S& p, const S& d1, const S& d2) {
    return JetPose(m).position(axis) - chain(u, p, d1, d2);
}

// a^(1/2)
template <class S>
JetT<S> root(const JetT<S>& a) {
    using std::sqrt;
    const S h = sqrt(a.value);
    return chain(a, h, 0.5 * h / a.value, -0.25 * h / (a.value * a.value));
}

// p', s, w = b×p' and |w|² as functions of the motion.
template <class S>
struct CurveFrame {
    JetT<S> t[3], s[3], w[3], w_square;
    Vec3T<S> b;
};

template <class S>
CurveFrame<S> curve_frame(const RelativeMotionT<S>& m, std::span<const S> params) {
    const SplineCurveT<S> curve(params);
    const CurvePointT<S> c = curve.closest(m.r);
    const JetT<S> u = parameter_jet(m, c);
    CurveFrame<S> f;
    f.b = curve.reference();
    f.t[0] = chain(u, c.d1.x, c.d2.x, c.d3.x);
    f.t[1] = chain(u, c.d1.y, c.d2.y, c.d3.y);
    f.t[2] = chain(u, c.d1.z, c.d2.z, c.d3.z);
    f.s[0] = offset_jet(m, u, 0, c.p.x, c.d1.x, c.d2.x);
    f.s[1] = offset_jet(m, u, 1, c.p.y, c.d1.y, c.d2.y);
    f.s[2] = offset_jet(m, u, 2, c.p.z, c.d1.z, c.d2.z);
    f.w[0] = f.b.y * f.t[2] - f.b.z * f.t[1];
    f.w[1] = f.b.z * f.t[0] - f.b.x * f.t[2];
    f.w[2] = f.b.x * f.t[1] - f.b.y * f.t[0];
    f.w_square = f.w[0] * f.w[0] + f.w[1] * f.w[1] + f.w[2] * f.w[2];
    return f;
}

template <class S>
void normal_1(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    const CurveFrame<S> f = curve_frame(m, params);
    assign(out, (f.w[0] * f.s[0] + f.w[1] * f.s[1] + f.w[2] * f.s[2]) * inverse_root(f.w_square));
}

template <class S>
void normal_2(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    const CurveFrame<S> f = curve_frame(m, params);
    const JetT<S> t_square = f.t[0] * f.t[0] + f.t[1] * f.t[1] + f.t[2] * f.t[2];
    const JetT<S> height = f.b.x * f.s[0] + f.b.y * f.s[1] + f.b.z * f.s[2];
    assign(out, height * root(t_square) * inverse_root(f.w_square));
}

template <class S>
void parameter(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    assign(out, parameter_jet(m, SplineCurveT<S>(params).closest(m.r)));
}

template <class S>
void turn(const RelativeMotionT<S>& m, std::span<const S> params, CoordinateValueT<S>& out) {
    const SplineCurveT<S> curve(params);
    const S scale = 2.0 * 3.14159265358979323846 / (curve.end() - curve.start());
    JetT<S> u = parameter_jet(m, curve.closest(m.r));
    u.value = u.value - curve.start();
    assign(out, scale * u);
}

const CoordinateRegistration curve_normal_1({"curve_normal_1", normal_1<double>, normal_1<Dual4>, nullptr, Angle::none,
                                             check_curve});
const CoordinateRegistration curve_normal_2({"curve_normal_2", normal_2<double>, normal_2<Dual4>, nullptr, Angle::none,
                                             check_curve});
const CoordinateRegistration curve_parameter({"curve_parameter", parameter<double>, parameter<Dual4>, nullptr,
                                              Angle::none, check_curve});
const CoordinateRegistration curve_angle({"curve_angle", turn<double>, turn<Dual4>, nullptr, Angle::of_points,
                                          check_curve});

}  // namespace

}  // namespace bellcrank
