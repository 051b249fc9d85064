// The lane type of the hot kernels: several doubles side by side in one vector register.
// BELLCRANK_LANES is set per build variant: 4 with AVX2, 1 where vectors of four would only be emulated.
#pragma once

#include <cstring>

namespace bellcrank {

#ifndef BELLCRANK_LANES
#define BELLCRANK_LANES 1
#endif

inline constexpr int kLanes = BELLCRANK_LANES;

#if BELLCRANK_LANES == 4

using Lane = double __attribute__((vector_size(32)));

inline Lane broadcast(double s) { return Lane{s, s, s, s}; }
inline double lane_get(const Lane& v, int i) { return v[i]; }
inline void lane_set(Lane& v, int i, double s) { v[i] = s; }

inline Lane load_lane(const double* p) {
    Lane v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store_lane(double* p, const Lane& v) { std::memcpy(p, &v, sizeof v); }

// In-place transpose of the 4×4 matrix whose rows are a, b, c, d.
inline void transpose_lanes(Lane& a, Lane& b, Lane& c, Lane& d) {
    using Mask = long long __attribute__((vector_size(32)));
    const Lane ab_even = __builtin_shuffle(a, b, Mask{0, 4, 2, 6}), ab_odd = __builtin_shuffle(a, b, Mask{1, 5, 3, 7});
    const Lane cd_even = __builtin_shuffle(c, d, Mask{0, 4, 2, 6}), cd_odd = __builtin_shuffle(c, d, Mask{1, 5, 3, 7});
    a = __builtin_shuffle(ab_even, cd_even, Mask{0, 1, 4, 5});
    b = __builtin_shuffle(ab_odd, cd_odd, Mask{0, 1, 4, 5});
    c = __builtin_shuffle(ab_even, cd_even, Mask{2, 3, 6, 7});
    d = __builtin_shuffle(ab_odd, cd_odd, Mask{2, 3, 6, 7});
}

// Four consecutive doubles from each of four places; out[k] holds the k-th double of every place.
inline void gather4(const double* const place[4], Lane out[4]) {
    for (int l = 0; l < 4; ++l) out[l] = load_lane(place[l]);
    transpose_lanes(out[0], out[1], out[2], out[3]);
}
// The inverse of gather4.
inline void scatter4(const Lane in[4], double* const place[4]) {
    Lane v[4] = {in[0], in[1], in[2], in[3]};
    transpose_lanes(v[0], v[1], v[2], v[3]);
    for (int l = 0; l < 4; ++l) store_lane(place[l], v[l]);
}

#else

using Lane = double;

inline Lane broadcast(double s) { return s; }
inline double lane_get(const Lane& v, int) { return v; }
inline void lane_set(Lane& v, int, double s) { v = s; }
inline void gather4(const double* const place[1], Lane out[4]) { std::memcpy(out, place[0], 4 * sizeof(double)); }
inline void scatter4(const Lane in[4], double* const place[1]) { std::memcpy(place[0], in, 4 * sizeof(double)); }

#endif

}  // namespace bellcrank
