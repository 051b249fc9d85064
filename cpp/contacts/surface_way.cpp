#include "contacts/surface_way.hpp"

#include <cmath>

#include "spatial/dual.hpp"

namespace bellcrank {

namespace {

constexpr double kOpposite = 1e-6;  // 1 + cos of an angle that is half a turn: nothing can be carried there
constexpr double kStraight = 1e-4;  // an angle whose square adds nothing to one
constexpr double kSmall = 1e-4;     // a square of a sine whose square adds nothing to one

// Turns a vector across n0 by the least rotation from n0 to n.
template <class S>
Vec3T<S> transported(const Vec3T<S>& v, const Vec3T<S>& n0, const Vec3T<S>& n) {
    const S c = 1.0 + dot(n0, n);
    return c < kOpposite ? v : v - (dot(v, n) / c) * (n0 + n);
}

template <class S>
S by_sine(const S& angle) {
    using std::sin;
    return std::abs(value_part(angle)) < kStraight ? 1.0 + angle * angle / 6.0 : angle / sin(angle);
}

template <class S>
Vec3T<S> turned(const Vec3T<S>& v, const Vec3T<S>& n, const S& angle) {
    using std::cos;
    using std::sin;
    return cos(angle) * v + sin(angle) * cross(n, v);
}

// (α / sin α − 1) / sin² α, smooth at 0.
template <class S>
S arc_by_chord(const S& square_of_sine, const S& cosine) {
    using std::atan2;
    using std::sqrt;
    if (square_of_sine < kSmall && cosine > 0.0) return 1.0 / 6.0 + 0.075 * square_of_sine;
    const S sine = sqrt(square_of_sine);
    return (atan2(sine, cosine) / sine - 1.0) / square_of_sine;
}

// The part along which the normal turned from n0 to n, as an arc.
template <class S>
Vec3T<S> arc(const Vec3T<S>& chord, const Vec3T<S>& n0, const Vec3T<S>& n) {
    const S cosine = dot(n, n0);
    const Vec3T<S> aside = cosine * n - n0;
    const S square = dot(aside, aside);
    if (!(square > 0.0) && cosine < 0.0) return chord;  // of half a turn no direction is known
    return chord + (dot(chord, aside) * arc_by_chord(square, cosine)) * aside;
}

}  // namespace

SurfaceMark mark_contact(const Vec3& position, const Vec3& normal, const Pose (&bodies)[2]) {
    SurfaceMark mark{normal, across(normal), {}};
    for (int side = 0; side < 2; ++side)
        mark.on[side] = {bodies[side].local_point(position), bodies[side].local_direction(normal),
                         bodies[side].local_direction(mark.tangent)};
    return mark;
}

template <class S>
SurfaceWaysT<S> ways_since(const SurfaceMarkT<S>& mark, const Vec3T<S>& position, const Vec3T<S>& normal,
                           const PoseT<S> (&bodies)[2]) {
    using std::atan2;
    SurfaceWaysT<S> ways;
    const Vec3T<S> tangent = transported(mark.tangent, mark.normal, normal);
    for (int side = 0; side < 2; ++side) {
        const typename SurfaceMarkT<S>::OnBody& then = mark.on[side];
        const Vec3T<S> n0 = bodies[side].direction(then.normal);
        const Vec3T<S> now = transported(bodies[side].direction(then.tangent), n0, normal);
        const S angle = atan2(dot(normal, cross(tangent, now)), dot(tangent, now));
        const Vec3T<S> chord = position - bodies[side].point(then.point);
        const Vec3T<S> level = arc(chord - dot(chord, normal) * normal, n0, normal);
        ways.on[side] = by_sine<S>(0.5 * angle) * turned<S>(level, normal, -0.5 * angle);
        ways.angle[side] = angle;
    }
    return ways;
}

template <class S>
Vec3T<S> carried(const Vec3T<S>& vector, const Vec3T<S>& n0, const Vec3T<S>& n, const S& angle) {
    return turned(transported(vector, n0, n), n, angle);
}

template SurfaceWaysT<double> ways_since(const SurfaceMark&, const Vec3&, const Vec3&, const Pose (&)[2]);
template SurfaceWaysT<Dual4> ways_since(const SurfaceMarkT<Dual4>&, const Vec3T<Dual4>&, const Vec3T<Dual4>&,
                                        const PoseT<Dual4> (&)[2]);
template Vec3 carried(const Vec3&, const Vec3&, const Vec3&, const double&);
template Vec3T<Dual4> carried(const Vec3T<Dual4>&, const Vec3T<Dual4>&, const Vec3T<Dual4>&, const Dual4&);

}  // namespace bellcrank
