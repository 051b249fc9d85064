// Impulses at given points of a formulation's bodies.
#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "spatial/components.hpp"
#include "state_of.hpp"

namespace bellcrank {

// Throws for what is no body of a model, the ground included.
inline int checked_body(const Model& model, int body) {
    if (body < 0 || body > model.ground()) throw std::invalid_argument("there is no such body");
    return body;
}

inline Vec3 row_of(const Rows& rows, Eigen::Index i) { return {rows(i, 0), rows(i, 1), rows(i, 2)}; }

inline std::tuple<Rows, double> strike(SystemAt& self, const std::vector<int>& struck, const Rows& blows,
                                       const std::vector<std::pair<int, int>>& bodies, const Rows& points,
                                       double tolerance) {
    check_size(blows.cols(), 6, "position and impulse of a blow");
    check_size(points.cols(), 9, "position, normal, friction, restitution and its law of a point");
    check_size(blows.rows(), static_cast<int>(struck.size()), "blows");
    check_size(points.rows(), static_cast<int>(bodies.size()), "points");
    System& system = self.core();
    std::vector<Blow> given;
    for (Eigen::Index i = 0; i < blows.rows(); ++i)
        given.push_back({checked_body(system.model(), struck[i]), row_of(blows, i), row_of(blows.rightCols(3), i)});
    std::vector<StruckPoint> at;
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
        const int a = checked_body(system.model(), bodies[i].first), b = checked_body(system.model(), bodies[i].second);
        at.push_back({{a, b},
                      row_of(points, i),
                      row_of(points.middleCols(3, 3), i),
                      points(i, 6),
                      points(i, 7),
                      points(i, 8) != 0.0});
    }
    std::vector<Vec3> impulses;
    const ImpulseOutcome outcome =
        system.strike(self.time, self.x.data(), given, at, tolerance, self.u.data(), impulses);
    Rows out(points.rows(), 3);
    for (Eigen::Index i = 0; i < points.rows(); ++i) store(out.row(i).data(), impulses[i]);
    return {out, outcome.residual};
}

inline void bind_strike(nanobind::class_<SystemAt>& c) {
    using namespace nanobind::literals;
    c.def("strike", &strike, "struck"_a, "blows"_a, "bodies"_a, "points"_a, "tolerance"_a,
          "Goes to the velocities after blows (n, 6), positions and impulses, on bodies, and impulses at points "
          "(m, 9), positions, normals towards the first of two bodies, friction, restitution, whether it is Poisson's; "
          "world axes. Impulses "
          "(m, 3) on the first bodies, and the residual.");
}

}  // namespace bellcrank
