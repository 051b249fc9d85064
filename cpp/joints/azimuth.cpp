// Directions in marker 1's xy-plane, as angles from its x axis towards its y axis:
//   azimuth       of origin 2:           atan2(r_y, r_x)            (gears, belts)
//   azimuth_axis  of marker 2's z axis:  atan2(Λ_yz, Λ_xz)          (bevel gears)
// Both are seen from marker 1: they change when marker 1 turns under a fixed line of centres.
// Where the projection on the plane vanishes there is no direction; value and derivatives are then 0.
#include "joints/formula.hpp"
#include "joints/pole.hpp"

namespace bellcrank {

namespace {

constexpr auto kX = [](auto&& pose) { return pose.position(0); };
constexpr auto kY = [](auto&& pose) { return pose.position(1); };
constexpr auto kAxisX = [](auto&& pose) { return pose.cosine(0, 2); };
constexpr auto kAxisY = [](auto&& pose) { return pose.cosine(1, 2); };
constexpr auto kAzimuth = [](auto&& pose, auto) { return angle(kY(pose), kX(pose)); };
constexpr auto kAzimuthOfAxis = [](auto&& pose, auto) { return angle(kAxisY(pose), kAxisX(pose)); };

const CoordinateRegistration azimuth(kind_of<kAzimuth>("azimuth", Angle::of_points));
const CoordinateRegistration azimuth_axis(kind_of<kAzimuthOfAxis>("azimuth_axis", Angle::of_points));
const DirectionRegistration azimuth_direction("azimuth", {direction_along<kY, kX>, AtPole::turns_over, ~0, true});
const DirectionRegistration azimuth_axis_direction("azimuth_axis",
                                                   {direction_along<kAxisY, kAxisX>, AtPole::turns_over});

}  // namespace

}  // namespace bellcrank
