#include "geometry/point_distance.hpp"

#include <cmath>

namespace bellcrank {

namespace {

PointDistance from_segment(double half_length, double radius, const Vec3& p) {
    const double z = std::clamp(p.z, -half_length, half_length);
    const Vec3 d{p.x, p.y, p.z - z};
    const double length = norm(d);
    const Feature feature = z == p.z ? edge_feature(0) : vertex_feature(z > 0.0);
    return {length - radius, unit(d, {1.0, 0.0, 0.0}), feature};
}

PointDistance from_box(const Vec3& half, const Vec3& p) {
    double outside[3], square = 0.0;
    int nearest = 0, code = 0, power = 1;
    double depth = -Bounds::kInfinity;
    for (int i = 0; i < 3; ++i, power *= 3) {
        const double x = component(p, i), h = component(half, i), d = std::abs(x) - h;
        outside[i] = d > 0.0 ? std::copysign(d, x) : 0.0;
        if (d > 0.0) code += x > 0.0 ? 2 * power : power;
        square += outside[i] * outside[i];
        if (d > depth) depth = d, nearest = i;
    }
    if (square > 0.0) {
        const double length = std::sqrt(square);
        return {length, {outside[0] / length, outside[1] / length, outside[2] / length}, face_feature(code)};
    }
    Vec3 n{0.0, 0.0, 0.0};
    const double sign = std::copysign(1.0, component(p, nearest));
    component(n, nearest) = sign;
    return {depth, n, face_feature((sign > 0.0 ? 2 : 1) * (nearest == 0 ? 1 : nearest == 1 ? 3 : 9))};
}

// The distance from a solid of revolution about z, from (distance, normal) in the half plane of ρ and z.
struct InHalfPlane {
    double distance, rho, z;
    Feature feature;
};
PointDistance revolved(const InHalfPlane& d, const Vec3& p, double rho) {
    const double x = rho > 0.0 ? p.x / rho : 1.0, y = rho > 0.0 ? p.y / rho : 0.0;
    return {d.distance, {d.rho * x, d.rho * y, d.z}, d.feature};
}

InHalfPlane from_corner(double rho, double z, Feature feature, const InHalfPlane& otherwise) {
    const double length = std::hypot(rho, z);
    return length > 0.0 ? InHalfPlane{length, rho / length, z / length, feature} : otherwise;
}

PointDistance from_cylinder(const Vec3& half, const Vec3& p) {
    const double rho = std::hypot(p.x, p.y), side = rho - half.x, cap = std::abs(p.z) - half.z;
    const double up = std::copysign(1.0, p.z);
    const InHalfPlane to_side{side, 1.0, 0.0, edge_feature(2)}, to_cap{cap, 0.0, up, face_feature(up > 0.0)};
    if (side > 0.0 && cap > 0.0) return revolved(from_corner(side, up * cap, edge_feature(up > 0.0), to_cap), p, rho);
    return revolved(side > cap ? to_side : to_cap, p, rho);
}

// The side runs from the rim (R, −h) along s = (−R, 2h)/L to the apex; its normal is (2h, R)/L.
PointDistance from_cone(const Vec3& half, const Vec3& p) {
    const double R = half.x, h = half.z, L = std::hypot(R, 2.0 * h), rho = std::hypot(p.x, p.y);
    const double along = (-R * (rho - R) + 2.0 * h * (p.z + h)) / L, over = (2.0 * h * (rho - R) + R * (p.z + h)) / L;
    const double below = -h - p.z;
    const InHalfPlane side{over, 2.0 * h / L, R / L, edge_feature(2)}, base{below, 0.0, -1.0, face_feature(0)};
    if (over <= 0.0 && below <= 0.0) return revolved(over > below ? side : base, p, rho);
    if (below > 0.0 && rho <= R) return revolved(base, p, rho);
    if (along >= L) return revolved(from_corner(rho, p.z - h, vertex_feature(4), side), p, rho);
    if (along <= 0.0) return revolved(from_corner(rho - R, p.z + h, edge_feature(0), side), p, rho);
    return revolved(side, p, rho);
}

// D. Eberly, Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid (2013): the nearest point is
// xᵢ = aᵢ² yᵢ / (t + aᵢ²) at the largest root of g(t) = Σ (aᵢ yᵢ / (t + aᵢ²))² − 1, which falls and is convex right of
// −a_min²; Newton's method from a point where g ≥ 0 climbs to it. s = t + a_min² keeps its digits near the centre.
PointDistance from_ellipsoid(const Vec3& half, const Vec3& p) {
    const double scale = std::max({half.x, half.y, half.z});
    const double least = std::min({half.x, half.y, half.z}) / scale;
    double a[3], y[3], x[3], above[3], s = 0.0;
    for (int i = 0; i < 3; ++i) {
        a[i] = component(half, i) / scale, y[i] = std::abs(component(p, i)) / scale;
        if (y[i] < 1e-14) y[i] = 0.0;                // on a plane of symmetry
        above[i] = (a[i] - least) * (a[i] + least);  // t + aᵢ² = s + above
        s = std::max(s, a[i] * y[i] - above[i]);
    }
    for (int step = 0; step < 100; ++step) {
        double g = -1.0, slope = 0.0;
        for (int i = 0; i < 3; ++i) {
            if (y[i] == 0.0) continue;
            const double q = 1.0 / (s + above[i]), r = a[i] * y[i] * q;
            g += r * r, slope -= 2.0 * r * r * q;
        }
        if (!(slope < 0.0)) break;
        const double next = s - g / slope;
        if (!(next > s)) break;
        s = next;
    }
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double q = s + above[i];
        x[i] = q > 0.0 ? a[i] * a[i] * y[i] / q : 0.0;
        sum += x[i] * x[i] / (a[i] * a[i]);
    }
    // On the plane across the shortest axis, near the centre, the root is the pole: that coordinate fills up.
    for (int i = 0; i < 3 && sum < 1.0; ++i)
        if (!(s + above[i] > 0.0)) x[i] = a[i] * std::sqrt(1.0 - sum), sum = 1.0;
    double n[3], length = 0.0, away = 0.0;
    for (int i = 0; i < 3; ++i) n[i] = x[i] / (a[i] * a[i]), length += n[i] * n[i];
    length = std::sqrt(length);
    for (int i = 0; i < 3; ++i) {
        n[i] = std::copysign(n[i] / length, component(p, i));
        away += n[i] * (component(p, i) / scale - std::copysign(x[i], component(p, i)));
    }
    return {scale * away, {n[0], n[1], n[2]}, vertex_feature(0)};
}

}  // namespace

PointDistance point_distance(const Shape& shape, const Vec3& p) {
    switch (shape.kind) {
        case ShapeKind::sphere: {
            const double length = norm(p);
            return {length - shape.radius, unit(p, {0.0, 0.0, 1.0}), vertex_feature(0)};
        }
        case ShapeKind::capsule:
            return from_segment(shape.half.z, shape.radius, p);
        case ShapeKind::cylinder:
            return from_cylinder(shape.half, p);
        case ShapeKind::cone:
            return from_cone(shape.half, p);
        case ShapeKind::ellipsoid:
            return from_ellipsoid(shape.half, p);
        case ShapeKind::box:
            return from_box(shape.half, p);
        default:
            return {p.z, {0.0, 0.0, 1.0}, face_feature(0)};
    }
}

}  // namespace bellcrank
