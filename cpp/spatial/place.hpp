// A frame in another.
#pragma once

#include "spatial/algebra.hpp"

namespace bellcrank {

struct Place {
    Mat3 rotation{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    Vec3 shift{0, 0, 0};
};
inline Place operator*(const Place& a, const Place& b) {
    return {a.rotation * b.rotation, a.shift + a.rotation * b.shift};
}
inline Place inverse(const Place& a) { return {transpose(a.rotation), -transpose_times(a.rotation, a.shift)}; }

}  // namespace bellcrank
