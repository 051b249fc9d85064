// The lane type of the hot kernels: several doubles side by side in one vector register.
// BELLCRANK_LANES is set per build variant: 4 with AVX2, 1 where vectors of four would only be emulated. What is
// compiled once for all variants has none, and includes no header that shows lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spatial/algebra.hpp"

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

inline Lane inverse_root(const Lane& v) { return 1.0 / _mm256_sqrt_pd(v); }

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

// Four consecutive doubles: half a record of eight (spatial/body_state.hpp), three components and a 0.
struct Quad {
    Lane value;

    static Quad load(const double* p) { return {load_lane(p)}; }
    void store(double* p) const { store_lane(p, value); }
    void add_scaled(double s, const Quad& q) { value += s * q.value; }
    void add_product(const Quad& a, const Quad& b) { value += a.value * b.value; }
    double sum() const { return (value[0] + value[2]) + (value[1] + value[3]); }
};

#else

using Lane = double;

inline Lane broadcast(double s) { return s; }
inline double lane_get(const Lane& v, int) { return v; }
inline void lane_set(Lane& v, int, double s) { v = s; }
inline Lane load_lane(const double* p) { return *p; }
inline void store_lane(double* p, const Lane& v) { *p = v; }
inline Lane inverse_root(const Lane& v) { return 1.0 / std::sqrt(v); }
inline Lane shifted(const Lane&, const Lane& before) { return before; }
inline void gather4(const double* const place[1], Lane out[4]) { std::memcpy(out, place[0], 4 * sizeof(double)); }
inline void scatter4(const Lane in[4], double* const place[1]) { std::memcpy(place[0], in, 4 * sizeof(double)); }

// Four consecutive doubles: half a record of eight (spatial/body_state.hpp), three components and a 0.
struct Quad {
    double value[4];

    static Quad load(const double* p) { return {{p[0], p[1], p[2], p[3]}}; }
    void store(double* p) const {
        for (int k = 0; k < 4; ++k) p[k] = value[k];
    }
    void add_scaled(double s, const Quad& q) {
        for (int k = 0; k < 4; ++k) value[k] += s * q.value[k];
    }
    void add_product(const Quad& a, const Quad& b) {
        for (int k = 0; k < 4; ++k) value[k] += a.value[k] * b.value[k];
    }
    double sum() const { return (value[0] + value[2]) + (value[1] + value[3]); }
};

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

// A few consecutive doubles: as many vectors as they fill, the rest one by one.
template <int N>
struct Strip {
    static constexpr int kWhole = N / kLanes, kRest = N % kLanes;
    Lane whole[kWhole > 0 ? kWhole : 1];
    double rest[kRest > 0 ? kRest : 1];

    static Strip load(const double* p) {
        Strip s;
        for (int i = 0; i < kWhole; ++i) s.whole[i] = load_lane(p + kLanes * i);
        for (int i = 0; i < kRest; ++i) s.rest[i] = p[kLanes * kWhole + i];
        return s;
    }
    void store(double* p) const {
        for (int i = 0; i < kWhole; ++i) store_lane(p + kLanes * i, whole[i]);
        for (int i = 0; i < kRest; ++i) p[kLanes * kWhole + i] = rest[i];
    }
    static Strip scaled(double f, const Strip& b) {
        Strip s;
        for (int i = 0; i < kWhole; ++i) s.whole[i] = f * b.whole[i];
        for (int i = 0; i < kRest; ++i) s.rest[i] = f * b.rest[i];
        return s;
    }
    void add_scaled(double f, const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] += f * b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] += f * b.rest[i];
    }
    void subtract_scaled(double f, const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] -= f * b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] -= f * b.rest[i];
    }
    void subtract(const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] -= b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] -= b.rest[i];
    }
};

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
