// Collision geometry of cpp/geometry, for tests and benchmarks: arrays of poses in, arrays of contact points out.
#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "geometry/collide.hpp"
#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/time_of_impact.hpp"
#include "geometry/tyre.hpp"
#include "geometry_tables.hpp"
#include "marshal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

constexpr int kPoint = 7;

struct ContactTable {
    PointNumbers first;  // of row i: points first[i] … first[i + 1]
    PoseTable points;    // position, normal, gap
    IndexTable features;
    PoseTable tilts;        // of tyres
    PoseTable uncertainty;  // rows × 1
};

ContactTable collide_all(const Shape& a, const PoseTable& poses_a, const Shape& b, const PoseTable& poses_b,
                         double reach) {
    const Eigen::Index rows = common_rows(poses_a, poses_b);
    std::vector<ContactPoint> all;
    ContactTable out{PointNumbers::Zero(rows + 1), {}, {}, {}, PoseTable(rows, 1)};
    ContactManifold manifold;
    for (Eigen::Index i = 0; i < rows; ++i) {
        collide(a, pose_of(poses_a, i), b, pose_of(poses_b, i), reach, manifold);
        all.insert(all.end(), manifold.points.begin(), manifold.points.end());
        out.uncertainty(i, 0) = manifold.uncertainty;
        out.first[i + 1] = static_cast<std::int64_t>(all.size());
    }
    out.points.resize(static_cast<Eigen::Index>(all.size()), kPoint);
    out.features.resize(static_cast<Eigen::Index>(all.size()), 2);
    out.tilts.resize(static_cast<Eigen::Index>(all.size()), 3);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const ContactPoint& p = all[i];
        const auto row = static_cast<Eigen::Index>(i);
        out.points.row(row) << p.position.x, p.position.y, p.position.z, p.normal.x, p.normal.y, p.normal.z, p.gap;
        out.tilts.row(row) << p.tilt.x, p.tilt.y, p.tilt.z;
        out.features.row(row) << static_cast<std::int64_t>(p.feature >> 32),
            static_cast<std::int64_t>(p.feature & 0xffffffffu);
    }
    return out;
}

// Seconds of one pair and the mean number of points.
std::tuple<double, double> time_collide(const Shape& a, const PoseTable& poses_a, const Shape& b,
                                        const PoseTable& poses_b, double reach, int repeats) {
    const Eigen::Index rows = common_rows(poses_a, poses_b);
    const std::vector<Pose> of_a = poses_of(poses_a, rows), of_b = poses_of(poses_b, rows);
    ContactManifold manifold;
    std::size_t points = 0;
    const double start = processor_seconds();
    for (int r = 0; r < repeats; ++r)
        for (Eigen::Index i = 0; i < rows; ++i) {
            collide(a, of_a[i], b, of_b[i], reach, manifold);
            points += manifold.points.size();
        }
    const double calls = static_cast<double>(rows) * repeats;
    return {(processor_seconds() - start) / calls, static_cast<double>(points) / calls};
}

// As bindings hold shapes: nothing in them can be written.
template <class... Numbers>
auto shape_by(SharedShape (*make)(Numbers...)) {
    return [make](std::decay_t<Numbers>... numbers) { return std::const_pointer_cast<Shape>(make(numbers...)); };
}

