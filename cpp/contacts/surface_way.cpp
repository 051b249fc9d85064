#include "contacts/surface_way.hpp"

#include <cmath>

namespace bellcrank {

namespace {

constexpr double kOpposite = 1e-6;  // 1 + cos of an angle that is half a turn: nothing can be carried there
constexpr double kStraight = 1e-4;  // an angle whose square adds nothing to one

// Turns a vector across n0 by the least rotation from n0 to n.
Vec3 transported(const Vec3& v, const Vec3& n0, const Vec3& n) {
    const double c = 1.0 + dot(n0, n);
    return c < kOpposite ? v : v - (dot(v, n) / c) * (n0 + n);
}

double by_sine(double angle) {
    return std::abs(angle) < kStraight ? 1.0 + angle * angle / 6.0 : angle / std::sin(angle);
}

Vec3 turned(const Vec3& v, const Vec3& n, double angle) { return std::cos(angle) * v + std::sin(angle) * cross(n, v); }

// The part along which the normal turned from n0 to n, as an arc.
Vec3 arc(const Vec3& chord, const Vec3& n0, const Vec3& n) {
    const Vec3 aside = dot(n, n0) * n - n0;
    const double sine = norm(aside), angle = std::atan2(sine, dot(n, n0));
    if (!(sine > 0.0) || angle < kStraight) return chord;
    const Vec3 e = (1.0 / sine) * aside;
    return chord + (dot(chord, e) * (by_sine(angle) - 1.0)) * e;
}

}  // namespace

SurfaceMark mark_contact(const Vec3& position, const Vec3& normal, const Pose (&bodies)[2]) {
    SurfaceMark mark{normal, across(normal), {}};
    for (int side = 0; side < 2; ++side)
        mark.on[side] = {bodies[side].local_point(position), bodies[side].local_direction(normal),
                         bodies[side].local_direction(mark.tangent)};
    return mark;
}

SurfaceWays ways_since(const SurfaceMark& mark, const Vec3& position, const Vec3& normal, const Pose (&bodies)[2]) {
    SurfaceWays ways;
    const Vec3 tangent = transported(mark.tangent, mark.normal, normal);
    for (int side = 0; side < 2; ++side) {
        const SurfaceMark::OnBody& then = mark.on[side];
        const Vec3 n0 = bodies[side].direction(then.normal);
        const Vec3 now = transported(bodies[side].direction(then.tangent), n0, normal);
        const double angle = std::atan2(dot(normal, cross(tangent, now)), dot(tangent, now));
        const Vec3 chord = position - bodies[side].point(then.point);
        const Vec3 level = arc(chord - dot(chord, normal) * normal, n0, normal);
        ways.on[side] = by_sine(0.5 * angle) * turned(level, normal, -0.5 * angle);
        ways.angle[side] = angle;
    }
    return ways;
}

Vec3 carried(const Vec3& vector, const Vec3& n0, const Vec3& n, double angle) {
    return turned(transported(vector, n0, n), n, angle);
}

}  // namespace bellcrank
