#include "geometry/rays.hpp"

#include <cmath>

#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/point_distance.hpp"

namespace bellcrank {

namespace {

// A ray in the axes of a shape, and the first entry so far.
struct Ray {
    Vec3 o, d;
    RayHit& hit;

    // Takes an entry that is nearer.
    void enter(double t, const Vec3& normal, Feature feature) const {
        if (t >= 0.0 && t < hit.distance) hit = {t, normal, feature};
    }
    Vec3 at(double t) const { return o + t * d; }
};

// The smaller root of a t² + 2 b t + c, without cancellation; a ≥ 0.
bool first_root(double a, double b, double c, double& t) {
    const double square = b * b - a * c;
    if (!(square >= 0.0) || b >= 0.0) return false;
    t = c / (-b + std::sqrt(square));
    return true;
}

void ray_ball(const Ray& ray, const Vec3& centre, double radius, Feature feature) {
    // Relative to the point nearest to the centre: far rays keep their digits.
    const Vec3 m = ray.o - centre;
    const double b = dot(m, ray.d);
    const Vec3 nearest = m - b * ray.d;
    const double square = radius * radius - dot(nearest, nearest);
    if (!(square >= 0.0)) return;
    const double t = -b - std::sqrt(square);
    ray.enter(t, (1.0 / radius) * (m + t * ray.d), feature);
}

void ray_tube(const Ray& ray, double radius, double half_length, Feature feature) {
    const double a = ray.d.x * ray.d.x + ray.d.y * ray.d.y, b = ray.o.x * ray.d.x + ray.o.y * ray.d.y;
    double t;
    if (!first_root(a, b, ray.o.x * ray.o.x + ray.o.y * ray.o.y - radius * radius, t)) return;
    const Vec3 p = ray.at(t);
    if (std::abs(p.z) <= half_length) ray.enter(t, {p.x / radius, p.y / radius, 0.0}, feature);
}

void ray_cap(const Ray& ray, double z, double radius, double side) {
    if (!(side * ray.d.z < 0.0)) return;
    const double t = (z - ray.o.z) / ray.d.z;
    const Vec3 p = ray.at(t);
    if (p.x * p.x + p.y * p.y <= radius * radius) ray.enter(t, {0.0, 0.0, side}, face_feature(side > 0.0));
}

// The side: ρ = k (h − z) with k = R/2h, below the apex.
void ray_cone(const Ray& ray, double R, double h) {
    const double k = R / (2.0 * h), below = h - ray.o.z;
    const double a = ray.d.x * ray.d.x + ray.d.y * ray.d.y - k * k * ray.d.z * ray.d.z;
    const double b = ray.o.x * ray.d.x + ray.o.y * ray.d.y + k * k * below * ray.d.z;
    const double c = ray.o.x * ray.o.x + ray.o.y * ray.o.y - k * k * below * below;
    const double square = b * b - a * c;
    if (square >= 0.0) {
        const double q = -(b + std::copysign(std::sqrt(square), b));
        for (double t : {q / a, c / q}) {
            const Vec3 p = ray.at(t);
            const Vec3 n = unit({p.x, p.y, k * k * (h - p.z)}, {0.0, 0.0, 1.0});
            if (std::abs(p.z) <= h && dot(n, ray.d) < 0.0) ray.enter(t, n, edge_feature(2));
        }
    }
    ray_cap(ray, -h, R, -1.0);
}

void ray_ellipsoid(const Ray& ray, const Vec3& half) {
    const Vec3 o{ray.o.x / half.x, ray.o.y / half.y, ray.o.z / half.z};
    const Vec3 d{ray.d.x / half.x, ray.d.y / half.y, ray.d.z / half.z};
    const double a = dot(d, d), b = dot(o, d);
    const Vec3 nearest = o - (b / a) * d;
    const double square = (1.0 - dot(nearest, nearest)) / a;
    if (!(square >= 0.0)) return;
    const double t = -b / a - std::sqrt(square);
    const Vec3 p = o + t * d;
    ray.enter(t, unit({p.x / half.x, p.y / half.y, p.z / half.z}, {0.0, 0.0, 1.0}), vertex_feature(0));
}

// Half spaces n · x ≤ offset: the last entry before the first exit (M. Cyrus, J. Beck 1978).
class Slabs {
  public:
    explicit Slabs(const Ray& ray) : ray_(ray) {}
    void cut(const Vec3& n, double offset, Feature feature) {
        const double speed = dot(n, ray_.d), height = dot(n, ray_.o) - offset;
        if (speed < 0.0) {
            if (-height / speed > enter_) enter_ = -height / speed, normal_ = n, feature_ = feature;
        } else if (speed > 0.0) {
            leave_ = std::min(leave_, -height / speed);
        } else if (height > 0.0) {
            leave_ = -Bounds::kInfinity;
        }
    }
    void finish() const {
        if (enter_ <= leave_) ray_.enter(enter_, normal_, feature_);
    }

