#include "geometry/shape.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/support.hpp"
#include "geometry/surface.hpp"

namespace bellcrank {

const char* name_of(ShapeKind kind) {
    static const char* const names[kShapeKinds] = {"sphere", "capsule", "cylinder", "cone",         "ellipsoid", "box",
                                                   "hull",   "plane",   "mesh",     "height field", "tyre"};
    return names[static_cast<int>(kind)];
}

namespace {

struct Given {
    const char* name;
    double value;
};

void check_positive(const char* shape, std::initializer_list<Given> numbers) {
    std::string faults;
    for (const Given& given : numbers)
        if (!(given.value >= kLeastSize && given.value <= kLargestSize)) {
            char text[80];
            std::snprintf(text, sizeof text, "%s = %g", given.name, given.value);
            faults += (faults.empty() ? "" : ", ") + std::string(text);
        }
    if (faults.empty()) return;
    char range[80];
    std::snprintf(range, sizeof range, "from %g to %g m", kLeastSize, kLargestSize);
    throw std::invalid_argument(std::string(shape) + ": sizes must be positive and finite, " + range + ", got " +
                                faults + "; give them in m");
}

std::shared_ptr<Shape> made(ShapeKind kind, double radius, const Vec3& half, const Vec3& size, double reach_out) {
    auto shape = std::make_shared<Shape>(kind);
    shape->radius = radius;
    shape->half = half;
    shape->bounds = {-size, size};
    shape->reach_out = reach_out;
    return shape;
}

}  // namespace

SharedShape make_sphere(double radius) {
    check_positive("sphere", {{"radius", radius}});
    return made(ShapeKind::sphere, radius, {0.0, 0.0, 0.0}, {radius, radius, radius}, radius);
}

SharedShape make_capsule(double radius, double half_length) {
    check_positive("capsule", {{"radius", radius}, {"half_length", half_length}});
    const double end = half_length + radius;
    return made(ShapeKind::capsule, radius, {0.0, 0.0, half_length}, {radius, radius, end}, end);
}

SharedShape make_cylinder(double radius, double half_length) {
    check_positive("cylinder", {{"radius", radius}, {"half_length", half_length}});
    const Vec3 half{radius, radius, half_length};
    return made(ShapeKind::cylinder, 0.0, half, half, std::hypot(radius, half_length));
}

SharedShape make_cone(double radius, double half_height) {
    check_positive("cone", {{"radius", radius}, {"half_height", half_height}});
    const Vec3 half{radius, radius, half_height};
    return made(ShapeKind::cone, 0.0, half, half, std::hypot(radius, half_height));
}

SharedShape make_ellipsoid(const Vec3& h) {
    check_positive("ellipsoid", {{"half_axes[0]", h.x}, {"half_axes[1]", h.y}, {"half_axes[2]", h.z}});
    return made(ShapeKind::ellipsoid, 0.0, h, h, std::max({h.x, h.y, h.z}));
}

SharedShape make_box(const Vec3& h) {
    check_positive("box", {{"half_sizes[0]", h.x}, {"half_sizes[1]", h.y}, {"half_sizes[2]", h.z}});
    return made(ShapeKind::box, 0.0, h, h, norm(h));
}

SharedShape make_plane() {
    const double inf = Bounds::kInfinity;
    auto plane = made(ShapeKind::plane, 0.0, {0.0, 0.0, 0.0}, {inf, inf, inf}, inf);
    plane->bounds.hi.z = 0.0;
    return plane;
}

double thickness(const Shape& shape) {
    if (shape.kind == ShapeKind::mesh) return static_cast<const Mesh&>(shape).mean_thickness;
    if (!is_convex(shape.kind) && shape.kind != ShapeKind::tyre) return Bounds::kInfinity;
    const Vec3 size = shape.bounds.hi - shape.bounds.lo;
    return std::min({size.x, size.y, size.z});
}

Bounds bounds_of(const Shape& shape, const Pose& pose) {
    Bounds out;
    if (is_convex(shape.kind)) {
        double lo[3], hi[3];
        for (int i = 0; i < 3; ++i) {
            const Vec3 axis = row(pose.R, i);  // world axis i in local axes
            lo[i] = dot(axis, support(shape, -axis)) - shape.radius;
            hi[i] = dot(axis, support(shape, axis)) + shape.radius;
        }
        return {pose.p + Vec3{lo[0], lo[1], lo[2]}, pose.p + Vec3{hi[0], hi[1], hi[2]}};
    }
    if (shape.kind == ShapeKind::tyre) {
        const double section = shape.half.z;
        for (int i = 0; i < 3; ++i) {
            const double along = row(pose.R, i).z, across = std::sqrt(std::max(0.0, 1.0 - along * along));
            const double size = (shape.half.x - section) * across + section;
            component(out.lo, i) = component(pose.p, i) - size;
            component(out.hi, i) = component(pose.p, i) + size;
        }
        return out;
    }
    if (shape.kind == ShapeKind::plane) {
        out = {{-Bounds::kInfinity, -Bounds::kInfinity, -Bounds::kInfinity},
               {Bounds::kInfinity, Bounds::kInfinity, Bounds::kInfinity}};
        const Vec3 n = pose.direction({0.0, 0.0, 1.0});  // bounded along a world axis that it is across
        for (int i = 0; i < 3; ++i) {
            if (component(n, i) == 1.0) component(out.hi, i) = component(pose.p, i);
            if (component(n, i) == -1.0) component(out.lo, i) = component(pose.p, i);
        }
        return out;
    }
    for (int corner = 0; corner < 8; ++corner)
        out.add(pose.point({corner & 1 ? shape.bounds.hi.x : shape.bounds.lo.x,
                            corner & 2 ? shape.bounds.hi.y : shape.bounds.lo.y,
                            corner & 4 ? shape.bounds.hi.z : shape.bounds.lo.z}));
    if (shape.kind == ShapeKind::height_field) {  // without a bottom
        const Vec3 down = pose.direction({0.0, 0.0, -1.0});
        for (int i = 0; i < 3; ++i) {
            if (component(down, i) < 0.0) component(out.lo, i) = -Bounds::kInfinity;
            if (component(down, i) > 0.0) component(out.hi, i) = Bounds::kInfinity;
        }
    }
    return out;
}

}  // namespace bellcrank
