// Collision geometry of cpp/geometry, for tests and benchmarks: arrays of poses in, arrays of contact points out; rays,
// times of impact and the broad phase.
#include <nanobind/stl/tuple.h>

#include <ctime>
#include <stdexcept>

#include "bindings.hpp"
#include "geometry/broad_phase.hpp"
#include "geometry/collide.hpp"
#include "geometry/height_field.hpp"
#include "geometry/hull.hpp"
#include "geometry/mesh.hpp"
#include "geometry/rays.hpp"
#include "geometry/time_of_impact.hpp"
#include "geometry/tyre.hpp"
#include "records.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using PointNumbers = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;
using IndexTable = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void check_columns(const Rows& table, int columns, const char* what) {
    if (table.cols() != columns)
        throw std::invalid_argument(std::string(what) + " must have " + std::to_string(columns) + " columns, got " +
                                    std::to_string(table.cols()));
}

// A row (x, y, z, w, x, y, z) of position and unit quaternion.
Pose pose_of(const Rows& poses, Eigen::Index row) {
    const double* p = poses.data() + 7 * (poses.rows() == 1 ? 0 : row);
    return {{p[0], p[1], p[2]}, rotation_matrix(Quat{p[3], p[4], p[5], p[6]})};
}

Eigen::Index common_rows(const Rows& a, const Rows& b) {
    check_columns(a, 7, "poses");
    check_columns(b, 7, "poses");
    if (a.rows() != b.rows() && a.rows() != 1 && b.rows() != 1)
        throw std::invalid_argument("poses of the two shapes must be as many, or one for all, got " +
                                    std::to_string(a.rows()) + " and " + std::to_string(b.rows()));
    return std::max(a.rows(), b.rows());
}

std::vector<Pose> poses_of(const Rows& table, Eigen::Index rows) {
    std::vector<Pose> out;
    for (Eigen::Index i = 0; i < rows; ++i) out.push_back(pose_of(table, i));
    return out;
}

std::vector<Vec3> points_from(const Rows& table, const char* what) {
    check_columns(table, 3, what);
    std::vector<Vec3> out;
    for (Eigen::Index i = 0; i < table.rows(); ++i) out.push_back({table(i, 0), table(i, 1), table(i, 2)});
    return out;
}

// Time of the processor, which other programs do not count in.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr int kPoint = 7;

struct ContactTable {
    PointNumbers first;
    Rows points;
    IndexTable features;
    Rows tilts, uncertainty;

    BELLCRANK_FIELDS(ContactTable, (first, "", "Points first[i] to first[i + 1] belong to pose i."),
                     (points, "", "(n, 7): position, normal from b to a, gap."),
                     (features, "", "(n, 2): numbers of the parts of a and b that touch."),
                     (tilts, "", "(n, 3): of tyres, what the normal is to be added to for the gradient of the gap."),
                     (uncertainty, "", "(poses, 1): by which depths may be off; zero but for failures."))
};