void bind_shapes(nb::module_& m) {
    nb::class_<Shape>(m, "CollisionShape", "A shape that takes part in contact; immutable, in axes of its own.")
        .def_prop_ro(
            "kind", [](const Shape& self) { return std::string(name_of(self.kind)); }, "The name of its kind.")
        .def_static("sphere", shape_by(make_sphere), "radius"_a, "About the origin.")
        .def_static("capsule", shape_by(make_capsule), "radius"_a, "half_length"_a,
                    "About the segment |z| <= half_length.")
        .def_static("cylinder", shape_by(make_cylinder), "radius"_a, "half_length"_a, "About z, |z| <= half_length.")
        .def_static("cone", shape_by(make_cone), "radius"_a, "half_height"_a,
                    "About z, the apex at +half_height, the base at -half_height.")
        .def_static(
            "ellipsoid",
            [](const Triple& half_axes) { return std::const_pointer_cast<Shape>(make_ellipsoid(to_vec3(half_axes))); },
            "half_axes"_a, "About the origin.")
        .def_static(
            "box",
            [](const Triple& half_sizes) { return std::const_pointer_cast<Shape>(make_box(to_vec3(half_sizes))); },
            "half_sizes"_a, "About the origin.")
        .def_static(
            "hull",
            [](const PoseTable& vertices, const std::vector<std::array<int, 3>>& triangles) {
                return std::const_pointer_cast<Shape>(make_hull(points_from(vertices, "vertices"), triangles));
            },
            "vertices"_a, "triangles"_a, "From the triangles of a convex hull routine; coplanar ones become one face.")
        .def_static(
            "mesh",
            [](const PoseTable& vertices, const std::vector<std::array<int, 3>>& triangles, bool solid) {
                return std::const_pointer_cast<Shape>(make_mesh(points_from(vertices, "vertices"), triangles, solid));
            },
            "vertices"_a, "triangles"_a, "solid"_a = false,
            "The boundary of a solid, triangles counterclockwise from outside; open unless it is to be `solid`.")
        .def_static(
            "height_field",
            [](const PoseTable& heights, const std::array<double, 2>& origin, const std::array<double, 2>& steps) {
                return std::const_pointer_cast<Shape>(make_height_field(
                    static_cast<int>(heights.cols()), static_cast<int>(heights.rows()), origin[0], origin[1], steps[0],
                    steps[1], std::vector<double>(heights.data(), heights.data() + heights.size())));
            },
            "heights"_a, "origin"_a, "steps"_a, "The solid below heights (rows, columns) at y, x from the origin on.")
        .def_static("tyre", shape_by(make_tyre), "radius"_a, "width"_a, "height"_a, "slices"_a, "rim"_a,
                    "A tyre of round section about z, in slices; the depth at which its rim strikes.")
        .def_static("plane", shape_by(make_plane), "The solid z <= 0.")
        .def(
            "bounds",
            [](const Shape& self, const PoseTable& pose) {
                check_columns(pose, 7, "poses");
                PoseTable out(pose.rows(), 6);
                for (Eigen::Index i = 0; i < pose.rows(); ++i) {
                    const Bounds b = bounds_of(self, pose_of(pose, i));
                    out.row(i) << b.lo.x, b.lo.y, b.lo.z, b.hi.x, b.hi.y, b.hi.z;
                }
                return out;
            },
            "poses"_a, "Bounds (n, 6) in world axes, lower and upper corner, at poses (n, 7).");
}

ShapeMotion motion_of(const PoseTable& pose, const Triple& velocity, const Triple& angular_velocity) {
    check_columns(pose, 7, "poses");
    return {pose_of(pose, 0), to_vec3(velocity), to_vec3(angular_velocity)};
}

// Time, position, normal and gap; nothing where the shapes do not meet.
std::optional<Eigen::VectorXd> impact_of(const Shape& a, const ShapeMotion& of_a, const Shape& b,
                                         const ShapeMotion& of_b, double duration, double tolerance) {
    ContactManifold scratch;
    Impact impact;
    if (!time_of_impact(a, of_a, b, of_b, duration, tolerance, scratch, impact)) return std::nullopt;
    const ContactPoint& p = impact.point;
    Eigen::VectorXd out(8);
    out << impact.time, p.position.x, p.position.y, p.position.z, p.normal.x, p.normal.y, p.normal.z, p.gap;
    return out;
}

}  // namespace

void bind_geometry(nb::module_& m) {
    bind_shapes(m);
    nb::class_<ContactTable>(m, "ContactTable", "Contact points of a pair of shapes at many poses.")
        .def_ro("first", &ContactTable::first, "Points first[i] to first[i + 1] belong to pose i.")
        .def_ro("points", &ContactTable::points, "(n, 7): position, normal from b to a, gap.")
        .def_ro("features", &ContactTable::features, "(n, 2): numbers of the parts of a and b that touch.")
        .def_ro("tilts", &ContactTable::tilts,
                "(n, 3): of tyres, what the normal is to be added to for the gradient of the gap.")
        .def_ro("uncertainty", &ContactTable::uncertainty,
                "(poses, 1): by which depths may be off; zero but for failures.");
    m.def("collide", &collide_all, "a"_a, "poses_a"_a, "b"_a, "poses_b"_a, "reach"_a,
          "Contact points with a gap below `reach`; poses (n, 7) are positions and unit quaternions.");
    m.def("time_collide", &time_collide, "a"_a, "poses_a"_a, "b"_a, "poses_b"_a, "reach"_a, "repeats"_a,
          "Seconds of one pair and its mean number of points.");
    m.def(
        "time_of_impact",
        [](const Shape& a, const PoseTable& pose_a, const Triple& velocity_a, const Triple& angular_velocity_a,
           const Shape& b, const PoseTable& pose_b, const Triple& velocity_b, const Triple& angular_velocity_b,
           double duration, double tolerance) {
            return impact_of(a, motion_of(pose_a, velocity_a, angular_velocity_a), b,
                             motion_of(pose_b, velocity_b, angular_velocity_b), duration, tolerance);
        },
        "a"_a, "pose_a"_a, "velocity_a"_a, "angular_velocity_a"_a, "b"_a, "pose_b"_a, "velocity_b"_a,
        "angular_velocity_b"_a, "duration"_a, "tolerance"_a,
        "Time, position, normal and gap (8,) where the gap first is at most `tolerance`; None without contact.");
}

}  // namespace bellcrank
