// Rotations of several bodies side by side.
#pragma once

#include <algorithm>

#include "spatial/lanes.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

inline double largest(const Lane& v) {
    double out = lane_get(v, 0);
    for (int l = 1; l < kLanes; ++l) out = std::max(out, lane_get(v, l));
    return out;
}

// exp of twice a rotation vector: (cos |h|, sinc |h| h) by as many terms of the series as rounding asks for. Of |h|
// beyond one they cancel.
inline QuatT<Lane> exp_of_half(const Vec3T<Lane>& half) {
    constexpr int kMostTerms = 40;
    constexpr double kLastTerm = 1e-16;
    const Lane square = dot(half, half);
    Lane cosine = broadcast(1.0), sinc = cosine, cosine_term = cosine, sinc_term = cosine;
    double bound = 1.0;
    const double top = largest(square);
    for (int k = 1; bound > kLastTerm && k < kMostTerms; ++k) {
        const double next = 1.0 / ((2 * k - 1) * (2 * k)), after = 1.0 / ((2 * k) * (2 * k + 1));
        bound *= next * top;
        cosine_term *= -next * square;
        sinc_term *= -after * square;
        cosine += cosine_term;
        sinc += sinc_term;
    }
    return {cosine, sinc * half.x, sinc * half.y, sinc * half.z};
}

}  // namespace bellcrank
