#include "geometry/slice_distance.hpp"

#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/point_distance.hpp"

namespace bellcrank {

namespace {

constexpr double kSteep = SliceDistance::kSlope;
constexpr double kOnPlane = 1e-12;  // of a distance around the wheel, by that within the slice

double length_across(const Vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// What the distance of a plane with this normal grows by where the middle moves along it: the dual of the norm.
double dual(const Vec3& n) { return std::max(length_across(n), std::abs(n.z) / kSteep); }

// Where the double cone meets a plane first, n · p = offset.
Vec3 met(const Vec3& n, double offset) {
    const double square = n.x * n.x + n.y * n.y;
    if (kSteep * std::sqrt(square) < std::abs(n.z)) return {0.0, 0.0, offset / n.z};
    return {offset * n.x / square, offset * n.y / square, 0.0};
}

// The s in [from, to] where √(|a + s u|²) + slope s is least; across the wheel alone.
double least_along(const Vec3& a, const Vec3& u, double slope, double from, double to) {
    const double A = u.x * u.x + u.y * u.y, B = a.x * u.x + a.y * u.y;
    if (!(slope * slope < A)) return slope > 0.0 ? from : to;
    const double aside = std::abs(a.x * u.y - a.y * u.x) / A;  // from the line, in parts of |u|
    return std::clamp(-B / A - slope * aside / std::sqrt(A - slope * slope), from, to);
}

}  // namespace

void SliceDistance::plane(const Vec3& n, double offset) {
    const double by = dual(n), distance = -offset / by;
    if (distance < best_.distance) best_ = {distance, met(n, offset), (1.0 / by) * n};
}

// Within a convex solid: a face that is nearer than those before, as the solid's greatest depth is less.
void SliceDistance::within_faces(double height, const Vec3& n) {
    const double by = dual(n), distance = height / by;
    if (distance > best_.distance) best_ = {distance, met(n, -height), (1.0 / by) * n};
}

void SliceDistance::take_edge(const Vec3& p, const Vec3& along, bool inner, double distance) {
    const double across = length_across(p);
    Vec3 gradient{0.0, 0.0, 0.0};
    if (across > 0.0) gradient = {-p.x / across, -p.y / across, 0.0};
    if (std::abs(p.z) > kOnPlane * across)
        gradient.z = p.z > 0.0 ? -kSteep : kSteep;
    else if (inner && along.z != 0.0)  // nothing changes along the edge
        gradient.z = std::clamp(-(gradient.x * along.x + gradient.y * along.y) / along.z, -kSteep, kSteep);
    best_ = {distance, p, gradient};
}

// Which end is nearest, 2: a point between; -1: none is nearer than what was found.
int SliceDistance::edge(const Vec3& a, const Vec3& b) {
    const Vec3 u = b - a;
    const double rises = kSteep * std::abs(u.z), cut = u.z != 0.0 ? -a.z / u.z : -1.0;
    double s;
    if (cut > 0.0 && cut < 1.0) {
        const double x = a.x + cut * u.x, y = a.y + cut * u.y, across = std::sqrt(x * x + y * y);
        const double rate = across > 0.0 ? (x * u.x + y * u.y) / across : 0.0;
        s = std::abs(rate) <= rises ? cut
            : rate > 0.0            ? least_along(a, u, -rises, 0.0, cut)
                                    : least_along(a, u, rises, cut, 1.0);
    } else {
        s = least_along(a, u, (a.z + 0.5 * u.z > 0.0) == (u.z > 0.0) ? rises : -rises, 0.0, 1.0);
    }
    Vec3 p = a + s * u;
    if (s == cut) p.z = 0.0;
    const double distance = length(p);
    if (!(distance < best_.distance)) return -1;
    const bool inner = s > 0.0 && s < 1.0;
    take_edge(p, u, inner, distance);
    return inner ? 2 : s > 0.0;
}

bool SliceDistance::triangle(const std::array<Vec3, 3>& v, const Vec3& n) {
    const double offset = dot(n, v[0]), by = dual(n), distance = std::abs(offset) / by;
    if (!(distance < best_.distance)) return false;
    const Vec3 p = met(n, offset);
    bool inside = true;
    for (int e = 0; e < 3 && inside; ++e) {
        const Vec3 &from = v[e], &to = v[e == 2 ? 0 : e + 1];
        inside = dot(cross(to - from, p - from), n) >= 0.0;
    }
    if (inside) {
        best_ = {distance, p, ((offset > 0.0 ? -1.0 : 1.0) / by) * n};
        feature_ = -1;
        return true;
    }
    bool found = false;
    for (int e = 0; e < 3; ++e) {
        const int next = e == 2 ? 0 : e + 1;
        const int end = edge(v[e], v[next]);
        if (end < 0) continue;
        feature_ = end == 0 ? 3 + e : end == 1 ? 3 + next : e;
        found = true;
    }
    return found;
}

void SliceDistance::turn_inside_out() {
    best_.distance = -best_.distance;
    best_.gradient = -best_.gradient;
}

void SliceDistance::box(const Vec3& half, const SliceFrame& frame) {
    const Vec3& c = frame.middle;
    const bool inside = std::abs(c.x) <= half.x && std::abs(c.y) <= half.y && std::abs(c.z) <= half.z;
    if (inside) best_.distance = -Bounds::kInfinity;
    for (int f = 0; f < 6; ++f) {
        const int axis = f / 2, one = (axis + 1) % 3, two = (axis + 2) % 3;
        Vec3 n{0.0, 0.0, 0.0}, at = n, u = n, v = n;
        component(n, axis) = f % 2 ? 1.0 : -1.0;
        component(at, axis) = component(n, axis) * component(half, axis);
        const double height = dot(n, c - at);
        const Vec3 normal = frame.seen_direction(n);
        if (inside) within_faces(height, normal);
        if (inside || height <= 0.0) continue;
        component(u, one) = component(half, one), component(v, two) = component(half, two);
        if (f % 2 == 0) std::swap(u, v);
        const Vec3 corner[4] = {frame.seen(at - u - v), frame.seen(at + u - v), frame.seen(at + u + v),
                                frame.seen(at - u + v)};
        triangle({corner[0], corner[1], corner[2]}, normal);
        triangle({corner[0], corner[2], corner[3]}, normal);
    }
}

void SliceDistance::hull(const Shape& shape, const SliceFrame& frame) {
    const Hull& hull = static_cast<const Hull&>(shape);
    bool inside = true;
    for (const Hull::Face& face : hull.faces) inside = inside && dot(face.normal, frame.middle) <= face.offset;
    if (inside) best_.distance = -Bounds::kInfinity;
    for (const Hull::Face& face : hull.faces) {
        const double height = dot(face.normal, frame.middle) - face.offset;
        const Vec3 normal = frame.seen_direction(face.normal);
        if (inside) within_faces(height, normal);
        if (inside || height <= 0.0) continue;
        const auto corner = [&](int i) { return frame.seen(hull.vertices[hull.corners[face.first + i]]); };
        for (int i = 2; i < face.count; ++i) triangle({corner(0), corner(i - 1), corner(i)}, normal);
    }
}

// Of a curved solid by balls, instead of double cones: their distance is that of the middle.
void SliceDistance::solid(const Shape& shape, const SliceFrame& frame) {
    const PointDistance found = point_distance(shape, frame.middle);
    if (!(found.distance < best_.distance)) return;
    const Vec3 normal = frame.seen_direction(found.normal);
    best_ = {found.distance, -found.distance * normal, normal};
}

bool SliceDistance::find(const Shape& shape, const SliceFrame& frame, double limit, SliceHit& hit) {
    best_.distance = limit, best_.lost = false;
    switch (shape.kind) {
        case ShapeKind::plane:
            plane(frame.seen_direction({0.0, 0.0, 1.0}), -frame.middle.z);
            break;
        case ShapeKind::box:
            box(shape.half, frame);
            break;
        case ShapeKind::hull:
            hull(shape, frame);
            break;
        case ShapeKind::height_field:
            if (!field(static_cast<const HeightField&>(shape), frame)) return false;
            break;
        case ShapeKind::mesh:
            if (!mesh(static_cast<const Mesh&>(shape), frame)) return false;
            break;
        default:
            solid(shape, frame);
    }
    if (!(best_.distance < limit) && !best_.lost) return false;
    hit = best_;
    return true;
}

}  // namespace bellcrank