ContactTable collide_all(const Shape& a, const Rows& poses_a, const Shape& b, const Rows& poses_b, double reach) {
    const Eigen::Index rows = common_rows(poses_a, poses_b);
    std::vector<ContactPoint> all;
    ContactTable out{PointNumbers::Zero(rows + 1), {}, {}, {}, Rows(rows, 1)};
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
std::tuple<double, double> time_collide(const Shape& a, const Rows& poses_a, const Shape& b, const Rows& poses_b,
                                        double reach, int repeats) {
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
            [](const Vec3& half_axes) { return std::const_pointer_cast<Shape>(make_ellipsoid(half_axes)); },
            "half_axes"_a, "About the origin.")
        .def_static(
            "box", [](const Vec3& half_sizes) { return std::const_pointer_cast<Shape>(make_box(half_sizes)); },
            "half_sizes"_a, "About the origin.")
        .def_static(
            "hull",
            [](const Rows& vertices, const std::vector<std::array<int, 3>>& triangles) {
                return std::const_pointer_cast<Shape>(make_hull(points_from(vertices, "vertices"), triangles));
            },
            "vertices"_a, "triangles"_a, "From the triangles of a convex hull routine; coplanar ones become one face.")
        .def_static(
            "mesh",
            [](const Rows& vertices, const std::vector<std::array<int, 3>>& triangles, bool solid) {
                return std::const_pointer_cast<Shape>(make_mesh(points_from(vertices, "vertices"), triangles, solid));
            },
            "vertices"_a, "triangles"_a, "solid"_a = false,
            "The boundary of a solid, triangles counterclockwise from outside; open unless it is to be `solid`.")
        .def_static(
            "height_field",
            [](const Rows& heights, const std::array<double, 2>& origin, const std::array<double, 2>& steps) {
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
            [](const Shape& self, const Rows& pose) {
                check_columns(pose, 7, "poses");
                Rows out(pose.rows(), 6);
                for (Eigen::Index i = 0; i < pose.rows(); ++i) {
                    const Bounds b = bounds_of(self, pose_of(pose, i));
                    out.row(i) << b.lo.x, b.lo.y, b.lo.z, b.hi.x, b.hi.y, b.hi.z;
                }
                return out;
            },
            "poses"_a, "Bounds (n, 6) in world axes, lower and upper corner, at poses (n, 7).");
}

ShapeMotion motion_of(const Rows& pose, const Vec3& velocity, const Vec3& angular_velocity) {
    check_columns(pose, 7, "poses");
    return {pose_of(pose, 0), velocity, angular_velocity};
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

// Distance, normal and feature of each ray (origin, unit direction); distance infinite where nothing is hit.
Rows cast_one_by_one(const Shape& shape, const Rows& pose, const Rows& rays, double limit) {
    check_columns(pose, 7, "poses");
    check_columns(rays, 6, "rays");
    Rows out(rays.rows(), 5);
    for (Eigen::Index i = 0; i < rays.rows(); ++i) {
        const double* r = rays.data() + 6 * i;
        RayHit hit;
        if (!cast_ray(shape, pose_of(pose, i), {r[0], r[1], r[2]}, {r[3], r[4], r[5]}, limit, hit))
            hit = {Bounds::kInfinity, {0.0, 0.0, 0.0}, 0};
        out.row(i) << hit.distance, hit.normal.x, hit.normal.y, hit.normal.z, hit.feature;
    }
    return out;
}

std::tuple<double, double> time_rays(const Shape& shape, const Rows& pose, const Rows& rays, double limit,
                                     int repeats) {
    check_columns(pose, 7, "poses");
    check_columns(rays, 6, "rays");
    const Pose at = pose_of(pose, 0);
    RayHit hit;
    std::size_t hits = 0;
    const double start = processor_seconds();
    for (int k = 0; k < repeats; ++k)
        for (Eigen::Index i = 0; i < rays.rows(); ++i) {
            const double* r = rays.data() + 6 * i;
            hits += cast_ray(shape, at, {r[0], r[1], r[2]}, {r[3], r[4], r[5]}, limit, hit);
        }
    const double calls = static_cast<double>(rays.rows()) * repeats;
    return {(processor_seconds() - start) / calls, static_cast<double>(hits) / calls};
}

std::vector<Bounds> bounds_from(const Rows& table) {
    check_columns(table, 6, "bounds");
    std::vector<Bounds> out;
    for (Eigen::Index i = 0; i < table.rows(); ++i) {
        const double* b = table.data() + 6 * i;
        out.push_back({{b[0], b[1], b[2]}, {b[3], b[4], b[5]}});
    }
    return out;
}

IndexTable table_of(const BoundsPairs& pairs) {
    IndexTable out(static_cast<Eigen::Index>(pairs.size()), 2);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        out.row(static_cast<Eigen::Index>(i)) << pairs[i].first, pairs[i].second;
    return out;
}

IndexTable broad_phase_pairs(const Rows& table) {
    BroadPhase phase;
    return table_of(phase.pairs(bounds_from(table)));
}

std::tuple<double, int> time_broad_phase(const Rows& table, int repeats) {
    const std::vector<Bounds> bounds = bounds_from(table);
    BroadPhase phase;
    std::size_t found = phase.pairs(bounds).size();
    const double start = processor_seconds();
    for (int k = 0; k < repeats; ++k) found = phase.pairs(bounds).size();
    return {(processor_seconds() - start) / repeats, static_cast<int>(found)};
}

void bind_searches_of_shapes(nb::module_& m) {
    m.def("cast_rays", &cast_one_by_one, "shape"_a, "poses"_a, "rays"_a, "limit"_a,
          "Distance, normal and feature (n, 5) of rays (n, 6), origins and unit directions; infinite without a hit.");
    m.def("time_rays", &time_rays, "shape"_a, "pose"_a, "rays"_a, "limit"_a, "repeats"_a,
          "Seconds of one ray and the share of hits.");
    m.def("broad_phase_pairs", &broad_phase_pairs, "bounds"_a, "Overlapping pairs (n, 2) of bounds (n, 6).");
    m.def("time_broad_phase", &time_broad_phase, "bounds"_a, "repeats"_a, "Seconds of a call and the pairs it finds.");
}

}  // namespace

void bind_geometry(nb::module_& m) {
    bind_shapes(m);
    auto table = bind_record<ContactTable>(m, "ContactTable", "Contact points of a pair of shapes at many poses.");
    read_by_name(table);
    m.def("collide", &collide_all, "a"_a, "poses_a"_a, "b"_a, "poses_b"_a, "reach"_a,
          "Contact points with a gap below `reach`; poses (n, 7) are positions and unit quaternions.");
    m.def("time_collide", &time_collide, "a"_a, "poses_a"_a, "b"_a, "poses_b"_a, "reach"_a, "repeats"_a,
          "Seconds of one pair and its mean number of points.");
    m.def(
        "time_of_impact",
        [](const Shape& a, const Rows& pose_a, const Vec3& velocity_a, const Vec3& angular_velocity_a, const Shape& b,
           const Rows& pose_b, const Vec3& velocity_b, const Vec3& angular_velocity_b, double duration,
           double tolerance) {
            return impact_of(a, motion_of(pose_a, velocity_a, angular_velocity_a), b,
                             motion_of(pose_b, velocity_b, angular_velocity_b), duration, tolerance);
        },
        "a"_a, "pose_a"_a, "velocity_a"_a, "angular_velocity_a"_a, "b"_a, "pose_b"_a, "velocity_b"_a,
        "angular_velocity_b"_a, "duration"_a, "tolerance"_a,
        "Time, position, normal and gap (8,) where the gap first is at most `tolerance`; None without contact.");
    bind_searches_of_shapes(m);
}

}  // namespace bellcrank
