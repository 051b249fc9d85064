// The lane type of the hot kernels: several doubles side by side in one vector register.
// BELLCRANK_LANES is set per build variant: 4 with AVX2, 1 where vectors of four would only be emulated. What is
// compiled once for all variants has none, and includes no header that shows lanes.
#pragma once

#include <cstring>

#ifndef BELLCRANK_LANES
#error \
    "lanes differ between variants: compile this file for each of them, or include no header with lanes (cmake/variants.cmake)"
#endif
#if BELLCRANK_LANES == 4
#include <immintrin.h>
#endif

namespace bellcrank {

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

// v moved up by one lane, below it the last lane of `before`.
inline Lane shifted(const Lane& v, const Lane& before) {
    return _mm256_shuffle_pd(_mm256_permute2f128_pd(before, v, 0x21), v, 0b0101);
}

// Four consecutive doubles from each of four places; out[k] holds the k-th double of every place. Halves are loaded
// into place, which leaves half the shuffles of a transpose in registers.
inline void gather4(const double* const place[4], Lane out[4]) {
    const auto halves = [&](int l, int at) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(place[l] + at)),
                                    _mm_loadu_pd(place[l + 2] + at), 1);
    };
    for (int at = 0; at < 4; at += 2) {
        const __m256d even = halves(0, at), odd = halves(1, at);
        out[at] = _mm256_unpacklo_pd(even, odd);
        out[at + 1] = _mm256_unpackhi_pd(even, odd);
    }
}
// The inverse of gather4.
inline void scatter4(const Lane in[4], double* const place[4]) {
    for (int at = 0; at < 4; at += 2) {
        const __m256d even = _mm256_unpacklo_pd(in[at], in[at + 1]), odd = _mm256_unpackhi_pd(in[at], in[at + 1]);
        _mm_storeu_pd(place[0] + at, _mm256_castpd256_pd128(even));
        _mm_storeu_pd(place[1] + at, _mm256_castpd256_pd128(odd));
        _mm_storeu_pd(place[2] + at, _mm256_extractf128_pd(even, 1));
        _mm_storeu_pd(place[3] + at, _mm256_extractf128_pd(odd, 1));
    }
}

#else

using Lane = double;

inline Lane broadcast(double s) { return s; }
inline double lane_get(const Lane& v, int) { return v; }
inline void lane_set(Lane& v, int, double s) { v = s; }
inline Lane load_lane(const double* p) { return *p; }
inline void store_lane(double* p, const Lane& v) { *p = v; }
inline Lane shifted(const Lane&, const Lane& before) { return before; }
inline void gather4(const double* const place[1], Lane out[4]) { std::memcpy(out, place[0], 4 * sizeof(double)); }
inline void scatter4(const Lane in[4], double* const place[1]) { std::memcpy(place[0], in, 4 * sizeof(double)); }

#endif

// Largest |value(i, load)|, i = 0 … count − 1: value forms one number with a load of doubles, or as many as there are
// lanes with one of lanes.
template <class Value>
inline double largest_size(int count, const Value& value) {
    Lane several = broadcast(0.0);
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        const Lane v = value(i, load_lane), size = v < 0.0 ? -v : v;
        several = size > several ? size : several;
    }
    double largest = 0.0;
    for (int l = 0; l < kLanes; ++l) largest = lane_get(several, l) > largest ? lane_get(several, l) : largest;
    for (; i < count; ++i) {
        const double v = value(i, [](const double* p) { return *p; }), size = v < 0.0 ? -v : v;
        largest = size > largest ? size : largest;
    }
    return largest;
}

// Asks for the cache lines of `count` doubles that will be used soon. The processor sees streams coming only while they
// ascend within a page, and does not see those that are written or go by index.
inline void prefetch(const double* from, int count) {
    for (int k = 0; k < count; k += 8) __builtin_prefetch(from + k);
}

}  // namespace bellcrank
