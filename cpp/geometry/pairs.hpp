// The methods that collide() chooses from: one for each pair of kinds, the lower kind first.
#pragma once

#include "geometry/manifold.hpp"
#include "geometry/shape.hpp"

namespace bellcrank {

using PairMethod = void (*)(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                            ContactManifold& out);

void sphere_sphere(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void sphere_convex(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void capsule_capsule(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void box_box(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void convex_convex(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void sphere_surface(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void convex_surface(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void surface_surface(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void plane_mesh(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);
void convex_plane(const Shape&, const Pose&, const Shape&, const Pose&, double, ContactManifold&);

}  // namespace bellcrank
