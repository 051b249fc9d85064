// Rays and the broad phase of cpp/geometry, for tests and benchmarks.
#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "geometry/broad_phase.hpp"
#include "geometry/rays.hpp"
#include "geometry_tables.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// Distance, normal and feature of each ray (origin, unit direction); distance infinite where nothing is hit.
PoseTable cast_one_by_one(const Shape& shape, const PoseTable& pose, const PoseTable& rays, double limit) {
    check_columns(pose, 7, "poses");
    check_columns(rays, 6, "rays");
    PoseTable out(rays.rows(), 5);
    for (Eigen::Index i = 0; i < rays.rows(); ++i) {
        const double* r = rays.data() + 6 * i;
        RayHit hit;
        if (!cast_ray(shape, pose_of(pose, i), {r[0], r[1], r[2]}, {r[3], r[4], r[5]}, limit, hit))
            hit = {Bounds::kInfinity, {0.0, 0.0, 0.0}, 0};
        out.row(i) << hit.distance, hit.normal.x, hit.normal.y, hit.normal.z, hit.feature;
    }
    return out;
}

std::tuple<double, double> time_rays(const Shape& shape, const PoseTable& pose, const PoseTable& rays, double limit,
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

std::vector<Bounds> bounds_from(const PoseTable& table) {
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

IndexTable broad_phase_pairs(const PoseTable& table) {
    BroadPhase phase;
    return table_of(phase.pairs(bounds_from(table)));
}

std::tuple<double, int> time_broad_phase(const PoseTable& table, int repeats) {
    const std::vector<Bounds> bounds = bounds_from(table);
    BroadPhase phase;
    std::size_t found = phase.pairs(bounds).size();
    const double start = processor_seconds();
    for (int k = 0; k < repeats; ++k) found = phase.pairs(bounds).size();
    return {(processor_seconds() - start) / repeats, static_cast<int>(found)};
}

}  // namespace

void bind_geometry_searches(nb::module_& m) {
    m.def("cast_rays", &cast_one_by_one, "shape"_a, "poses"_a, "rays"_a, "limit"_a,
          "Distance, normal and feature (n, 5) of rays (n, 6), origins and unit directions; infinite without a hit.");
    m.def("time_rays", &time_rays, "shape"_a, "pose"_a, "rays"_a, "limit"_a, "repeats"_a,
          "Seconds of one ray and the share of hits.");
    m.def("broad_phase_pairs", &broad_phase_pairs, "bounds"_a, "Overlapping pairs (n, 2) of bounds (n, 6).");
    m.def("time_broad_phase", &time_broad_phase, "bounds"_a, "repeats"_a, "Seconds of a call and the pairs it finds.");
}

}  // namespace bellcrank
