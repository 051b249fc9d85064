// Directions in marker 1's xy-plane, as angles from its x axis towards its y axis:
//   azimuth       of origin 2:           atan2(r_y, r_x)            (gears, belts)
//   azimuth_axis  of marker 2's z axis:  atan2(Λ_yz, Λ_xz)          (bevel gears)
// Both are seen from marker 1: they change when marker 1 turns under a fixed line of centres.
// Where the projection on the plane vanishes there is no direction; value and derivatives are then 0.
#include "joints/formula.hpp"

namespace bellcrank {

namespace {

constexpr auto kAzimuth = [](auto&& pose, auto) { return angle(pose.position(1), pose.position(0)); };
constexpr auto kAzimuthOfAxis = [](auto&& pose, auto) { return angle(pose.cosine(1, 2), pose.cosine(0, 2)); };

const CoordinateRegistration azimuth(kind_of<kAzimuth>("azimuth", Angle::of_points));
const CoordinateRegistration azimuth_axis(kind_of<kAzimuthOfAxis>("azimuth_axis", Angle::of_points));

}  // namespace

}  // namespace bellcrank
