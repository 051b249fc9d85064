// What is wrong with sizes, points and triangulated surfaces.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "geometry/bounds.hpp"

namespace bellcrank {

// Sizes beyond these, m, are mistakes: their squares and cubes lose digits or overflow.
inline constexpr double kLeastSize = 1e-12, kLargestSize = 1e9;

// Texts of faults, each ended by a semicolon; empty where there are none. Long lists are cut.
std::string point_faults(const std::vector<Vec3>& points);

// The same, triangles of vertices that do not exist or that are there twice, edges along which two triangles run in the
// same direction, and closed surfaces that face inwards. A solid must be closed as well, with two triangles at each
// edge, none of them without area, and enclose a volume. Vertices at the same place are one.
std::string surface_faults(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles,
                           bool solid);

// For each point the number of the first one, in their order by place, that is at the same place.
std::vector<int> joined_points(const std::vector<Vec3>& points, std::vector<Vec3>& distinct);

}  // namespace bellcrank