  private:
    const Ray& ray_;
    double enter_ = -Bounds::kInfinity, leave_ = Bounds::kInfinity;
    Vec3 normal_{0.0, 0.0, 0.0};
    Feature feature_ = 0;
};

void ray_box(const Ray& ray, const Vec3& half) {
    Slabs slabs(ray);
    for (int i = 0; i < 6; ++i) {
        Vec3 n{0.0, 0.0, 0.0};
        component(n, i / 2) = i % 2 ? 1.0 : -1.0;
        slabs.cut(n, component(half, i / 2), face_feature(i));
    }
    slabs.finish();
}

void ray_hull(const Ray& ray, const Hull& hull) {
    Slabs slabs(ray);
    for (std::size_t f = 0; f < hull.faces.size(); ++f)
        slabs.cut(hull.faces[f].normal, hull.faces[f].offset, face_feature(static_cast<std::uint32_t>(f)));
    slabs.finish();
}

bool begins_inside(const Shape& shape, const Vec3& o) {
    if (shape.kind != ShapeKind::hull) return point_distance(shape, o).distance < 0.0;
    for (const Hull::Face& face : static_cast<const Hull&>(shape).faces)
        if (dot(face.normal, o) >= face.offset) return false;
    return true;
}

void enter_shape(const Shape& shape, const Ray& ray) {
    const Vec3& h = shape.half;
    switch (shape.kind) {
        case ShapeKind::sphere:
            return ray_ball(ray, {0.0, 0.0, 0.0}, shape.radius, vertex_feature(0));
        case ShapeKind::capsule:
            ray_tube(ray, shape.radius, h.z, edge_feature(0));
            ray_ball(ray, {0.0, 0.0, h.z}, shape.radius, vertex_feature(1));
            return ray_ball(ray, {0.0, 0.0, -h.z}, shape.radius, vertex_feature(0));
        case ShapeKind::cylinder:
            ray_tube(ray, h.x, h.z, edge_feature(2));
            ray_cap(ray, h.z, h.x, 1.0);
            return ray_cap(ray, -h.z, h.x, -1.0);
        case ShapeKind::cone:
            return ray_cone(ray, h.x, h.z);
        case ShapeKind::ellipsoid:
            return ray_ellipsoid(ray, h);
        case ShapeKind::box:
            return ray_box(ray, h);
        case ShapeKind::hull:
            return ray_hull(ray, static_cast<const Hull&>(shape));
        default:
            if (ray.d.z < 0.0) ray.enter(-ray.o.z / ray.d.z, {0.0, 0.0, 1.0}, face_feature(0));
    }
}

// Single rays and bundles share these three, so that they round alike.
[[gnu::noinline]] void see_from(const Pose& pose, const Vec3& origin, const Vec3& direction, LocalRay& ray) {
    ray.o = pose.local_point(origin);
    ray.d = pose.local_direction(direction);
}

[[gnu::noinline]] void turn_normal(const Pose& pose, RayHit& hit) { hit.normal = pose.direction(hit.normal); }

[[gnu::noinline]] bool cast_local(const Shape& shape, const LocalRay& ray, RayHit& hit) {
    hit = {ray.limit, {0.0, 0.0, 0.0}, 0};
    if (shape.kind == ShapeKind::mesh) return static_cast<const Mesh&>(shape).ray(ray, hit);
    if (shape.kind == ShapeKind::height_field) return static_cast<const HeightField&>(shape).ray(ray, hit);
    if (begins_inside(shape, ray.o)) {
        hit = {0.0, -ray.d, 0};
        return true;
    }
    enter_shape(shape, {ray.o, ray.d, hit});
    return hit.distance < ray.limit;
}

// What has no end has no bounds.
bool is_finite(const Bounds& b) { return std::isfinite(norm(b.hi - b.lo)); }

}  // namespace

bool cast_local_ray(const Shape& shape, const Vec3& origin, const Vec3& direction, double limit, RayHit& hit) {
    return cast_local(shape, {origin, direction, limit}, hit);
}

bool cast_ray(const Shape& shape, const Pose& pose, const Vec3& origin, const Vec3& direction, double limit,
              RayHit& hit) {
    LocalRay ray;
    see_from(pose, origin, direction, ray);
    ray.limit = limit;
    if (!cast_local(shape, ray, hit)) return false;
    turn_normal(pose, hit);
    return true;
}

}  // namespace bellcrank
