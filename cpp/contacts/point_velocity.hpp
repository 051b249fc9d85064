// Of the point of a body that is at a place, world axes. Never inlined: which products and sums the compiler fuses, and
// with it the last digit, would depend on what else a caller holds.
#pragma once

#include "spatial/body_state.hpp"

namespace bellcrank {

[[gnu::noinline]] inline Vec3 point_velocity(const double* poses, const double* twists, int body, const Vec3& place) {
    return velocity_at(poses, twists, body, place);
}

}  // namespace bellcrank
