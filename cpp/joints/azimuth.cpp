// Directions in marker 1's xy-plane, as angles from its x axis towards its y axis:
//   azimuth       of origin 2:           atan2(r_y, r_x)            (gears, belts)
//   azimuth_axis  of marker 2's z axis:  atan2(Λ_yz, Λ_xz)          (bevel gears)
// Both are seen from marker 1: they change when marker 1 turns under a fixed line of centres.
// Where the projection on the plane vanishes there is no direction; value and derivatives are then 0.
#include "joints/jet.hpp"

namespace bellcrank {

namespace {

void azimuth(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    assign(out, angle(position_jet(m, 1), position_jet(m, 0)));
}

void azimuth_axis(const RelativeMotion& m, std::span<const double>, CoordinateValue& out) {
    const Mat3 rotation = rotation_matrix(m.q);
    assign(out, angle(matrix_jet(m, rotation, 1, 2), matrix_jet(m, rotation, 0, 2)));
}

const CoordinateRegistration of_origin("azimuth", azimuth, true);
const CoordinateRegistration of_axis("azimuth_axis", azimuth_axis, true);

}  // namespace

}  // namespace bellcrank
