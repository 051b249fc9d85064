// Angles of a universal joint: universal_1 about marker 1's x axis, universal_2 about marker 2's y axis, with
//
//                               ⎡   c2      0     s2   ⎤
//   Λ = Rot(x, a1) Rot(y, a2) = ⎢  s1 s2   c1   −s1 c2 ⎥ ,   c1 = cos a1, …
//                               ⎣ −c1 s2   s1    c1 c2 ⎦
//
// on the constraint manifold Λ_xy = 0 (row dot_xy). Off it the same entries define the angles:
//   a1 = atan2(Λ_zy, Λ_yy),   a2 = atan2(Λ_xz, Λ_xx).
// Both are smooth wherever |Λ_xy| < 1, since Λ_yy² + Λ_zy² = Λ_xx² + Λ_xz² = 1 − Λ_xy². At |Λ_xy| = 1 (the joint's two
// axes in line, a quarter turn away from the manifold) they are undefined; value and derivatives are then 0.
#include "joints/formula.hpp"
#include "joints/pole.hpp"

namespace bellcrank {

namespace {

template <int i, int j>
constexpr auto kEntry = [](auto&& pose) { return pose.cosine(i, j); };
constexpr auto kFirst = [](auto&& pose, auto) { return angle(kEntry<2, 1>(pose), kEntry<1, 1>(pose)); };
constexpr auto kSecond = [](auto&& pose, auto) { return angle(kEntry<0, 2>(pose), kEntry<0, 0>(pose)); };

const CoordinateRegistration universal_1(kind_of<kFirst>("universal_1", Angle::of_bodies));
const CoordinateRegistration universal_2(kind_of<kSecond>("universal_2", Angle::of_bodies));
const DirectionRegistration first_direction("universal_1", {direction_along<kEntry<2, 1>, kEntry<1, 1>>, AtPole::ends});
const DirectionRegistration second_direction("universal_2",
                                             {direction_along<kEntry<0, 2>, kEntry<0, 0>>, AtPole::ends});

}  // namespace

}  // namespace bellcrank
