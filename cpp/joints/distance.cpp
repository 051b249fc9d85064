// Distances of origin 2 from marker 1: from its origin (distance) and from its z axis (distance_xy).
//
// d = |s| with s = r, or r without its z component. ḋ = s·ṡ/d, and d d̈ + ḋ² = s·s̈ + |ṡ|² gives
//   dr = s/d,   quadratic = (|ṡ|² − ḋ²)/d.
// At d = 0 the distance has no derivative. There the gradient is taken as marker 1's x axis and the quadratic part as
// 0: the gradient stays of unit length, so that a distance row keeps its rank and an assembly that starts with the two
// origins on each other can pull them apart. The choice of x is arbitrary; a spring whose length passes exactly through
// 0 with a rest length above 0 has no defined direction of force there.
#include "joints/coordinate.hpp"

namespace bellcrank {

namespace {

template <class S>
void length(const Vec3T<S>& s, const Vec3T<S>& rate, CoordinateValueT<S>& out) {
    const S d = norm(s);
    out.value = d < 1e-150 ? S(value_part(d)) : d;
    out.domega = {0.0, 0.0, 0.0};
    if (d < 1e-150) {
        out.dr = {1.0, 0.0, 0.0};
        out.quadratic = 0.0;
        return;
    }
    out.dr = (1.0 / d) * s;
    // |ṡ|² − ḋ² is the squared speed across s.
    const Vec3T<S> across = cross(out.dr, rate);
    out.quadratic = dot(across, across) / d;
}

template <class S>
void distance(const RelativeMotionT<S>& m, std::span<const S>, CoordinateValueT<S>& out) {
    length(m.r, m.rdot, out);
}

template <class S>
void distance_xy(const RelativeMotionT<S>& m, std::span<const S>, CoordinateValueT<S>& out) {
    length<S>({m.r.x, m.r.y, 0.0}, {m.rdot.x, m.rdot.y, 0.0}, out);
}

template <int dimensions>
Expression distance_formula(SymbolicPose& pose, std::span<const Expression>) {
    const Vec3T<Expression>& r = pose.position();
    const Expression square = r.x * r.x + r.y * r.y;
    return sqrt(dimensions == 3 ? square + r.z * r.z : square);
}

const CoordinateRegistration from_origin({"distance", distance<double>, distance<Dual4>, distance_formula<3>});
const CoordinateRegistration from_axis({"distance_xy", distance_xy<double>, distance_xy<Dual4>, distance_formula<2>});

}  // namespace

}  // namespace bellcrank
