// A frame in another: its rotation, in numbers, and where its origin is.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

// r_outer = rotation r_inner + shift; for shifts of other scalars there are products with rotations of numbers.
template <class V>
struct PlaceOf {
    Mat3 rotation{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    V shift{};
};
using Place = PlaceOf<Vec3>;

template <class V>
PlaceOf<V> operator*(const PlaceOf<V>& a, const PlaceOf<V>& b) {
    return {a.rotation * b.rotation, a.shift + a.rotation * b.shift};
}
template <class V>
PlaceOf<V> inverse(const PlaceOf<V>& a) {
    return {transpose(a.rotation), -transpose_times(a.rotation, a.shift)};
}

// A rotation whose z axis is the coordinate axis: (x, y, z) → (z, x, y), or twice.
inline Mat3 z_to_axis(int axis) {
    if (axis == 0) return {{0, 0, 1, 1, 0, 0, 0, 1, 0}};
    if (axis == 1) return {{0, 1, 0, 0, 0, 1, 1, 0, 0}};
    return Place{}.rotation;
}

}  // namespace bellcrank
